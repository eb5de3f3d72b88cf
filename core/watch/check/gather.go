package check

import (
	"context"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
)

// storePause is how long a response waits for others that are stored with it: a
// short check is stored at once, a long one twice a second.
const storePause = 500 * time.Millisecond

// gather fetches the responses of registries about the targets and stores each as
// it arrives: a registry that hangs holds up no container but its own.
func (p *pass) gather(ctx context.Context) error {
	p.estimate(ctx)
	fetching, stop := context.WithCancel(ctx)
	done := make(chan []*registryquery.Question, len(p.targets)) // with room for all: fetching does not wait for the store
	go func() {
		defer close(done)
		p.queries.Ask(fetching, p.questions(), func(some []*registryquery.Question) { done <- some })
	}()
	defer func() {
		stop()
		for range done { // until no request is under way
		}
	}()
	p.advance(0)
	ready := map[*registryquery.Question]bool{}
	var due <-chan time.Time
	for {
		select {
		case some, more := <-done:
			if !more {
				return p.settle(ctx, ready, true)
			}
			for _, q := range some {
				ready[q] = true
			}
			if due == nil {
				due = time.After(storePause)
			}
		case <-due:
			if err := p.settle(ctx, ready, false); err != nil {
				return err
			}
			p.advance(len(ready))
			ready, due = map[*registryquery.Question]bool{}, nil
		}
	}
}

// settle stores what the responses about some targets mean. The last time, the
// end of the check is stored with it.
func (p *pass) settle(ctx context.Context, ready map[*registryquery.Question]bool, last bool) error {
	if err := ctx.Err(); err != nil {
		return err // which may be the only response of some
	}
	p.commitLock.Lock()
	defer p.commitLock.Unlock()
	stored, err := p.opt.Store.Containers(ctx)
	if err != nil {
		return fmt.Errorf("read the stored containers: %w", err)
	}
	now := p.own(stored)
	change, err := p.change(now, ready)
	if err != nil {
		return err
	}
	for i := range change.Put {
		now[change.Put[i].ID] = &change.Put[i]
	}
	found := backlogOf(change.Events)
	p.stamp(change.Events)
	if last {
		p.sum(now, found)
		change.Events = append(change.Events, p.runEvent(event.CheckFinished))
	}
	if err := p.commit(ctx, change); err != nil {
		return fmt.Errorf("store what was found: %w", err)
	}
	p.reported(found, last)
	p.SaveRequests(ctx)
	return nil
}

// SaveRequests keeps what was counted of requests since it was last called. What is lost when it
// fails is counted too little after the next start, which is only logged.
func (c *Checker) SaveRequests(ctx context.Context) {
	if c.opt.SaveRequests == nil {
		return
	}
	c.Budgets() // with what the next checks cost
	if all, changed := c.queries.Budget().Saved(); changed {
		if err := c.opt.SaveRequests(ctx, all); err != nil && ctx.Err() == nil {
			c.log.Warn("keep how many requests were made", "error", err)
		}
	}
}

// own returns the watcher's containers, by id. Since the check began a person
// may have deleted one, or another watcher taken it over.
func (p *pass) own(stored []sdk.Container) map[string]*sdk.Container {
	own := make(map[string]*sdk.Container, len(stored))
	for i := range stored {
		if c := &stored[i]; c.Watcher == p.watcher.Name {
			own[c.ID] = c
		}
	}
	return own
}

// change is what follows from the responses of the targets that are ready and still stored.
// The caller holds commitLock.
func (p *pass) change(now map[string]*sdk.Container, ready map[*registryquery.Question]bool) (event.Change, error) {
	change := event.Change{Put: make([]sdk.Container, 0, len(ready))}
	at := sdk.TimeOf(p.opt.Now())
	for _, s := range p.targets {
		have := now[s.Container.ID]
		if have == nil || !ready[&s.Question] {
			continue
		}
		if have.Result != nil && s.Container.Result != nil {
			carry(&s.Container, have) // which may have got its date or another decision meanwhile
		}
		before, after := s.Container, withResponse(s.Container, s.labels, s.Answer, at)
		again := false
		if s.Answer.Err == nil {
			name := event.Subject(after)
			found := s.Search.Candidates(*after.Watched(), s.Answer, p.found[name], at.Time)
			after, found, again = p.decided(before, after, s.labels, found, at.Time)
			if err := p.remember(&change, name, found); err != nil {
				return change, err
			}
		}
		p.logOutcome(s, after)
		change.Put = append(change.Put, after)
		if t, changed := transition(before, after); changed {
			if t == event.UpdateFound && (again || p.notified.covers(after, s.Answer.Digest)) {
				t = event.ContainerChanged
			}
			change.Events = append(change.Events, became(t, before, after))
		}
	}
	return change, nil
}

// sum fills in the report, from the containers as they are when the check ends.
func (p *pass) sum(now map[string]*sdk.Container, found backlog) {
	if !p.report.Single { // a whole check reports the backlog, too
		found = found.with(p.backlog())
	}
	for _, s := range p.targets {
		c := now[s.Container.ID]
		if c == nil {
			continue
		}
		p.counts.Add(c)
		postponed := c.Check.Postponed()
		if postponed {
			p.report.Postponed++
		}
		if isOffered(c) && !postponed && c.Check.State != sdk.CheckFailed {
			p.report.Updates = append(p.report.Updates, c.ID)
		}
		if isOffered(c) && found.has(c) {
			p.report.Found = append(p.report.Found, c.ID)
		}
	}
	p.report.Containers, p.report.Failed = p.counts.All, p.counts.Failed+p.counts.Stale
	p.report.Took = p.opt.Now().Sub(p.began).Round(time.Millisecond).String()
}
