package service

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

func TestHistoryHidesLoginsFromTokens(t *testing.T) {
	s, stored := newService(t, nil)
	if err := stored.Commit(t.Context(), event.Change{Events: []event.Event{
		{Type: event.CheckFailed, Subject: "local", Payload: event.Payload{Check: &event.Check{Error: "with " + secret}}},
		{Type: event.LoginFailed, Subject: "ana", Payload: event.Payload{Login: &event.Login{Error: "with " + secret}}},
		{Type: event.SettingChanged, Subject: "log.level", Payload: event.Payload{Setting: &event.Setting{}}},
	}}); err != nil {
		t.Fatal(err)
	}
	anonymous := auth.Actor{
		Identity: auth.Identity{User: auth.AnonymousName, Method: auth.AnonymousName, Scope: auth.Write},
	}
	for _, test := range []struct {
		actor auth.Actor
		want  int
	}{{unknown, 1}, {reader, 1}, {writer, 1}, {anonymous, 3}, {loggedIn, 3}} {
		found, err := s.History(t.Context(), test.actor, event.Filter{})
		if err != nil || len(found) != test.want {
			t.Errorf("%+v sees %d events, want %d (%v)", test.actor, len(found), test.want, err)
		}
		if slices.ContainsFunc(found, func(e event.Event) bool { return !Visible(test.actor.Identity, e.Type) }) {
			t.Errorf("%+v sees what is not Visible", test.actor)
		}
		for _, e := range found {
			if e.Check != nil && e.Check.Error != "with ***" || e.Login != nil && e.Login.Error != "with ***" {
				t.Errorf("%s is not redacted", e.Type)
			}
		}
	}
}
