// Package nomad watches the jobs of a Nomad cluster, one row for each task with an image of the drivers docker and
// podman. Where its option update allows it, it updates the image of a task.
//
// What comes in is the address of a server or agent and a token; what goes out are containers with the settings that
// the meta of their task, group and job has. While the host follows its events, a list costs no request.
//
// The packages beside it do the rest, and two that it shares with the other watchers of orchestrators:
//
//	internal/api              the client of Nomad: lists, jobs and their versions, its stream of events, what errors mean
//	nomadtest                 a server for tests that answers as Nomad is documented to
//	../internal/mirrored      keeps what runs in memory, and notifies the host of what changes of it
//	../internal/orchestrated  carries out updates of a cluster, and returns to the old image
package nomad
