package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// newApp returns an App without plugins and server, configured by the environment, and what it logs of errors.
func newApp(t *testing.T, environ ...string) (*App, *bytes.Buffer) {
	t.Helper()
	c, err := config.Load(config.Input{Environ: append(environ, "DOGWATCH_SERVER_ENABLED=false")})
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	a, err := New(t.Context(), Options{
		Options: parts.Options{
			Config:   c,
			Log:      hclog.New(&hclog.LoggerOptions{Output: &errs, Level: hclog.Error}),
			Redactor: new(logging.Redactor),
			Now:      time.Now,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, &errs
}

// TestAppClosesWhatUsesTheStoreBeforeIt: what was counted of requests is kept, and the store is free then.
func TestAppClosesWhatUsesTheStoreBeforeIt(t *testing.T) {
	folder := "DOGWATCH_STORE_PATH=" + t.TempDir()
	a, errs := newApp(t, folder)
	taken, _ := a.queries.Budget().Take("ghcr.io", false)
	taken.Done(nil, false)
	a.Close()
	if errs.Len() > 0 {
		t.Errorf("logged %s", errs)
	}
	again, _ := newApp(t, folder)
	defer again.Close()
	if all, err := again.store.Requests(t.Context()); err != nil || len(all) != 1 || all[0].Host != "ghcr.io" {
		t.Errorf("kept %+v, %v", all, err)
	}
}

// TestWhatIsSwitchedOffSaysSo: nothing that is switched off passes for there.
func TestWhatIsSwitchedOffSaysSo(t *testing.T) {
	a, _ := newApp(t, "DOGWATCH_STORE_PATH="+t.TempDir(), "DOGWATCH_NOTES_ENABLED=false")
	defer a.Close()
	user := auth.Actor{Identity: auth.Identity{Scope: auth.Manage}}
	if has, may := a.service.CanScan(user); has || may || a.service.HasLinks() || a.service.HasNotes() {
		t.Errorf("scans %v, links %v, notes %v", has, a.service.HasLinks(), a.service.HasNotes())
	}
	c := sdk.Container{ID: "c1", Name: "web", Watcher: "local", UpdateAvailable: true, Result: &sdk.Result{Tag: "2"}}
	if err := a.service.RevokeSignedLinks(t.Context(), user, ""); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("revoke links: %v", err)
	}
	if _, err := a.service.ScanStatus(t.Context(), c); !errors.Is(err, scan.ErrNoScanner) {
		t.Errorf("the status of a scan: %v", err)
	}
	if err := a.service.Scan(user, c); !errors.Is(err, scan.ErrNoScanner) {
		t.Errorf("scan: %v", err)
	}
	if n := a.service.Notes(t.Context(), c); n.Notes == nil || len(n.Notes) > 0 || n.Reason == "" {
		t.Errorf("notes %+v", n)
	}
	if webhooks := a.service.Webhooks(); len(webhooks) > 0 {
		t.Errorf("webhooks %v", webhooks)
	}
	if text, known := a.vulnerabilities(c, "sha256:new"); known {
		t.Errorf("the plan says %q", text)
	}
}

// TestImportWUDReadsTheConfiguredFile from the store folder, for the configured watchers.
func TestImportWUDReadsTheConfiguredFile(t *testing.T) {
	folder := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(folder, "dogwatch.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const file = `{"collections":[{"name":"containers","data":[{"data":{"id":"c1","name":"web","watcher":"old",
		"image":{"registry":{"url":"https://ghcr.io/v2"},"name":"a/web","tag":{"value":"1.0"}}}}]}]}`
	if err := os.WriteFile(filepath.Join(folder, "my.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	conf := &config.Config{
		WUDFile: "my.json", Components: []config.Component{{Kind: kind.Watcher, Type: "docker", Name: "nas"}},
	}
	conf.Store.Path = folder
	a := &App{opt: Options{Options: parts.Options{Config: conf}}, store: s, log: hclog.NewNullLogger()}
	if err := a.importWUD(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, known := s.Snapshot().Named("nas", "web"); !known {
		t.Errorf("imported are %+v", s.Snapshot().All())
	}
}
