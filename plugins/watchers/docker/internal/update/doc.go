// Package update replaces containers by newer ones, and returns to the old ones where those do not work. What
// comes in is an Updater's engine and a request or an operation; what goes out are plans, journaled steps and
// outcomes. Only the watcher that it belongs to imports it.
//
// An update goes through these files, in this order:
//
//	update.go          what an Updater is made of
//	plan.go            Plan: what there is, by package replace, and what would be done
//	compose.go         the compose file of the container and its edit, by package compose; guard.go keeps those
//	                   from being written where a container can write, too
//	files.go           files that were written into the container
//	proxy.go           whether it is the way to the engine
//	apply.go           Apply: carries out the plan; replacement.go is what it keeps meanwhile
//	take.go            takes a step after it is in the journal
//	hook.go            the hooks before and after
//	stop.go            stops the old container, and removes it at the end
//	restartpolicy.go   holds its restart policy back meanwhile; predecessors.go has lists show it as it was
//	ports.go           compares the published ports
//	health.go          waits until the new one works; probe.go requests its address
//	outcome.go         what is said at the end
//	evidence.go        what a new one leaves that does not work
//	rollback.go        returns to the old one, whose state restore.go restores
//	recover.go         finds out after a kill how far it came, and goes on or back
//	composecommand.go  the same by docker compose up
//	quadlet.go         the same by a systemd unit of Podman, whose quadlet package quadlet edits
//	selfupdate.go      the same of Dogwatch itself, by a helper; handover.go is what that gets and writes, helper.go
//	                   what it does
package update
