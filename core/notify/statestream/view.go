package statestream

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/update"
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
	operations map[subject]progress
	// leaving are the removals of the latest change. Only its asking for the next
	// one shows that the subscriber has taken them.
	leaving []*sdk.Container
}

// subject is the container of an operation.
type subject struct{ watcher, name string }

// progress is what was sent of an operation, and when.
type progress struct {
	percent int
	sent    time.Time
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
		c, any := v.change(v.hub.opt.Containers(), watchers)
		var later time.Duration
		if c.Operations, later = v.progressed(c.All, v.hub.opt.Operations()); any || len(c.Operations) > 0 {
			return c, nil
		}
		if err := wait(ctx, changed, later); err != nil {
			return trigger.Change{}, err
		}
	}
}

// wait returns when there may be a change, or after some time unless that is 0.
func wait(ctx context.Context, changed <-chan struct{}, later time.Duration) error {
	var due <-chan time.Time
	if later > 0 {
		timer := time.NewTimer(later)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-changed:
	case <-due:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Run implements trigger.StateStream.
func (v *view) Run(ctx context.Context, triggerID, containerID string) error {
	return v.hub.run(ctx, v.subscriber, triggerID, containerID)
}

// Decide implements trigger.Decider.
func (v *view) Decide(ctx context.Context, containerID, action string) error {
	return v.hub.decide(ctx, v.subscriber, containerID, action)
}

// change returns how the state of now differs from what was sent last, and takes it as sent.
func (v *view) change(containers []*sdk.Container, watchers []trigger.WatcherState) (c trigger.Change, any bool) {
	c.All = v.all
	now := make(map[string]*sdk.Container, len(containers))
	for _, current := range containers {
		now[current.ID] = current
		earlier := v.containers[current.ID]
		if v.all || earlier == nil || update.Changed(earlier, current, update.CheckTime|update.ReleaseDate) {
			c.Put = append(c.Put, *current)
		}
	}
	before := v.leaving
	v.leaving = nil
	for _, earlier := range v.containers {
		before = append(before, earlier)
	}
	for _, earlier := range before {
		if current := now[earlier.ID]; current == nil || current.Watcher != earlier.Watcher || current.Name != earlier.Name {
			v.leaving = append(v.leaving, earlier)
			c.Removed = append(c.Removed, *earlier)
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

// progressed returns which operations differ from what was sent last, and takes them as
// sent. Progress that comes too soon after the last is sent after the time that it returns.
func (v *view) progressed(
	all bool, operations []trigger.OperationState,
) (changed []trigger.OperationState, later time.Duration) {
	now, sent := time.Now(), make(map[subject]progress, len(operations))
	for _, op := range operations {
		key := subject{op.Watcher, op.Name}
		was, known := v.operations[key]
		wait := progressPause - now.Sub(was.sent)
		switch {
		case !all && known && was.percent == op.Percent:
			sent[key] = was
		case !all && known && wait > 0:
			sent[key] = was
			if later == 0 || wait < later {
				later = wait
			}
		default:
			sent[key] = progress{op.Percent, now}
			changed = append(changed, op)
		}
	}
	if !all {
		for key := range v.operations {
			if _, running := sent[key]; !running {
				changed = append(changed, trigger.OperationState{Watcher: key.watcher, Name: key.name})
			}
		}
	}
	v.operations = sent
	return changed, later
}
