package check

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/decision"
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
	p.attachPullSecrets(ctx)
	batch := p.opt.Queries.Batch(p.questions())
	if p.shared() {
		batch.ShareSince(p.began.Add(-p.tolerance))
	}
	p.estimate(ctx, batch.Requests())
	fetching, stop := context.WithCancel(ctx)
	done := make(chan []*registryquery.Question, len(p.targets)) // with room for all: fetching does not wait for the store
	go func() {
		defer close(done)
		batch.Ask(fetching, func(some []*registryquery.Question) { done <- some })
	}()
	defer func() {
		stop()
		for range done { // until no request is under way
		}
	}()
	p.advance(0)
	ready := make(map[*registryquery.Question]bool, len(p.targets))
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
			clear(ready)
			due = nil
		}
	}
}

// attachPullSecrets gives each question what the engine pulls the image with. Without, it is asked as any other.
func (p *pass) attachPullSecrets(ctx context.Context) {
	if p.watcher.Pulls == nil {
		return
	}
	ids := make([]string, len(p.targets))
	for i, s := range p.targets {
		ids[i] = s.Container.ID
	}
	all, err := p.watcher.Pulls.PullCredentials(ctx, ids)
	if err != nil {
		p.warnOnce(p.watcher.Name+err.Error(), "the pull secrets of "+p.watcher.Name+" are not used: "+err.Error())
	}
	for _, s := range p.targets {
		s.Pull = all[s.Container.ID]
	}
}

// shared reports whether other engines run the same images perhaps. Who asks for some containers gets an answer of now.
func (p *pass) shared() bool { return len(p.only) == 0 && p.opt.Order != nil && len(p.opt.Order()) > 1 }

// settle stores what the responses about some targets mean. The last time, the
// end of the check is stored with it.
func (p *pass) settle(ctx context.Context, ready map[*registryquery.Question]bool, last bool) error {
	if err := ctx.Err(); err != nil {
		return err // which may be the only response of some
	}
	answers := decision.Answers{
		Watcher: p.watcher.Name, Run: p.id, Earlier: p.notified, Whole: !p.report.Single,
		Answered: make([]decision.Answered, 0, len(ready)),
	}
	answered := make(map[string]*target, len(ready))
	for _, s := range p.targets {
		if ready[&s.Question] {
			answers.Answered = append(answers.Answered, s.answered())
			answered[s.Container.ID] = s
		}
	}
	if last {
		answers.End = func(state decision.State) event.Event {
			p.sum(state)
			return p.runEvent(event.CheckFinished)
		}
	}
	stored, err := p.opt.Decisions.Apply(ctx, answers)
	if err != nil {
		return err
	}
	for _, c := range stored {
		p.logOutcome(answered[c.ID], c)
	}
	p.SaveRequests(ctx)
	return nil
}

// sum fills in the report, from the containers as they are when the check ends.
func (p *pass) sum(end decision.State) {
	for _, s := range p.targets {
		c := end.Containers[s.Container.ID]
		if c == nil {
			continue
		}
		p.counts.Add(c)
		postponed := c.Check.Postponed()
		if postponed {
			p.report.Postponed++
		}
		if decision.Offered(c) && !postponed && c.Check.State != sdk.CheckFailed {
			p.report.Updates = append(p.report.Updates, c.ID)
		}
		if end.IsNew(c) {
			p.report.Found = append(p.report.Found, c.ID)
		}
	}
	p.report.Containers, p.report.Failed = p.counts.All, p.counts.Failed+p.counts.Stale
	p.report.Known, p.report.Held = p.counts.Updates, p.counts.Held
	p.report.Took = p.opt.Now().Sub(p.began).Round(time.Millisecond).String()
}
