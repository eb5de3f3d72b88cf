package check

import (
	"context"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// namesLogged is at most how many containers one line of the log names.
const namesLogged = 20

// rememberBroken remembers what the engine could not say of containers.
func (p *pass) rememberBroken(listed []sdk.Container) {
	broken := map[string]string{}
	for _, c := range listed {
		if c.Error != nil {
			broken[c.ID] = c.Error.Message
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state(p.watcher.Name).broken = broken
}

// reconcile stores which containers there are and returns those to check.
func (p *pass) reconcile(ctx context.Context, listed []sdk.Container) ([]*target, error) {
	var found discovery
	err := p.opt.Decisions.Commit(ctx, func(stored []sdk.Container) event.Change {
		found = p.discover(p.watcher, listed, stored)
		p.stamp(found.change.Events)
		return found.change
	})
	if err != nil {
		return nil, err
	}
	p.report.Shared, p.report.SharedWith = found.shared, found.sharedWith
	if found.relabelled { // by other rules, whether or not its registry responds
		if err := p.opt.Decisions.Redecide(ctx); err != nil {
			return nil, err
		}
	}
	if len(p.only) > 0 {
		found.targets = slices.DeleteFunc(found.targets, func(s *target) bool {
			return !slices.Contains(p.only, s.Container.ID)
		})
	}
	for _, s := range found.targets {
		if err := p.decideBy(ctx, s); err != nil {
			return nil, err
		}
	}
	return found.targets, nil
}
