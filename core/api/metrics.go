package api

import (
	"context"
	_ "embed"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/metrics"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// metricsState reads what a scrape of the metrics needs. Deliveries are counted
// up to a thousand: more is as alarming.
func (h *handler) metricsState(ctx context.Context) (metrics.State, error) {
	pending, err := h.Store.Deliveries(ctx, store.DeliveryFilter{State: delivery.Pending, Limit: largestPage})
	if err != nil {
		if ctx.Err() == nil {
			h.Log.Error("read the deliveries for a scrape of the metrics", "error", err)
		}
		return metrics.State{}, err
	}
	records := h.Store.Snapshot().All()
	state := metrics.State{Pending: len(pending), Containers: func(yield func(*sdk.Container) bool) {
		for _, rec := range records {
			if !yield(&rec.Container) {
				return
			}
		}
	}}
	for _, k := range kind.Kinds() {
		for _, c := range h.Components.All(k) {
			condition, _ := c.State()
			state.Components = append(state.Components, metrics.Component{Kind: k, Type: c.Type, Name: c.Name, Failed: condition == component.Failed})
		}
	}
	registries := h.Components.Registries()
	for i, limits := range component.RateLimits(ctx, registries) {
		state.Limits = append(state.Limits, metrics.Limits{Registry: registries[i].ID(), Hosts: limits})
	}
	return state, nil
}
