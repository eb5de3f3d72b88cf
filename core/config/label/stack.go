package label

import (
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// The labels of Compose: https://github.com/docker/compose/blob/main/pkg/api/labels.go.
// The hash and the number are on containers only; project, service and version are on the
// images that it builds as well.
const (
	composePrefix    = "com.docker.compose."
	composeProject   = composePrefix + "project"
	composeService   = composePrefix + "service"
	composeVersion   = composePrefix + "version"
	composeDependsOn = composePrefix + "depends_on"
	composeHash      = composePrefix + "config-hash"
	composeNumber    = composePrefix + "container-number"
)

// stackLabels are those in which Compose, Swarm and podman-compose say to which stack a
// container belongs, in the order in which they count.
var stackLabels = [...]string{composeProject, "com.docker.stack.namespace", "io.podman.compose.project"}

// Stack is what Compose, Swarm or podman-compose says of a container.
type Stack struct {
	// Name is its Compose project or Swarm stack; "" when it is in none.
	Name string
	// Service is its Compose service, Needs are those that it depends on.
	Service string
	Needs   []string
}

// StackOf returns the stack of a container. An image says nothing of it: an image that
// Compose has built names its project and service, which count in the containers that
// Compose itself has created.
func StackOf(c sdk.Container) Stack { return Of(c).stack() }

func (s Set) stack() (found Stack) {
	for _, name := range stackLabels {
		if found.Name = s.compose(name); found.Name != "" {
			break
		}
	}
	found.Service = s.compose(composeService)
	// The label is "db:service_healthy:true,cache:service_started:false".
	for entry := range strings.SplitSeq(s.compose(composeDependsOn), ",") {
		if service, _, _ := strings.Cut(strings.TrimSpace(entry), ":"); service != "" {
			found.Needs = append(found.Needs, service)
		}
	}
	return found
}
