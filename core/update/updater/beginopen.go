package updater

import (
	"context"

	"github.com/dogwatch/dogwatch/core/update/operation"
)

// beginOpen recovers the operations that an earlier process left, and begins those queued
// ones that may run now.
func (r *Runner) beginOpen(ctx context.Context) error {
	open, err := r.opt.Store.OpenOperations(ctx)
	if err != nil {
		return err
	}
	for _, op := range open {
		if op.State == operation.Running && !r.isActive(op.ID) {
			r.begin(op, true)
		}
	}
	for _, op := range open {
		if op.State == operation.Queued && r.mayBegin(op) {
			r.begin(op, false)
		}
	}
	return nil
}
