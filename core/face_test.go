package core

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/web"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestWritten(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{{"a", "a"}, {[]string{"a", "b"}, "a,b"}, {true, "true"}, {int64(5), "5"}, {map[string]any{}, ""}} {
		if got := written(c.value); got != c.want {
			t.Errorf("%v: got %q", c.value, got)
		}
	}
}

func TestOccupied(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the memory of a process in /proc")
	}
	if n := occupied(os.Getpid()); n < 1<<20 || n > 1<<36 {
		t.Errorf("this process occupies %d bytes", n)
	}
	if n := occupied(0); n != 0 {
		t.Errorf("no process occupies %d bytes", n)
	}
	if n := occupied(1 << 30); n != 0 {
		t.Errorf("a process that is gone occupies %d bytes", n)
	}
}

func TestArchiveShowsNoSecret(t *testing.T) {
	s, err := store.Open(t.Context(), t.TempDir()+"/x.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	const secret = "s3cret"
	c := sdk.Container{ID: "1", Name: "web", Watcher: "local", Error: &sdk.ContainerError{Message: secret}}
	if err := s.Commit(t.Context(), event.Change{Events: []event.Event{
		{Type: event.CheckFailed, Subject: "local", Payload: event.Payload{Check: &event.Check{Error: secret}}},
		{Type: event.TriggerFailed, Subject: secret, Payload: event.Payload{Delivery: &event.Delivery{Error: secret}}},
		{Type: event.PluginBroken, Subject: "x", Payload: event.Payload{Plugin: &event.Plugin{Error: secret}}},
		{Type: event.LoginFailed, Subject: "x", Payload: event.Payload{Login: &event.Login{Error: secret}}},
		{Type: event.ContainerChanged, Subject: "local/web", Payload: event.Payload{Container: &c}},
	}}); err != nil {
		t.Fatal(err)
	}
	a := archive{store: s, redact: func(text string) string { return strings.ReplaceAll(text, secret, "***") }, wake: func() {}}
	// A program, and whoever did not say who they are, is not told of logins.
	for _, who := range []auth.Identity{{}, {User: "x", Method: "token", Scope: auth.Read}, {User: "x", Method: "token", Scope: auth.Write}} {
		found, err := a.History(auth.With(t.Context(), who), event.Filter{})
		if err != nil || len(found) != 4 || slices.ContainsFunc(found, func(e event.Event) bool { return e.Login != nil }) {
			t.Errorf("%+v sees %d events, %v", who, len(found), err)
		}
	}
	person := auth.With(t.Context(), auth.Identity{User: auth.AnonymousName, Method: auth.AnonymousName, Scope: auth.Write})
	found, err := a.History(person, event.Filter{})
	if err != nil || len(found) != 5 {
		t.Fatalf("%d events, %v", len(found), err)
	}
	for _, e := range found {
		texts := []string{e.Subject}
		switch {
		case e.Check != nil:
			texts = append(texts, e.Check.Error)
		case e.Delivery != nil:
			texts = append(texts, e.Delivery.Error)
		case e.Plugin != nil:
			texts = append(texts, e.Plugin.Error)
		case e.Login != nil:
			texts = append(texts, e.Login.Error)
		default:
			texts = append(texts, e.Container.Error.Message)
		}
		if strings.Contains(strings.Join(texts, " "), secret) {
			t.Errorf("%s: %q", e.Type, texts)
		}
	}
	if err := a.Retry(context.Background(), 77); !errors.Is(err, sdk.ErrNotFound) || errors.Is(err, web.ErrNotFailed) {
		t.Errorf("retry of nothing: %v", err)
	}
}
