package updater

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// Previous returns the reference of the image to which a rollback of a container
// would return; "" when there is none.
func (r *Runner) Previous(ctx context.Context, c sdk.Container) (string, error) {
	image, err := r.rollbackImage(ctx, c)
	if errors.Is(err, ErrNoUpdate) {
		return "", nil
	}
	return image.Reference, err
}

// currentID returns the id that the last operation of a container before another gave it,
// which the store has only after the next check. before is the id of the other; "" for none.
func (r *Runner) currentID(ctx context.Context, c sdk.Container, before string) (string, error) {
	last, err := r.opt.Store.Operations(ctx, operation.Filter{Watcher: c.Watcher, Name: c.Name, Before: before, Limit: 1})
	if err != nil || len(last) == 0 {
		return c.ID, err
	}
	if op := last[0]; op.ContainerID == c.ID && op.Outcome != nil && op.Outcome.ContainerID != "" {
		return op.Outcome.ContainerID, nil
	}
	return c.ID, nil
}
