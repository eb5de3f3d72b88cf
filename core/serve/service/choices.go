package service

import (
	"context"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// Choices are what users decided about updates; see choice.Choices.
type Choices interface {
	Of(subject string) []choice.Choice
	All() []choice.Choice
	Choose(ctx context.Context, actor, subject string, key update.Key, kind choice.Kind, until time.Time) error
	Undo(ctx context.Context, actor, subject string) (int, error)
}

var errNoChoices = sdk.WithKind(ErrForbidden, errors.New("nothing can be decided here"))

// Choice is what an actor decides about the update of a container.
type Choice struct {
	// Container is its id.
	Container string
	Kind      choice.Kind
	// Version is the tag or digest that it is about, the one of the result or one of its levels; ""
	// for the one of the result, or for all versions when it is a snooze that has an end.
	Version string
	Until   time.Time
}

// Choose stores what an actor decides about an update, and has the container decided again.
// The error is an ErrNotFound when there is no such container, an *sdk.InvalidError when the
// choice cannot be, and an ErrForbidden.
func (s *Service) Choose(ctx context.Context, actor auth.Actor, chosen Choice) error {
	if err := allow(actor, auth.Write, "decide about updates"); err != nil {
		return err
	}
	rec, err := s.Container(chosen.Container)
	switch {
	case err != nil:
		return err
	case s.opt.Choices == nil:
		return errNoChoices
	case chosen.Kind == choice.Approved:
		if err := choice.Approvable(&rec.Container); err != nil {
			return err
		}
	}
	c := rec.Container
	var key update.Key
	if chosen.Kind != choice.Snooze || chosen.Until.IsZero() || chosen.Version != "" {
		if key, err = keyOf(&c, chosen.Version); err != nil {
			return err
		}
	}
	if err := s.opt.Choices.Choose(ctx, actor.User, event.Subject(c), key, chosen.Kind, chosen.Until); err != nil {
		return err
	}
	s.log.Info("decided about an update", "container", event.Subject(c), "action", chosen.Kind, "version", key.To(),
		"until", sdk.TimeOf(chosen.Until), "actor", actor.User, "address", actor.ClientAddress())
	return nil
}

// keyOf returns the key of the update of a container to one of the versions that it is shown with.
func keyOf(c *sdk.Container, version string) (update.Key, error) {
	if !c.UpdateAvailable {
		return update.Key{}, sdk.Invalid("version", "there is no update of %s", event.Subject(*c))
	}
	key := update.KeyOf(c)
	if version == "" || version == key.To() {
		return key, nil
	}
	for _, level := range tally.Levels(c) {
		if level.Tag == version {
			return update.Key{Subject: key.Subject, Kind: sdk.KindTag, FromTag: c.Image.Tag.Value, ToTag: version}, nil
		}
	}
	return update.Key{}, sdk.Invalid("version", "%.128q is none of the newer versions of %s", version, event.Subject(*c))
}

// UndoChoices deletes what users decided about the updates of a container, and returns how
// many choices there were. The errors are those of Choose.
func (s *Service) UndoChoices(ctx context.Context, actor auth.Actor, container string) (int, error) {
	if err := allow(actor, auth.Write, "decide about updates"); err != nil {
		return 0, err
	}
	rec, err := s.Container(container)
	switch {
	case err != nil:
		return 0, err
	case s.opt.Choices == nil:
		return 0, errNoChoices
	}
	n, err := s.opt.Choices.Undo(ctx, actor.User, event.Subject(rec.Container))
	if err == nil && n > 0 {
		s.log.Info("choices undone", "container", event.Subject(rec.Container), "actor", actor.User, "address",
			actor.ClientAddress())
	}
	return n, err
}

// ChoicesOf returns what users decided about the updates of a container, by its subject.
func (s *Service) ChoicesOf(subject string) []choice.Choice {
	if s.opt.Choices == nil {
		return nil
	}
	return s.opt.Choices.Of(subject)
}

// AllChoices returns what users decided about all containers.
func (s *Service) AllChoices() []choice.Choice {
	if s.opt.Choices == nil {
		return nil
	}
	return s.opt.Choices.All()
}
