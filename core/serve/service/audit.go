package service

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// The audit of what users change at run time: settings, and what plugins may do. Updates, choices and scans have
// their users in the events of their own; sign-ins and tokens are audited by package auth, and reloads of the
// configuration by package reload.

// auditSetting appends to the log of events how a user changed a setting. What was changed stands even if that fails.
func (s *Service) auditSetting(ctx context.Context, subject string, changed event.Setting) {
	e := event.Event{
		At: s.opt.Now(), Type: event.SettingChanged, Subject: subject, Payload: event.Payload{Setting: &changed},
	}
	if err := s.opt.Store.Commit(context.WithoutCancel(ctx), event.Change{Events: []event.Event{e}}); err != nil {
		s.log.Error("record that a setting changed", "setting", subject, "error", err)
	}
}

// auditPlugin records what a user decided about a plugin.
func (s *Service) auditPlugin(ctx context.Context, actor auth.Actor, subject, from, to string) {
	changed := event.Setting{From: from, To: to, User: actor.User, Address: actor.ClientAddress()}
	s.log.Info("a user decides about a plugin", "subject", subject, "from", from, "to", to, "user", changed.User,
		"address", changed.Address)
	s.auditSetting(ctx, subject, changed)
}
