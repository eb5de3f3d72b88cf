// Package docker watches the containers of a Docker Engine, or of anything that
// speaks its API, such as Podman.
//
// Without the option update it only ever reads (GET and HEAD), so it works behind a read-only socket proxy
// that allows containers, images, events and ping. One listing costs two requests:
// the containers and the images; what cannot change about an image is requested once.
//
// Protocol facts are from https://docs.docker.com/reference/api/engine/.
//
// An update goes through these files, in this order:
//
//	update.go                     Plan: what there is, by internal/replace, and what would be done
//	update_compose.go             the compose file of the container and its edit, by internal/compose
//	update_files.go               files that were written into the container
//	update_proxy.go, self.go      whether it is the way to the engine, or Dogwatch itself
//	update_apply.go               Apply: takes the steps of the plan, each after it is in the journal
//	update_exec.go                the hooks before and after
//	update_stop.go                stops the old container, and removes it at the end
//	update_policy.go              holds its restart policy back meanwhile
//	update_ports.go               compares the published ports
//	update_health.go              waits until the new one works; update_probe.go asks it
//	update_evidence.go            what a new one leaves that does not work
//	update_rollback.go            returns to the old one
//	update_recover.go             finds out after a kill how far it came
//	update_resume.go              goes on from there
//	update_compose_command.go     the same by docker compose up
//	update_self.go                the same of Dogwatch itself, by a helper; update_helper.go reads its log
//
// update_engine.go sends what changes something to the engine, and update_guard.go keeps compose files from being
// written where a container can write, too.
package docker
