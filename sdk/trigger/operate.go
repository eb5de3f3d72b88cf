package trigger

import (
	"context"
	"errors"
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// OperationRequest has the host update a container to the image that it is offered.
type OperationRequest struct {
	// ContainerID is a container of the Request.
	ContainerID string
	// Rules are added to those of the watcher and of the container's labels, as far as those allow: Keep and Prune,
	// DryRun, and as Health a port of the container itself where its labels have no probe.
	Rules watcher.UpdateRules
}

// errNoOperations is returned where no operations are taken.
var errNoOperations = sdk.WithRemedy(sdk.WithKind(sdk.ErrUnsupported,
	errors.New("the host takes no operations from this trigger")),
	"grant the plugin the capability operate in plugins.grants, or update Dogwatch")

// Operate requests an update, at most one of each container. The host begins it once
// Run has returned without an error, and what becomes of it is the result of the run:
// updated is a success, and an error is what keeps the container from being updated,
// or why the old one is back. So Run returns soon; it does not wait for updates.
//
// The host begins an update once, however often it is requested, and does not repeat
// one by itself that did not work. Run may therefore be called again after a crash.
//
// It needs kind.CapOperate. Without that, and for a sample message (see Test), the
// error is an sdk.ErrUnsupported; see CanOperate.
func (r Request) Operate(ctx context.Context, o OperationRequest) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.operate == nil:
		return errNoOperations
	case !slices.ContainsFunc(r.Containers, func(c sdk.Container) bool { return c.ID == o.ContainerID }):
		return sdk.Invalid("container", "%q is not a container of this request", o.ContainerID)
	case o.Rules.Keep < 0:
		return sdk.Invalid("keep", "want how many predecessors stay, got %d", o.Rules.Keep)
	}
	return r.operate(o)
}

// CanOperate reports whether the host takes operations.
func (r Request) CanOperate() bool { return r.operate != nil }

// WithOperate returns the request with operate receiving what Operate requests.
func (r Request) WithOperate(operate func(OperationRequest) error) Request {
	r.operate = operate
	return r
}
