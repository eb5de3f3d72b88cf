package update

import (
	"context"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/hashicorp/go-hclog"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
)

const (
	// defaultLiveness is how long a new container has to stay up at least.
	defaultLiveness = 2 * time.Second
	// defaultStopMargin is how much longer a stop may take than the container's own timeout.
	defaultStopMargin = time.Minute
)

// Updater replaces containers of one engine. Its methods may be called concurrently; its fields are set before.
type Updater struct {
	engine *engine.Engine
	images Images
	log    hclog.Logger
	// predecessors are the old containers of operations under way.
	predecessors *Predecessors
	// Hooks says whether the commands of labels are run.
	Hooks bool
	// Compose is the most that is done about compose files: ComposeRequest, ComposeEdit or ComposeCommand; nothing
	// for others. ComposeTrusted are the names of containers that may write them too.
	Compose        string
	ComposeTrusted []string
	// Quadlets are the folders of the quadlets that may be changed, and Bus is the address of the systemd that makes
	// containers of them.
	Quadlets []string
	Bus      string
	// Liveness is how long a new container has to stay up at least.
	Liveness time.Duration
	// StopMargin is how much longer than its own timeout a container may take to stop.
	StopMargin time.Duration
	// Whereabouts returns the ids of those of all containers that this process may run in: none if it runs in none
	// of them, and more than one if it is not sure.
	Whereabouts func(ctx context.Context, all []container.Summary) []string
	// HelperCommand is how this program serves as a helper, and HelperOptions with what options of the watcher of
	// the engine at an address.
	HelperCommand func() ([]string, error)
	HelperOptions func(address string) any
}

// New makes an updater that runs no hooks and leaves compose files alone. The functions
// Whereabouts, HelperCommand and HelperOptions are still to be set.
func New(e *engine.Engine, i Images, p *Predecessors, log hclog.Logger) *Updater {
	return &Updater{
		engine: e, images: i, predecessors: p, log: log, Liveness: defaultLiveness, StopMargin: defaultStopMargin,
	}
}

// Images are the images of an engine.
type Images interface {
	// Counting returns those of a container's labels that its image does not bring. own is the platform of the image
	// that the container runs, if the engine says it. The error means that the engine cannot be reached.
	Counting(ctx context.Context, labels map[string]string, imageID string, own *ocispec.Descriptor) (
		map[string]string, error)
}
