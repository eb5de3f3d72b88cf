package updater

import (
	"context"

	"github.com/dogwatch/dogwatch/core/update/operation"
)

// startedBy returns the operation that a request with the same idempotency key, as that of a delivery that is repeated,
// has started already. A request without a key starts one of its own.
func (r *Runner) startedBy(ctx context.Context, req Request) (op operation.Operation, found bool, err error) {
	if req.IdempotencyKey == "" {
		return op, false, nil
	}
	same, err := r.opt.Store.Operations(ctx, operation.Filter{
		Watcher: req.Container.Watcher, Name: req.Container.Name, IdempotencyKey: req.IdempotencyKey, Limit: 1,
	})
	if err != nil || len(same) == 0 {
		return op, false, err
	}
	return same[0], true, nil
}
