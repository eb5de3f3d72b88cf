// Package choice keeps what users decided about updates: to skip a version, to snooze, to
// approve. Choices are stored by the name of a container and the update they are about, so
// that they survive a container that is recreated, and each is an event with its actor.
package choice

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxSnooze is the longest snooze.
const maxSnooze = 5 * 366 * 24 * time.Hour

// Store keeps choices.
type Store interface {
	// Choices returns all choices.
	Choices(ctx context.Context) ([]policy.Choice, error)
	// PutChoice stores a choice in place of those of the same container and version, with events.
	PutChoice(ctx context.Context, c policy.Choice, ev ...event.Event) error
	// DeleteChoices deletes the choices of a container, with events.
	DeleteChoices(ctx context.Context, subject string, ev ...event.Event) error
}

// Options configure Choices.
type Options struct {
	Store Store
	// Changed, if set, decides again about a container after its choices have changed. An
	// error is of that only: the choice holds.
	Changed func(ctx context.Context, subject string) error
	Now     func() time.Time
}

// Choices are the choices of all containers. Its methods may be called concurrently.
type Choices struct {
	opt Options
	// changing is held while a choice is stored, so that memory and store agree on the last one.
	changing sync.Mutex

	mu  sync.RWMutex
	all map[string][]policy.Choice // by subject
}

// New reads the stored choices.
func New(ctx context.Context, opt Options) (*Choices, error) {
	stored, err := opt.Store.Choices(ctx)
	if err != nil {
		return nil, err
	}
	c := &Choices{opt: opt, all: map[string][]policy.Choice{}}
	for _, one := range stored {
		c.all[one.Subject] = append(c.all[one.Subject], one)
	}
	return c, nil
}

// Of returns the choices about a container, by its subject. It does not wait for the store.
func (c *Choices) Of(subject string) []policy.Choice {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.all[subject])
}

// All returns the choices of all containers, by subject and then the latest first.
func (c *Choices) All() []policy.Choice {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []policy.Choice
	for _, subject := range slices.Sorted(maps.Keys(c.all)) {
		all = append(all, slices.SortedFunc(slices.Values(c.all[subject]), func(a, b policy.Choice) int { return b.At.Compare(a.At.Time) })...)
	}
	return all
}

// Choose stores what a user decided about an update, and has it decided again. With the
// zero Key a snooze is of every update of the container. The error is an *sdk.InvalidError
// that names what cannot be.
func (c *Choices) Choose(ctx context.Context, actor, subject string, key update.Key, kind policy.ChoiceKind, until time.Time) error {
	now := c.opt.Now()
	whole := key == (update.Key{})
	switch {
	case kind != policy.Skip && kind != policy.Snooze && kind != policy.Approved:
		return sdk.Invalid("action", "want skip, snooze or approve, got %.20q", kind)
	case !whole && key.Subject != subject:
		return sdk.Invalid("version", "the update is of %s, not of %s", key.Subject, subject)
	case whole && kind != policy.Snooze:
		return sdk.Invalid("version", "say which version: only a snooze can be of all")
	case whole && until.IsZero():
		return sdk.Invalid("until", "say until when; without a date, a snooze is of one version")
	case !until.IsZero() && kind != policy.Snooze:
		return sdk.Invalid("until", "only a snooze has an end")
	case !until.IsZero() && !until.After(now):
		return sdk.Invalid("until", "%s is in the past", until.Format(time.RFC3339))
	case until.Sub(now) > maxSnooze:
		return sdk.Invalid("until", "want five years at most: skip the version instead")
	}
	chosen := policy.Choice{Subject: subject, Update: key, Kind: kind, Until: sdk.TimeOf(until), Actor: actor, At: sdk.TimeOf(now)}
	return c.change(ctx, subject, func() error {
		err := c.opt.Store.PutChoice(ctx, chosen, event.Event{At: now, Type: event.ChoiceMade, Subject: subject, Payload: event.Payload{Choice: &event.Choice{
			Action: string(kind), Version: chosen.Version(), Until: chosen.Until, Actor: actor}}})
		if err != nil {
			return fmt.Errorf("store what was decided about %s: %w", subject, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		rest := slices.DeleteFunc(slices.Clone(c.all[subject]), func(have policy.Choice) bool { return have.Version() == chosen.Version() })
		c.all[subject] = append(rest, chosen)
		return nil
	})
}

// Undo deletes the choices about a container, and returns how many there were.
func (c *Choices) Undo(ctx context.Context, actor, subject string) (int, error) {
	undone := 0
	err := c.change(ctx, subject, func() error {
		had := c.Of(subject)
		if undone = len(had); undone == 0 {
			return nil
		}
		var events []event.Event
		for _, one := range had {
			events = append(events, event.Event{At: c.opt.Now(), Type: event.ChoiceUndone, Subject: subject, Payload: event.Payload{Choice: &event.Choice{
				Action: string(one.Kind), Version: one.Version(), Until: one.Until, Actor: actor}}})
		}
		if err := c.opt.Store.DeleteChoices(ctx, subject, events...); err != nil {
			return fmt.Errorf("undo what was decided about %s: %w", subject, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, subject)
		return nil
	})
	return undone, err
}

// change stores a change and has the container decided again.
func (c *Choices) change(ctx context.Context, subject string, store func() error) error {
	ctx = context.WithoutCancel(ctx) // half of it is done when the client goes
	c.changing.Lock()
	err := store()
	c.changing.Unlock()
	if err != nil || c.opt.Changed == nil {
		return err
	}
	if err := c.opt.Changed(ctx, subject); err != nil {
		return fmt.Errorf("what was decided about %s is stored and counts from the next check: %w", subject, err)
	}
	return nil
}
