package statestream

import (
	"context"

	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// view is the state that one subscriber was sent last. It outlives the
// subscriber's calls, and belongs to the one under way.
type view struct {
	hub        *Hub
	subscriber Subscriber
	all        bool                      // the next change holds everything
	containers map[string]*sdk.Container // by id
	checking   map[string]bool           // by watcher
	// leaving are the removals of the latest change. Only its asking for the next
	// one shows that the subscriber has taken them.
	leaving []*sdk.Container
}

func newView(h *Hub, s Subscriber) *view {
	v := &view{hub: h, subscriber: s, containers: map[string]*sdk.Container{}}
	for _, c := range h.began {
		v.containers[c.ID] = c
	}
	return v
}

// begin makes the next change hold everything, for a subscriber that knows nothing.
func (v *view) begin() { v.all = true }

// Next implements trigger.StateStream.
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

// Run implements trigger.StateStream.
func (v *view) Run(ctx context.Context, triggerID, containerID string) error {
	return v.hub.run(ctx, v.subscriber, triggerID, containerID)
}

// change returns how the state of now differs from what was sent last, and takes it as sent.
func (v *view) change(containers []*sdk.Container, watchers []trigger.WatcherState) (c trigger.Change, any bool) {
	c.All = v.all
	now := make(map[string]*sdk.Container, len(containers))
	for _, is := range containers {
		now[is.ID] = is
		if was := v.containers[is.ID]; v.all || was == nil || update.Changed(was, is, update.CheckTime|update.ReleaseDate) {
			c.Put = append(c.Put, *is)
		}
	}
	before := v.leaving
	v.leaving = nil
	for _, was := range v.containers {
		before = append(before, was)
	}
	for _, was := range before {
		if is := now[was.ID]; is == nil || is.Watcher != was.Watcher || is.Name != was.Name {
			v.leaving = append(v.leaving, was)
			c.Removed = append(c.Removed, *was)
		}
	}
	checking := make(map[string]bool, len(watchers))
	for _, w := range watchers {
		if was, known := v.checking[w.Name]; v.all || !known || was != w.Checking {
			c.Watchers = append(c.Watchers, w)
		}
		checking[w.Name] = w.Checking
	}
	v.containers, v.checking, v.all = now, checking, false
	return c, c.All || len(c.Put)+len(c.Removed)+len(c.Watchers) > 0
}
