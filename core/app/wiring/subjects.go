package wiring

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// Subjects returns what the updates of stored containers are decided with, as checks do.
type Subjects struct {
	Store *store.Store
	Rules func(sdk.Container) policy.Rules
	Facts func(sdk.Container) policy.Facts
	// Choices is nil where users cannot decide.
	Choices func(subject string) []policy.Choice
	// ZoneName returns the setting policy.zone.
	ZoneName func() string
}

// Subjects implements service.Policies.
func (s Subjects) Subjects(ctx context.Context) ([]preview.Subject, error) {
	found, err := s.Store.Candidates(ctx)
	if err != nil {
		return nil, err
	}
	var all []preview.Subject
	for _, rec := range s.Store.Snapshot().All() {
		c := rec.Container
		subject := event.Subject(c)
		of := preview.Subject{
			Running: c.Image.Tag.Value,
			Update:  policy.Update{Subject: subject, Candidates: found[subject].Candidates},
			Rules:   s.Rules(c), Facts: s.Facts(c),
		}
		if s.Choices != nil {
			of.Choices = s.Choices(subject)
		}
		all = append(all, of)
	}
	return all, nil
}

// Zone implements service.Policies. A zone that does not exist is reported where
// the configuration is read.
func (s Subjects) Zone() *time.Location {
	if zone, err := window.Zone(s.ZoneName()); err == nil {
		return zone
	}
	return time.Local
}
