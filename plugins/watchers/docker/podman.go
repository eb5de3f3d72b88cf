package docker

// localDomain is what Podman writes before the names of images that were made on its
// machine: "localhost/app:1". To a Docker Engine it is a registry like others.
const localDomain = "localhost"

// statusOf returns an engine's status in the words of Docker: Podman calls a container
// "stopped" that has ended and is not tidied up yet.
func statusOf(state string) string {
	if state == "stopped" {
		return "exited"
	}
	return state
}
