package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Containers returns the containers as they are stored now. Every actor who may
// read sees all of them, with their texts as the contract has them.
func (s *Service) Containers() store.Snapshot { return s.opt.Store.Snapshot() }

// Container returns the container with an id, whatever its letter case, or an ErrNotFound.
func (s *Service) Container(id string) (*store.Record, error) {
	snapshot := s.opt.Store.Snapshot()
	if rec, found := snapshot.Get(id); found {
		return rec, nil
	}
	for _, rec := range snapshot.All() {
		if strings.EqualFold(rec.Container.ID, id) {
			return rec, nil
		}
	}
	return nil, fmt.Errorf("container %q: %w", id, ErrNotFound)
}

// DeleteContainer removes a container from the store, until it is found again. The
// error is an ErrNotFound when there is none with this id, and an ErrForbidden when
// the configuration (server.feature.delete) or the scope of the actor does not allow it.
func (s *Service) DeleteContainer(ctx context.Context, actor auth.Actor, id string) error {
	if !s.opt.Config().Server.Feature.Delete {
		return sdk.WithKind(ErrForbidden, errors.New("deleting containers is switched off by server.feature.delete"))
	}
	rec, err := s.Container(id)
	if err == nil {
		err = allow(actor, auth.Write, "delete containers")
	}
	if err != nil {
		return err
	}
	c := rec.Container
	removed := event.Event{
		At: s.opt.Now(), Type: event.ContainerRemoved, Subject: event.Subject(c), Payload: event.Payload{Container: &c},
	}
	return s.opt.Store.Commit(ctx, event.Change{Remove: []string{c.ID}, Events: []event.Event{removed}})
}

// CheckAll checks all containers of all watchers. It goes on when ctx ends; only
// the waiting ends then, with the context's error.
func (s *Service) CheckAll(ctx context.Context, actor auth.Actor) error {
	if err := allow(actor, auth.Write, "check containers"); err != nil {
		return err
	}
	return s.safe(s.opt.Checks.WatchAll(ctx))
}

// CheckOne checks one container, as CheckAll does all. The error is a
// check.ErrNotListed when its watcher does not list it any more.
func (s *Service) CheckOne(ctx context.Context, actor auth.Actor, c sdk.Container) error {
	if err := allow(actor, auth.Write, "check containers"); err != nil {
		return err
	}
	return s.safe(s.opt.Checks.WatchOne(ctx, c))
}

// MajorAdvice returns what the update of a container takes when it is a major one, as far as its image is known, and
// the address of the page that says so; nil for nothing.
func (s *Service) MajorAdvice(c sdk.Container) (advice phrase.Phrase, page string) {
	rules := s.opt.Rules(c)
	if rules.Preset == nil || !rules.IsMajorUpdate(&c) {
		return nil, ""
	}
	return preset.Said(rules.Preset.Needs), rules.Preset.Page
}

// Explain makes the decision of a check for a stored container again, stores
// nothing, and returns how it came about.
func (s *Service) Explain(ctx context.Context, c sdk.Container) check.Explanation {
	why := s.opt.Checks.Explain(ctx, c)
	why.Error, why.Summary, why.Warnings = s.opt.Redact(why.Error), s.said(why.Summary), s.said(why.Warnings)
	why.Rules = slices.Clone(why.Rules)
	for i := range why.Rules {
		why.Rules[i].Value = s.opt.Redact(why.Rules[i].Value)
	}
	return why
}

// NextCheck returns when a watcher is checked next; the zero time when that is not planned.
func (s *Service) NextCheck(watcher string) time.Time { return s.opt.Checks.Next(watcher) }

// Progress returns how far the checks of whole watchers are that are under way.
func (s *Service) Progress() []check.Progress { return s.opt.Checks.Progress() }

// RunTrigger runs a trigger for containers, and returns when it has ended. The end
// of ctx cancels it. test marks the run as a test. The error is an ErrNotFound when
// there is no such trigger.
func (s *Service) RunTrigger(
	ctx context.Context, actor auth.Actor, typ, name string, containers []sdk.Container, test bool,
) error {
	t, err := s.find(kind.Trigger, typ, name)
	if err == nil {
		err = allow(actor, auth.Write, "run triggers")
	}
	if err != nil {
		return err
	}
	if _, err := t.State(); err != nil && !t.Usable() {
		return s.safe(err)
	}
	return s.safe(s.opt.Triggers.RunNow(ctx, t.ID(), containers, dispatch.ManualRun{Test: test, Actor: actor.User}))
}
