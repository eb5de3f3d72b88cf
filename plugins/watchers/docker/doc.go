// Package docker watches the containers of a Docker Engine, or of anything that
// speaks its API, such as Podman.
//
// Without the option update it only ever reads (GET and HEAD), so it works behind a read-only socket proxy
// that allows containers, images, events and ping. One listing costs two requests:
// the containers and the images; what cannot change about an image is requested once.
//
// A second type, swarm, watches the services of a Docker Swarm through the engine of one of its managers.
//
// The packages in internal do the rest:
//
//	engine   the client of the engine: requests, limits, and what errors mean
//	sshdial  connections to a socket of another machine, by ssh
//	events   follows the event stream of an engine
//	swarm    lists and updates the services of a swarm, with ../internal/orchestrated
//	self     in which container Dogwatch runs
//	update   takes the steps of an update, rolls back, recovers
//	replace  what an update would do, and what keeps it from that: a plan, made from facts
//	compose  compose files: where they are, and how they are edited
//	podman   makes containers by Podman's own API
//	quadlet  quadlets of Podman: how they are edited, and their units restarted
package docker
