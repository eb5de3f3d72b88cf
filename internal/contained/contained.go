// Package contained knows what is different inside a container.
package contained

import (
	"os"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// marks are files that engines put into containers: Docker, and Podman.
var marks = []string{"/.dockerenv", "/run/.containerenv"}

// Here reports whether this process runs in a container, as far as engines and
// Kubernetes let it know.
func Here() bool {
	for _, name := range marks {
		if _, err := os.Stat(name); err == nil {
			return true
		}
	}
	return os.Getenv("KUBERNETES_SERVICE_HOST") != "" || os.Getenv("container") != ""
}

// loopback matches a loopback address with a port.
var loopback = lazyregexp.New(`(?:^|[^\w.-])(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+`)

// Explain says what a failed connection means inside a container when it went to
// the container's own loopback address; "" when it did not.
func Explain(failure string) string {
	// The second is how the docker watcher says it.
	if !strings.Contains(failure, "connection refused") && !strings.Contains(failure, "nothing listens there") {
		return ""
	}
	m := loopback().FindStringSubmatch(failure)
	if m == nil {
		return ""
	}
	return m[1] +
		" means Dogwatch's own container: use the other container's name, or host.docker.internal for the host (it may need extra_hosts: host.docker.internal:host-gateway)"
}
