package decision

import (
	"context"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// Labels are what the labels of a container say that matters once registries have answered.
type Labels interface {
	// Problems says what is wrong with them and keeps nothing from being checked.
	Problems() []string
	// Diff is the step from one tag to another: sdk.DiffMajor, ….
	Diff(from, to string) string
	// WriteReleaseLinks writes the release links of the container; with an error there are none.
	WriteReleaseLinks(*sdk.Container) error
}

// Answered is a container with what registries answered about its image.
type Answered struct {
	// Container is as its watcher lists it, with what the check before found. Apply has it know what was found since.
	Container *sdk.Container
	Answer    *candidate.Answer
	Search    candidate.Search
	Labels    Labels
}

// Answers are those of registries about containers of a watcher.
type Answers struct {
	// Watcher and Run are whose check asked, and which.
	Watcher, Run string
	// Answered are in the order of the watcher.
	Answered []Answered
	// Earlier are the updates of earlier notifications.
	Earlier Notified
	// Whole is whether the check asks about all containers of the watcher.
	Whole bool
	// End is called when these are the last answers, and returns the event of that. It must not call Decisions.
	End func(State) event.Event
}

// State is what the containers of a watcher are like at the end of a check.
type State struct {
	// Containers are by id.
	Containers map[string]*sdk.Container
	found      backlog
}

// IsNew reports whether a check has found the update of a container that no batch has reported yet.
func (s State) IsNew(c *sdk.Container) bool { return Offered(c) && s.found.has(c) }

// Apply stores what follows from answers, with its events, and returns the containers that are still stored: with
// their answer, and what was decided by it.
func (d *Decisions) Apply(ctx context.Context, a Answers) ([]sdk.Container, error) {
	d.commitLock.Lock()
	defer d.commitLock.Unlock()
	stored, known, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	own := own(stored, a.Watcher)
	change, err := d.change(a, own, known)
	if err != nil {
		return nil, err
	}
	for i := range change.Put {
		own[change.Put[i].ID] = &change.Put[i]
	}
	found := backlogOf(change.Events)
	for i := range change.Events {
		change.Events[i].At, change.Events[i].Run = d.opt.Now(), a.Run
	}
	if a.End != nil {
		state := State{Containers: own, found: found}
		if a.Whole { // which reports the backlog, too
			state.found = found.with(d.backlogs[a.Watcher])
		}
		change.Events = append(change.Events, a.End(state))
	}
	if err := d.commit(ctx, change); err != nil {
		return nil, fmt.Errorf("store what was found: %w", err)
	}
	d.reported(a.Watcher, found, a.Whole && a.End != nil)
	return change.Put, nil
}

// own returns the containers of a watcher, by id. Since a check began a person
// may have deleted one, or another watcher taken it over.
func own(stored []sdk.Container, watcher string) map[string]*sdk.Container {
	own := make(map[string]*sdk.Container, len(stored))
	for i := range stored {
		if c := &stored[i]; c.Watcher == watcher {
			own[c.ID] = c
		}
	}
	return own
}

// change is what follows from answers about containers that are still stored. The caller holds commitLock.
func (d *Decisions) change(
	a Answers, stored map[string]*sdk.Container, known map[string]candidate.Found,
) (event.Change, error) {
	change := event.Change{Put: make([]sdk.Container, 0, len(a.Answered))}
	now := d.opt.Now()
	for _, answered := range a.Answered {
		before, have := answered.Container, stored[answered.Container.ID]
		if have == nil {
			continue
		}
		if have.Result != nil && before.Result != nil {
			Carry(before, have) // which may have got its date or another decision meanwhile
		}
		change.Put = append(change.Put, *before)
		after, subject := &change.Put[len(change.Put)-1], event.Subject(*before)
		found, offeredBefore := d.judgeAnswered(after, answered, known[subject], now)
		if answered.Answer.Err == nil {
			if err := d.remember(&change, subject, found); err != nil {
				return change, err
			}
		}
		record(&change, before, after, offeredBefore || a.Earlier.covers(after, answered.Answer.Digest))
	}
	return change, nil
}

// Judge returns a container as Apply would store it. known is what was found for it before. It stores nothing.
func (d *Decisions) Judge(a Answered, known candidate.Found, now time.Time) sdk.Container {
	c := *a.Container
	d.judgeAnswered(&c, a, known, now)
	return c
}

// judgeAnswered writes what follows from an answer into a container, with the decision by it. It returns what judge
// does.
func (d *Decisions) judgeAnswered(
	c *sdk.Container, a Answered, known candidate.Found, now time.Time,
) (found candidate.Found, offeredBefore bool) {
	*c = withAnswer(*c, a.Labels, *a.Answer, sdk.TimeOf(now))
	if a.Answer.Err != nil {
		return found, false
	}
	found = a.Search.Candidates(*c.Watched(), *a.Answer, known, now)
	found, offeredBefore = d.judge(a.Container, c, found, now)
	if err := a.Labels.WriteReleaseLinks(c); err != nil {
		complain(c, err.Error())
	}
	return found, offeredBefore
}
