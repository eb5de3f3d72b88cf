package pluginserver

import (
	"errors"
	"sync"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// operations are what one run requests of the host.
type operations struct {
	mu        sync.Mutex
	requested []*pluginv1.OperationRequest
	closed    bool
}

// errRunEnded is returned to a trigger that requests an operation from a goroutine
// that outlives its run: it would be lost.
var errRunEnded = errors.New("the run has ended, and takes no operations any more")

// add notes a request. There is at most one of each container, so their number is bounded.
func (o *operations) add(req trigger.OperationRequest) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errRunEnded
	}
	for _, before := range o.requested {
		if before.GetContainerId() == req.ContainerID {
			return sdk.Invalid("container", "an operation of %q is requested already", req.ContainerID)
		}
	}
	o.requested = append(o.requested, protocol.EncodeOperationRequest(req))
	return nil
}

// close returns what was requested, and takes no more.
func (o *operations) close() []*pluginv1.OperationRequest {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	return o.requested
}
