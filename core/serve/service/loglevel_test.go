package service

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestSetLogLevel: a change counts at once and is recorded with who made it.
func TestSetLogLevel(t *testing.T) {
	var out bytes.Buffer
	root, err := logging.New(logging.Options{Output: &out, Levels: []string{"check=error"}})
	if err != nil {
		t.Fatal(err)
	}
	s, stored := newService(t, func(o *Options) { o.Log = root })
	actor := auth.Actor{Identity: loggedIn.Identity, Address: netip.MustParseAddr("192.0.2.7")}
	plugin := root.Named("plugin.trigger")
	for _, level := range []string{"debug", "debug", "WARN"} {
		if err := s.SetLogLevel(t.Context(), actor, level); err != nil {
			t.Fatal(err)
		}
		if got, want := s.LogLevel(), strings.ToLower(level); got != want || plugin.GetLevel().String() != want ||
			root.Named("check").GetLevel() != hclog.Error {
			t.Errorf("the level is %s, that of a plugin %s, want %s", got, plugin.GetLevel(), want)
		}
	}
	var invalid *sdk.InvalidError
	for _, wrong := range []string{"", "loud", "off"} {
		if err := s.SetLogLevel(t.Context(), actor, wrong); !errors.As(err, &invalid) || s.LogLevel() != "warn" {
			t.Errorf("%q: %v, and the level is %s", wrong, err, s.LogLevel())
		}
	}
	all, err := stored.Events(t.Context(), 0, 0)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d events, %v: want one for each change", len(all), err)
	}
	for i, want := range []event.Setting{{From: "info", To: "debug", User: "ana", Address: "192.0.2.7"}, {
		From: "debug", To: "warn", User: "ana", Address: "192.0.2.7",
	}} {
		if e := all[i]; e.Type != event.SettingChanged || e.Subject != "log.level" || e.Setting == nil || *e.Setting != want {
			t.Errorf("%+v, want %+v", e, want)
		}
	}
	if n := strings.Count(out.String(), "the log level changes"); n != 2 {
		t.Errorf("logged %d times:\n%s", n, out.String())
	}
}

// TestSetLogLevelConcurrently: of changes at the same time each is recorded as what it was.
func TestSetLogLevelConcurrently(t *testing.T) {
	root, err := logging.New(logging.Options{Output: new(bytes.Buffer)})
	if err != nil {
		t.Fatal(err)
	}
	s, stored := newService(t, func(o *Options) { o.Log = root })
	var all sync.WaitGroup
	for _, level := range []string{"debug", "info", "warn", "error"} {
		all.Go(func() {
			for range 5 {
				if err := s.SetLogLevel(t.Context(), writer, level); err != nil {
					t.Error(err)
				}
				root.Named("plugin").Debug("meanwhile")
			}
		})
	}
	all.Wait()
	changes, err := stored.Events(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := "info"
	for _, e := range changes {
		if e.Setting.From != last || e.Setting.To == last {
			t.Errorf("%+v after %s", e.Setting, last)
		}
		last = e.Setting.To
	}
	if s.LogLevel() != last {
		t.Errorf("the level is %s, the last change was to %s", s.LogLevel(), last)
	}
}
