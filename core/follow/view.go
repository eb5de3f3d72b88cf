package follow

import (
	"context"

	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// view is the world as one follower was told of it. It outlives the follower's calls.
type view struct {
	hub      *Hub
	follower Follower
	all      bool // the next change tells everything
	told     map[string]*sdk.Container
	doing    map[string]bool // checking, by watcher
	// leaving are the removals of the latest change. The follower has taken
	// them for sure when it asks for the next one.
	leaving []*sdk.Container
}

func newView(h *Hub, f Follower) *view {
	v := &view{hub: h, follower: f, told: map[string]*sdk.Container{}}
	for _, c := range h.began {
		v.told[c.ID] = c
	}
	return v
}

// begin makes the next change tell everything, for a follower that knows nothing.
func (v *view) begin() { v.all = true }

// Next implements trigger.World.
func (v *view) Next(ctx context.Context) (trigger.Change, error) {
	if !v.all {
		v.leaving = nil
	}
	for {
		watchers, changed := v.hub.watchers()
		if c, any := v.change(v.hub.opt.Containers(), watchers); any {
			return c, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return trigger.Change{}, ctx.Err()
		}
	}
}

// Run implements trigger.World.
func (v *view) Run(ctx context.Context, triggerID, containerID string) error {
	return v.hub.run(ctx, v.follower, triggerID, containerID)
}

// change returns how what there is differs from what was told, which is told from here on.
func (v *view) change(containers []*sdk.Container, watchers []trigger.WatcherState) (c trigger.Change, any bool) {
	c.All = v.all
	now := make(map[string]*sdk.Container, len(containers))
	for _, is := range containers {
		now[is.ID] = is
		if was := v.told[is.ID]; v.all || was == nil || update.Changed(was, is, update.CheckTime|update.ReleaseDate) {
			c.Put = append(c.Put, *is)
		}
	}
	before := v.leaving
	v.leaving = nil
	for _, was := range v.told {
		before = append(before, was)
	}
	for _, was := range before {
		if is := now[was.ID]; is == nil || is.Watcher != was.Watcher || is.Name != was.Name {
			v.leaving = append(v.leaving, was)
			c.Removed = append(c.Removed, *was)
		}
	}
	doing := make(map[string]bool, len(watchers))
	for _, w := range watchers {
		if was, known := v.doing[w.Name]; v.all || !known || was != w.Checking {
			c.Watchers = append(c.Watchers, w)
		}
		doing[w.Name] = w.Checking
	}
	v.told, v.doing, v.all = now, doing, false
	return c, c.All || len(c.Put)+len(c.Removed)+len(c.Watchers) > 0
}
