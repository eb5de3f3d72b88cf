package app

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// plainLogins are those of registries without any.
type plainLogins struct{}

func (plainLogins) Login(context.Context, string, string) (artifact.Login, error) {
	return artifact.Login{Plain: true}, nil
}
func (plainLogins) Close() {}

// TestNewerPluginIsFoundOnce: each newer version is one event, also over restarts, and at
// most one look a day asks the registry.
func TestNewerPluginIsFoundOnce(t *testing.T) {
	var requests atomic.Int64
	next := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		next.ServeHTTP(w, r)
	}))
	defer server.Close()
	repo := strings.TrimPrefix(server.URL, "http://") + "/me/lamp"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	source := func(tag string) artifact.Source {
		s, err := artifact.ParseSource(repo + ":" + tag)
		must(err)
		return s
	}
	push := func(tag, text string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "lamp")
		must(os.WriteFile(file, []byte("#!/bin/sh\n# "+text+"\n"), 0o755))
		_, err := artifact.Push(t.Context(), plainLogins{}, "dogwatch/test", *source(tag).Image,
			[]artifact.Built{{File: file, Plugin: artifact.Plugin{Name: "lamp", Version: tag}}}, nil)
		must(err)
	}
	dir := filepath.Join(t.TempDir(), "plugins")
	put := func(tag string) {
		t.Helper()
		f, err := install.Open(t.Context(), dir)
		must(err)
		defer f.Close()
		s, err := f.Fetch(t.Context(), artifact.Fetcher{Logins: plainLogins{}, Platform: artifact.Here()}, install.Request{
			Source: source(tag),
		})
		must(err)
		must(f.Install(s))
	}
	push("1.0.0", "1.0.0")
	put("1.0.0")

	now := time.Now()
	var found []event.Event
	start := func() *outdated {
		return &outdated{
			dir: dir, logins: func() RegistryLogins { return plainLogins{} }, log: hclog.NewNullLogger(),
			now: func() time.Time { return now }, tried: map[string]time.Time{},
			may:    func(string, []string) error { return nil },
			record: func(_ context.Context, c event.Change) error { found = append(found, c.Events...); return nil },
		}
	}
	look := func(o *outdated, requested bool, want string) {
		t.Helper()
		found = nil
		before := requests.Load()
		o.look(t.Context())
		if (requests.Load() > before) != requested {
			t.Errorf("%d requests", requests.Load()-before)
		}
		got := ""
		for _, e := range found {
			got += string(e.Type) + " " + e.Subject + " " + strings.TrimPrefix(e.Plugin.To, repo)
		}
		if got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	available := func(want string) {
		t.Helper()
		all, err := install.Read(dir)
		if err != nil || strings.TrimPrefix(all[0].Available, repo) != want {
			t.Errorf("available is %+v, %v; want %q", all, err, want)
		}
	}
	o := start()
	look(o, true, "")
	push("1.1.0", "1.1.0")
	look(o, false, "")
	now = now.Add(lookEvery)
	look(o, true, "plugin.outdated lamp :1.1.0")
	available(":1.1.0")
	look(start(), false, "") // after a restart
	now = now.Add(lookEvery)
	look(start(), true, "")
	push("1.1.0", "1.1.0 built anew")
	now = now.Add(lookEvery)
	look(o, true, "plugin.outdated lamp :1.1.0")
	put("1.1.0")
	available("")
	now = now.Add(lookEvery)
	look(o, true, "")

	// A registry that does not respond is not asked again for a day, and what was known stays.
	push("1.2.0", "1.2.0")
	now = now.Add(lookEvery)
	look(o, true, "plugin.outdated lamp :1.2.0")
	server.Close()
	now = now.Add(lookEvery)
	look(o, false, "")
	available(":1.2.0")
}
