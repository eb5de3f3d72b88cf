package docker

import "errors"

// podmanHeader is in every response of Podman's service, and in none of a Docker Engine.
const podmanHeader = "Libpod-Api-Version"

// localDomain is what Podman writes before the names of images that were made on its
// machine: "localhost/app:1". To a Docker Engine it is a registry like others.
const localDomain = "localhost"

// errMadeHere is the problem of a container whose image no registry serves.
var errMadeHere = errors.New("image made on this machine by Podman (localhost/…), so no registry has a newer one: leave the container out with the label dogwatch.watch=false, or tag the image with the name of a registry")

// statusOf returns an engine's status in the words of Docker: Podman calls a container
// "stopped" that has ended and is not tidied up yet.
func statusOf(state string) string {
	if state == "stopped" {
		return "exited"
	}
	return state
}
