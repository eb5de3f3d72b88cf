package operations

import (
	"context"

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
