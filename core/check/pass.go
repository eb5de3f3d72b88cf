package check

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// pass is one run on its way: a whole watcher, or one container only.
type pass struct {
	*Checker
	watcher Watcher
	id      string
	only    string // the container that registries are asked about; "" means all
	began   time.Time
	report  *event.Check
}

// note returns the event that tells of the run as a whole.
func (p *pass) note(t event.Type) event.Event {
	report := *p.report
	return event.Event{At: p.opt.Now(), Type: t, Subject: p.watcher.Name, Run: p.id, Payload: event.Payload{Check: &report}}
}

func (p *pass) run(ctx context.Context) error {
	if err := p.opt.Store.Commit(ctx, event.Change{Events: []event.Event{p.note(event.CheckStarted)}}); err != nil {
		return fmt.Errorf("record its start: %w", err)
	}
	p.lists()
	listed, err := p.watcher.Lister.List(ctx)
	if err != nil {
		return err
	}
	p.sawBroken(listed)
	subjects, err := p.reconcile(ctx, listed)
	if err != nil {
		return err
	}
	p.fetch.answer(ctx, subjects)
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.settle(ctx, subjects)
}

// lists notes that a whole run looks at the engine now.
func (p *pass) lists() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if st := p.state(p.watcher.Name); st.running != nil && p.only == "" {
		st.running.listing = true
	}
}

// sawBroken remembers what the engine could not tell.
func (p *pass) sawBroken(listed []sdk.Container) {
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

// reconcile stores which containers there are and returns those to ask registries about.
func (p *pass) reconcile(ctx context.Context, listed []sdk.Container) ([]*subject, error) {
	p.deciding.Lock()
	defer p.deciding.Unlock()
	stored, err := p.opt.Store.Containers(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stored containers: %w", err)
	}
	found := p.discover(p.watcher, listed, stored)
	if change := found.change; len(change.Put)+len(change.Remove) > 0 {
		p.stamp(change.Events)
		if err := p.opt.Store.Commit(ctx, change); err != nil {
			return nil, fmt.Errorf("store the containers: %w", err)
		}
	}
	if p.only != "" {
		return slices.DeleteFunc(found.subjects, func(s *subject) bool { return s.container.ID != p.only }), nil
	}
	return found.subjects, nil
}

// settle turns the answers of registries into what is stored.
func (p *pass) settle(ctx context.Context, subjects []*subject) error {
	p.deciding.Lock()
	defer p.deciding.Unlock()
	stored, err := p.opt.Store.Containers(ctx)
	if err != nil {
		return fmt.Errorf("read the stored containers: %w", err)
	}
	now := make(map[string]*sdk.Container, len(stored))
	for i := range stored {
		now[stored[i].ID] = &stored[i]
	}
	// Meanwhile a person may have deleted a container, or another watcher taken it over.
	subjects = slices.DeleteFunc(subjects, func(s *subject) bool {
		have := now[s.container.ID]
		return have == nil || have.Watcher != p.watcher.Name
	})
	for _, s := range subjects {
		if have := now[s.container.ID].Result; have != nil && s.container.Result != nil && have.Tag == s.container.Result.Tag {
			s.container.Result = have // which may have got its date meanwhile
		}
	}
	old, err := p.told(ctx)
	if err != nil {
		return err
	}
	change := p.conclude(subjects, old)
	owed := p.news(change.Put)
	p.report.Took = p.opt.Now().Sub(p.began).Round(time.Millisecond).String()
	p.stamp(change.Events)
	change.Events = append(change.Events, p.note(event.CheckFinished))
	if err := p.opt.Store.Commit(ctx, change); err != nil {
		return fmt.Errorf("store what was found: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state(p.watcher.Name).owed = owed
	return nil
}

// conclude decides about each container and fills in the report.
func (p *pass) conclude(subjects []*subject, old told) event.Change {
	var change event.Change
	at := sdk.TimeOf(p.opt.Now())
	for _, s := range subjects {
		before, after := s.container, conclude(s.container, s.policy, s.answer, at)
		p.report.Containers++
		p.tell(s, after)
		switch {
		case after.Check.State == sdk.CheckFailed:
			p.report.Failed++
		case after.UpdateAvailable:
			p.report.Updates = append(p.report.Updates, after.ID)
		}
		change.Put = append(change.Put, after)
		if t, changed := transition(before, after); changed {
			switch {
			case t == event.UpdateFound && old.has(after, s.answer.digest):
				t = event.ContainerChanged
			case t == event.UpdateFound:
				p.report.Found = append(p.report.Found, after.ID)
			}
			told := after // so that only what is told is kept
			change.Events = append(change.Events, event.Event{Type: t, Subject: event.Subject(after), Payload: event.Payload{Container: &told}})
		}
	}
	return change
}

// tell logs what the owner of a container should know: why it could not be
// checked, when that is news, and rules without effect, once.
func (p *pass) tell(s *subject, after sdk.Container) {
	name := event.Subject(after)
	if after.Check.State == sdk.CheckFailed {
		if message(s.container) == message(after) {
			p.log.Debug("container still cannot be checked", "container", name, "error", after.Error.Message)
		} else {
			p.log.Warn("container could not be checked", "container", name, "error", after.Error.Message)
		}
	}
	for _, warning := range s.answer.selection.Warnings {
		p.warnOnce(after.ID+warning, name+": "+warning)
	}
}

// news makes a whole run report what single checks found before it, and
// returns what is still to be reported by a later one.
func (p *pass) news(checked []sdk.Container) (owed []string) {
	p.mu.Lock()
	owed = p.state(p.watcher.Name).owed
	p.mu.Unlock()
	if p.report.Single {
		owed = slices.Concat(owed, p.report.Found)
		slices.Sort(owed)
		return slices.Compact(owed)
	}
	for _, c := range checked {
		if c.UpdateAvailable && slices.Contains(owed, c.ID) && !slices.Contains(p.report.Found, c.ID) {
			p.report.Found = append(p.report.Found, c.ID)
		}
	}
	return nil
}

func (p *pass) stamp(events []event.Event) {
	now := p.opt.Now()
	for i := range events {
		events[i].At, events[i].Run = now, p.id
	}
}
