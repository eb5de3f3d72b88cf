package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

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
	a := &App{opt: Options{Config: conf}, store: s, log: hclog.NewNullLogger()}
	a.importWUD(t.Context())
	if _, known := s.Snapshot().Named("nas", "web"); !known {
		t.Errorf("imported are %+v", s.Snapshot().All())
	}
}
