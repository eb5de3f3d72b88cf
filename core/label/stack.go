package label

// stackLabels are those in which Compose, Swarm and podman-compose say to which stack a
// container belongs, in the order in which they count.
var stackLabels = []string{"com.docker.compose.project", "com.docker.stack.namespace", "io.podman.compose.project"}

// Stack returns the Compose project or the Swarm stack that a container belongs to, by
// its labels; "" when it is in none.
func Stack(labels map[string]string) string {
	for _, name := range stackLabels {
		if stack := labels[name]; stack != "" {
			return stack
		}
	}
	return ""
}
