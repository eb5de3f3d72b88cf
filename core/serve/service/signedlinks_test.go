package service

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// fakeLinks record what is revoked, with its events.
type fakeLinks struct {
	revoked []string
	events  []event.Event
}

func (f *fakeLinks) Enabled() bool { return true }

func (f *fakeLinks) Revoke(_ context.Context, triggerID string, ev ...event.Event) error {
	f.revoked, f.events = append(f.revoked, triggerID), append(f.events, ev...)
	return nil
}

// oneTrigger has ntfy.main.
type oneTrigger struct{ Components }

func (oneTrigger) Trigger(id string) (*component.Trigger, bool) {
	return &component.Trigger{Component: component.Component{Type: "ntfy", Name: "main"}},
		strings.EqualFold(id, "ntfy.main")
}

func TestRevokeLinks(t *testing.T) {
	links := &fakeLinks{}
	opt := Options{Components: oneTrigger{}, Links: links, Log: hclog.NewNullLogger(), Now: time.Now}
	s := New(opt)
	ana := auth.Actor{
		Identity: auth.Identity{User: "ana", Method: "basic.main", Scope: auth.Manage},
		Address:  netip.MustParseAddr("192.0.2.1"),
	}
	for given, want := range map[string]string{"": "", "NTFY.Main": "ntfy.main", "smtp.gone": "smtp.gone"} {
		links.revoked, links.events = nil, nil
		err := s.RevokeSignedLinks(t.Context(), ana, given)
		if err != nil || len(links.revoked) != 1 || links.revoked[0] != want {
			t.Fatalf("%q: revoked %q, %v", given, links.revoked, err)
		}
		e := links.events[0]
		if e.Type != event.LinksRevoked || e.Subject != "ana" ||
			*e.Login != (event.Login{Method: "basic.main", Address: "192.0.2.1", Trigger: want}) || !e.Type.Private() {
			t.Errorf("%q: event %+v, %+v", given, e, e.Login)
		}
	}
	var invalid *sdk.InvalidError
	if err := s.RevokeSignedLinks(t.Context(), ana, strings.Repeat("x", 1000)); !errors.As(err, &invalid) {
		t.Errorf("a long id: %v", err)
	}
	opt.Links = signedlink.None{}
	if err := New(opt).RevokeSignedLinks(t.Context(), ana, ""); !errors.Is(err, sdk.ErrUnsupported) ||
		!strings.Contains(err.Error(), "public.url") {
		t.Errorf("without links: %v", err)
	}
}
