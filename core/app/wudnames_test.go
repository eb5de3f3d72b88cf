package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// wudScene is an installation between its starts.
type wudScene struct {
	t     *testing.T
	store *store.Store
	conf  *config.Config
}

func (s *wudScene) app() *App {
	return &App{opt: Options{Options: parts.Options{Config: s.conf}}, store: s.store, log: hclog.NewNullLogger()}
}

// start reports whether it publishes under the names of What's Up Docker.
func (s *wudScene) start() bool {
	s.t.Helper()
	keeps, err := s.app().keepsWUDNames(s.t.Context())
	s.must(err)
	return keeps
}

func (s *wudScene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *wudScene) file() string { return filepath.Join(s.conf.Store.Path, s.conf.WUDFile) }

func (s *wudScene) writeFile() {
	s.must(os.WriteFile(s.file(), []byte(`{"collections":[{"name":"containers","data":[]}]}`), 0o600))
}

// planned is what a dispatcher leaves: how far it has read events, and whether triggers have backlogs.
func (s *wudScene) planned(backlogs bool, cursor int64) {
	if backlogs {
		upTo := delivery.Summary{Due: time.Now()}
		s.must(s.store.PlanSummary(s.t.Context(), "backlog", upTo))
	}
	_, err := s.store.Plan(s.t.Context(), dispatch.Reader, cursor, nil)
	s.must(err)
}

// TestKeepsWUDNames: whoever comes from What's Up Docker or has published under its names keeps them; nobody else has
// anything called wud.
func TestKeepsWUDNames(t *testing.T) {
	withMQTT := func(s *wudScene) {
		mqtt := config.Component{Kind: kind.Trigger, Type: "mqtt", Name: "home"}
		s.conf.Components = append(s.conf.Components, mqtt)
	}
	for name, c := range map[string]struct {
		before func(s *wudScene)
		want   bool
	}{
		"none of it": {func(*wudScene) {}, false},
		"a variable": {func(s *wudScene) { s.conf.FromWUD = true }, true},
		"the file":   {func(s *wudScene) { s.writeFile() }, true},
		"an imported file that has gone": {func(s *wudScene) {
			s.writeFile()
			s.app().importWUD(s.t.Context())
			s.must(os.Remove(s.file()))
		}, true},
		"variables that were renamed": {func(s *wudScene) {
			withMQTT(s)
			s.conf.FromWUD = true
			s.start()
			s.conf.FromWUD = false
		}, true},
		"a file that has gone": {func(s *wudScene) {
			s.writeFile()
			withMQTT(s)
			s.start()
			s.must(os.Remove(s.file()))
		}, true},
		"a variable that has gone, and nothing published": {func(s *wudScene) {
			s.conf.FromWUD = true
			s.start()
			s.conf.FromWUD = false
		}, false},
		"a store of a Dogwatch without names of its own": {func(s *wudScene) { s.planned(false, 7) }, true},
		"a store of this Dogwatch":                       {func(s *wudScene) { s.planned(true, 7) }, false},
		"names of its own, published": {func(s *wudScene) {
			withMQTT(s)
			s.start()
			s.planned(true, 7)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			watcher := config.Component{Kind: kind.Watcher, Type: "docker", Name: "local"}
			conf := &config.Config{WUDFile: "wud.json", Components: []config.Component{watcher}}
			conf.Store.Path = t.TempDir()
			opened, err := store.Open(t.Context(), filepath.Join(conf.Store.Path, "dogwatch.db"), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			s := &wudScene{t: t, store: opened, conf: conf}
			c.before(s)
			for range 2 { // and so at every start
				if got := s.start(); got != c.want {
					t.Errorf("keeps the names of WUD: %t, want %t", got, c.want)
				}
			}
		})
	}
}
