package service

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// RedactEvent returns an event without secrets in the texts that come from
// elsewhere: errors, the steps of operations, and the reasons of checks. Names, ids and all else
// that clients match on stay as they are: a secret that is an everyday word must
// not tear holes into them. The event that is passed in is not changed.
func (s *Service) RedactEvent(e event.Event) event.Event {
	redact := s.opt.Redact
	if e.Container != nil {
		c := *e.Container
		c.Check.PostponedReason, c.Check.Reason = redact(c.Check.PostponedReason), redact(c.Check.Reason)
		if c.Error != nil {
			c.Error = &sdk.ContainerError{Message: redact(c.Error.Message), Cause: c.Error.Cause}
		}
		e.Container = &c
	}
	if e.Check != nil {
		c := *e.Check
		c.Error = redact(c.Error)
		e.Check = &c
	}
	if e.Watcher != nil {
		w := *e.Watcher
		w.Error = redact(w.Error)
		e.Watcher = &w
	}
	if e.Delivery != nil {
		d := *e.Delivery
		d.Error = redact(d.Error)
		e.Delivery = &d
	}
	if e.Plugin != nil {
		p := *e.Plugin
		p.Error = redact(p.Error)
		e.Plugin = &p
	}
	if e.Login != nil {
		l := *e.Login
		l.Error = redact(l.Error)
		e.Login = &l
	}
	if e.Operation != nil {
		o := *e.Operation
		o.Step, o.Error, o.Log = redact(o.Step), redact(o.Error), redact(o.Log)
		e.Operation = &o
	}
	if e.Scan != nil {
		c := *e.Scan
		c.Error = redact(c.Error)
		e.Scan = &c
	}
	return e
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

// redactedError has the text of another error without its secrets, and its kind.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// safe returns an error whose text has no secrets.
func (s *Service) safe(err error) error {
	if err == nil {
		return nil
	}
	text := s.opt.Redact(err.Error())
	if text == err.Error() {
		return err
	}
	return &redactedError{text: text, err: err}
}
