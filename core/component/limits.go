package component

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Limits asks registries, all at once, what their hosts allow. The result has
// one entry per registry: what it said, or nil when it knows nothing or does
// not answer at once. Nothing is remembered from one call to the next.
func Limits(ctx context.Context, registries []*Component) [][]registry.Limit {
	limits := make([][]registry.Limit, len(registries))
	var wait sync.WaitGroup
	for i, c := range registries {
		if state, _ := c.State(); state != Ready || !slices.Contains(c.Capabilities, kind.CapLimits) {
			continue
		}
		wait.Go(func() {
			// Without an answer there is nothing to show, which is no failure of what shows it.
			said, _ := c.Instance.Limits(ctx)
			limits[i] = tidy(said)
		})
	}
	wait.Wait()
	return limits
}

// maxLimits bounds the hosts of one registry: each is a series of the metrics.
const maxLimits = 256

// tidy leaves one limit per host, whatever a plugin says.
func tidy(limits []registry.Limit) []registry.Limit {
	byHost := func(a, b registry.Limit) int { return strings.Compare(a.Host, b.Host) }
	slices.SortStableFunc(limits, byHost)
	limits = slices.CompactFunc(limits, func(a, b registry.Limit) bool { return a.Host == b.Host })
	return limits[:min(len(limits), maxLimits)]
}
