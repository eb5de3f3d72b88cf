package operations

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
)

// UnderWay returns the operations that have not ended, by "watcher/name".
func (h *Handler) UnderWay(ctx context.Context) map[string]operation.Operation {
	open, err := h.service.Operations(ctx, operation.Filter{
		States: []operation.State{operation.Queued, operation.Running},
	})
	if err != nil {
		h.Log.Warn("read the operations under way", "error", err) // pages show all else
	}
	byKey := make(map[string]operation.Operation, len(open))
	for _, op := range open {
		byKey[op.Watcher+"/"+op.Name] = op
	}
	return byKey
}

// triedBack is how many operations are looked at for versions that did not work.
const triedBack = 50

// Tried returns when updates did not work lately, by "watcher/name" and tag.
func (h *Handler) Tried(ctx context.Context) map[string]map[string]time.Time {
	back, err := h.service.Operations(ctx, operation.Filter{
		States: []operation.State{operation.RolledBack}, Limit: triedBack,
	})
	if err != nil {
		h.Log.Warn("read which updates did not work", "error", err) // pages show all else
	}
	of := map[string][]operation.Operation{}
	for _, op := range back {
		key := op.Watcher + "/" + op.Name
		of[key] = append(of[key], op)
	}
	tried := make(map[string]map[string]time.Time, len(of))
	for key, all := range of {
		tried[key] = triedOf(all)
	}
	return tried
}
