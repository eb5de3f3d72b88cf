// Package choice keeps what users decide about updates: to skip a version, to snooze, to approve. Package policy says
// what follows from that.
package choice

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// Kind is what a user decided.
type Kind string

// The kinds of choices.
const (
	Skip     Kind = "skip"    // not this version: wait for the next
	Snooze   Kind = "snooze"  // not until Until, or until the next version if that is zero
	Approved Kind = "approve" // this version, whatever its age and the threshold: in the next window
)

// Choice is what a user decided about one update of one container. A container has at
// most one of each version, and one Snooze of all versions. Choices stores them.
type Choice struct {
	Subject string `json:"subject"`
	// Update is the update that the user was shown. A Snooze with the zero Key is of all updates.
	Update update.Key `json:"update"`
	Kind   Kind       `json:"kind"`
	Until  sdk.Time   `json:"until,omitzero"`
	// Actor is who decided, as in the log of operations; for a link in a message, which one.
	Actor string   `json:"actor"`
	At    sdk.Time `json:"at"`
}

// Version returns the tag or the digest that a choice is about; "" for all versions.
func (c Choice) Version() string { return c.Update.To() }

// maxSnooze is the longest snooze.
const maxSnooze = 5 * 366 * 24 * time.Hour

// SignedLinkUse is that of the signed link of a message with which a user decided; see core/notify/signedlink.
type SignedLinkUse struct {
	Nonce []byte
	// Trigger is whose message it was in, Action what was decided with it.
	Trigger, Action string
	At              time.Time
	// Expires is when the link would have: until then the use is remembered.
	Expires time.Time
}

// Store keeps choices.
type Store interface {
	// ChoicesBySubject returns all choices as of the last commit. It is cheap, and what it
	// returns must not be changed.
	ChoicesBySubject() map[string][]Choice
	// PutChoice stores a choice in place of that of the same container and version, with
	// the use of a link, if it was made with one, and events: all of that, or nothing. It fails
	// when the link was used before.
	PutChoice(ctx context.Context, c Choice, with *SignedLinkUse, ev ...event.Event) error
	// DeleteChoices deletes the choices of a container, with events.
	DeleteChoices(ctx context.Context, subject string, ev ...event.Event) error
}

// Options configure Choices.
type Options struct {
	Store Store
	// Changed, if set, is called after a choice has been stored: it decides again, at once or
	// as soon as that is possible.
	Changed func(ctx context.Context)
	Now     func() time.Time
}

// Choices are what users decided about the updates of all containers: to skip a version, to snooze, to approve. They
// are stored by the name of a container and the update they are about, so that they survive a container that is
// recreated, and each is an event with its actor. The methods may be called concurrently.
type Choices struct {
	opt Options
	// undoing is held from reading choices until they are deleted, and while one is stored: the
	// events name all that were deleted.
	undoing sync.Mutex
}

// New returns the choices of a store.
func New(opt Options) *Choices { return &Choices{opt: opt} }

// Of returns the choices about a container, by its subject. It does not wait for the store.
func (c *Choices) Of(subject string) []Choice {
	return slices.Clone(c.opt.Store.ChoicesBySubject()[subject])
}

// All returns the choices of all containers, by subject and then the latest first.
func (c *Choices) All() []Choice {
	stored := c.opt.Store.ChoicesBySubject()
	var all []Choice
	for _, subject := range slices.Sorted(maps.Keys(stored)) {
		all = append(all,
			slices.SortedFunc(slices.Values(stored[subject]), func(a, b Choice) int {
				return b.At.Compare(a.At.Time)
			})...)
	}
	return all
}

// Approvable returns nil when approving the update of a container can have an effect, and else an
// *sdk.InvalidError: nobody but who builds an image carries out the update of its base.
func Approvable(c *sdk.Container) error {
	if c.Base == nil {
		return nil
	}
	const text = "there is nothing to approve: what is newer is the base image %s:%s of %s/%s; rebuild the image"
	return sdk.Invalid("action", text,
		reference.Short(c.Base.Registry.Host, c.Base.Name), c.Base.Tag.Value, c.Watcher, c.Name)
}

// Choose stores what a user decided about an update, and has it decided again. A snooze
// with an end holds every update of the container, whichever version it was made for; one
// without lasts until the next version. The error is an *sdk.InvalidError that names what
// cannot be.
func (c *Choices) Choose(
	ctx context.Context, actor, subject string, key update.Key, kind Kind, until time.Time,
) error {
	return c.choose(ctx, nil, actor, subject, key, kind, until)
}

// ChooseWith is Choose for who has a signed link, whose use is stored with the choice.
func (c *Choices) ChooseWith(
	ctx context.Context, link SignedLinkUse, actor, subject string, key update.Key, kind Kind, until time.Time,
) error {
	return c.choose(ctx, &link, actor, subject, key, kind, until)
}

func (c *Choices) choose(
	ctx context.Context, with *SignedLinkUse, actor, subject string, key update.Key, kind Kind, until time.Time,
) error {
	now := c.opt.Now()
	ofAll := key == (update.Key{})
	switch {
	case kind != Skip && kind != Snooze && kind != Approved:
		return sdk.Invalid("action", "want skip, snooze or approve, got %.20q", kind)
	case !ofAll && key.Subject != subject:
		return sdk.Invalid("version", "the update is of %s, not of %s", key.Subject, subject)
	case ofAll && kind != Snooze:
		return sdk.Invalid("version", "say which version: only a snooze can be of all")
	case ofAll && until.IsZero():
		return sdk.Invalid("until", "say until when; without a date, a snooze is of one version")
	case !until.IsZero() && kind != Snooze:
		return sdk.Invalid("until", "only a snooze has an end")
	case !until.IsZero() && !until.After(now):
		return sdk.Invalid("until", "%s is in the past", until.Format(time.RFC3339))
	case until.Sub(now) > maxSnooze:
		return sdk.Invalid("until", "want five years at most: skip the version instead")
	}
	if !until.IsZero() {
		key = update.Key{}
	}
	chosen := Choice{
		Subject: subject, Update: key, Kind: kind, Until: sdk.TimeOf(until), Actor: actor, At: sdk.TimeOf(now),
	}
	return c.change(ctx, func(ctx context.Context) error {
		if err := c.opt.Store.PutChoice(ctx, chosen, with, c.event(event.ChoiceMade, chosen, actor)); err != nil {
			return fmt.Errorf("store what was decided about %s: %w", subject, err)
		}
		return nil
	})
}

// Undo deletes the choices about a container, and returns how many there were.
func (c *Choices) Undo(ctx context.Context, actor, subject string) (int, error) {
	undone := 0
	err := c.change(ctx, func(ctx context.Context) error {
		had := c.Of(subject)
		if undone = len(had); undone == 0 {
			return nil
		}
		var events []event.Event
		for _, one := range had {
			events = append(events, c.event(event.ChoiceUndone, one, actor))
		}
		if err := c.opt.Store.DeleteChoices(ctx, subject, events...); err != nil {
			return fmt.Errorf("undo what was decided about %s: %w", subject, err)
		}
		return nil
	})
	return undone, err
}

// event returns the event of what an actor did with a choice.
func (c *Choices) event(t event.Type, about Choice, actor string) event.Event {
	return event.Event{At: c.opt.Now(), Type: t, Subject: about.Subject, Payload: event.Payload{Choice: &event.Choice{
		Action: string(about.Kind), Version: about.Version(), Until: about.Until, Actor: actor,
	}}}
}

// change stores a change and has updates decided again.
func (c *Choices) change(ctx context.Context, store func(context.Context) error) error {
	ctx = context.WithoutCancel(ctx) // half of it is done when the client goes
	c.undoing.Lock()
	err := store(ctx)
	c.undoing.Unlock()
	if err == nil && c.opt.Changed != nil {
		c.opt.Changed(ctx)
	}
	return err
}
