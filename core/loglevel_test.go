package core

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/logging"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestLogLevel: a change counts at once and is recorded with who made it.
func TestLogLevel(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out bytes.Buffer
	root, err := logging.New(logging.Options{Output: &out, Levels: []string{"check=error"}})
	if err != nil {
		t.Fatal(err)
	}
	a := auth.New(auth.Options{Config: &config.Config{}, Store: s, Log: hclog.NewNullLogger()})
	l := &logLevel{root: root, store: s, auth: a, now: time.Now}
	r := httptest.NewRequest("POST", "/settings/log", nil)
	r.RemoteAddr = "192.0.2.7:1234"
	r = r.WithContext(auth.With(r.Context(), auth.Identity{User: "ana", Method: "basic.ana", Scope: auth.Manage}))
	plugin := root.Named("plugin.trigger")
	for _, level := range []string{"debug", "debug", "WARN"} {
		if err := l.SetLevel(r, level); err != nil {
			t.Fatal(err)
		}
		if got, want := l.Level(), strings.ToLower(level); got != want || plugin.GetLevel().String() != want || root.Named("check").GetLevel() != hclog.Error {
			t.Errorf("the level is %s, that of a plugin %s, want %s", got, plugin.GetLevel(), want)
		}
	}
	var invalid *sdk.InvalidError
	for _, wrong := range []string{"", "loud", "off"} {
		if err := l.SetLevel(r, wrong); !errors.As(err, &invalid) || l.Level() != "warn" {
			t.Errorf("%q: %v, and the level is %s", wrong, err, l.Level())
		}
	}
	all, err := s.Events(t.Context(), 0, 0)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d events, %v: want one for each change", len(all), err)
	}
	for i, want := range []event.Setting{{From: "info", To: "debug", User: "ana", Address: "192.0.2.7"}, {From: "debug", To: "warn", User: "ana", Address: "192.0.2.7"}} {
		if e := all[i]; e.Type != event.SettingChanged || e.Subject != "log.level" || e.Setting == nil || *e.Setting != want {
			t.Errorf("%+v, want %+v", e, want)
		}
	}
	if n := strings.Count(out.String(), "the log level changes"); n != 2 {
		t.Errorf("told %d times:\n%s", n, out.String())
	}
}

// TestLogLevelOfMany: of changes at the same time each is recorded as what it was.
func TestLogLevelOfMany(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	root, err := logging.New(logging.Options{Output: new(bytes.Buffer)})
	if err != nil {
		t.Fatal(err)
	}
	l := &logLevel{root: root, store: s, auth: auth.New(auth.Options{Config: &config.Config{}, Store: s, Log: hclog.NewNullLogger()}), now: time.Now}
	var all sync.WaitGroup
	for _, level := range []string{"debug", "info", "warn", "error"} {
		all.Go(func() {
			for range 5 {
				if err := l.SetLevel(httptest.NewRequest("POST", "/settings/log", nil), level); err != nil {
					t.Error(err)
				}
				root.Named("plugin").Debug("meanwhile")
			}
		})
	}
	all.Wait()
	changes, err := s.Events(t.Context(), 0, 0)
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
	if l.Level() != last {
		t.Errorf("the level is %s, the last change was to %s", l.Level(), last)
	}
}
