package service

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/sdk"
)

// RedactEvent returns an event without secrets in the texts that come from
// elsewhere: errors, the steps of operations, and the reasons of checks. Names, ids and all else
// that clients match on stay as they are: a secret that is an everyday word must
// not tear holes into them. The event that is passed in is not changed.
func (s *Service) RedactEvent(e event.Event) event.Event {
	redactIn(s, &e.Container, func(c *sdk.Container) []*string {
		texts := []*string{&c.Check.PostponedReason, &c.Check.Reason}
		if c.Error != nil {
			own := *c.Error
			c.Error = &own
			texts = append(texts, &own.Message)
		}
		return texts
	})
	redactIn(s, &e.Check, func(c *event.Check) []*string { return []*string{&c.Error} })
	redactIn(s, &e.Watcher, func(w *event.Outage) []*string { return []*string{&w.Error} })
	redactIn(s, &e.Delivery, func(d *event.Delivery) []*string { return []*string{&d.Title, &d.Error} })
	redactIn(s, &e.Plugin, func(p *event.Plugin) []*string { return []*string{&p.Error} })
	redactIn(s, &e.Login, func(l *event.Login) []*string { return []*string{&l.Error} })
	redactIn(s, &e.Operation, func(o *event.Operation) []*string { return []*string{&o.Step, &o.Error, &o.Log} })
	redactIn(s, &e.Scan, func(c *event.Scan) []*string { return []*string{&c.Error} })
	return e
}

// redactIn puts a copy of a part of an event in its place, without secrets in some texts of it.
func redactIn[T any](s *Service, part **T, texts func(*T) []*string) {
	if *part == nil {
		return
	}
	own := **part
	for _, text := range texts(&own) {
		*text = s.opt.Redact(*text)
	}
	*part = &own
}

// Redact returns a text that comes from elsewhere, such as the label or the error of
// a container, without secrets.
func (s *Service) Redact(text string) string { return s.opt.Redact(text) }

// texts returns texts without secrets, in a slice of their own.
func (s *Service) texts(all []string) []string {
	redacted := slices.Clone(all)
	for i := range redacted {
		redacted[i] = s.opt.Redact(redacted[i])
	}
	return redacted
}

// said returns phrases without secrets.
func (s *Service) said(all []phrase.Text) []phrase.Text {
	redacted := slices.Clone(all)
	for i := range redacted {
		redacted[i].Phrase = phrase.Change(redacted[i].Phrase, s.opt.Redact)
	}
	return redacted
}

// safe returns an error whose text has no secrets.
func (s *Service) safe(err error) error { return redact.Error(err, s.opt.Redact) }
