package updater

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// issue stores the image of a plan that is shown. Without it the plan is as good, as long as the
// tag does not move. A digest that was asked for is not stored again, or it would never expire.
func (r *Runner) issue(ctx context.Context, req Request, image watcher.TargetImage) {
	if req.Kind != operation.Update || req.Digest != "" || image.Digest == "" {
		return
	}
	if err := r.opt.Store.PutPlanned(ctx, event.Subject(req.Container), image.Reference, image.Digest); err != nil &&
		ctx.Err() == nil {
		r.log.Warn("store the image of a plan", "image", image.Reference, "error", err)
	}
}

// issued reports whether the digest of a request can be used without asking the registry.
func (r *Runner) issued(ctx context.Context, req Request, image watcher.TargetImage) (bool, error) {
	if req.Digest == "" || req.Resolved {
		return req.Digest != "", nil
	}
	return r.opt.Store.Planned(ctx, event.Subject(req.Container), image.Reference, req.Digest)
}

func unplanned(req Request) error {
	return fmt.Errorf("%s: %w: look at the plan again", event.Subject(req.Container), ErrUnplanned)
}
