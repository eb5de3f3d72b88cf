package label

import (
	"slices"
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

// compose returns the value of a label about the stack; "" where only the image says it.
func (s Set) compose(name string) string {
	if v, own := s.Operator[name]; own {
		return v
	}
	if (name == composeProject || name == composeService) && s.isOfCompose() {
		return s.Image[name]
	}
	return ""
}

// isOfCompose reports whether Compose has created the container.
func (s Set) isOfCompose() bool {
	return s.Operator[composeHash] != "" || s.Operator[composeNumber] != ""
}

// outsiders returns the labels of an image about stacks that do not count.
func (s Set) outsiders() (ignored []Ignored) {
	for name, value := range s.Image {
		isBuilt := name == composeProject || name == composeService || name == composeVersion
		switch {
		case value == "", !strings.HasPrefix(name, composePrefix) && !slices.Contains(stackLabels[:], name):
		case isBuilt && s.isOfCompose():
		default:
			ignored = append(ignored, Ignored{Label: name, Why: onlyOperator})
		}
	}
	slices.SortFunc(ignored, func(a, b Ignored) int { return strings.Compare(a.Label, b.Label) })
	return ignored
}
