package core

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// inherited is a container of What's Up Docker, with an update if told is true.
func inherited(watcher, name string, told bool) sdk.Container {
	c := sdk.Container{ID: "id-" + name, Name: name, Watcher: watcher, Image: sdk.Image{Name: "library/" + name, Tag: sdk.Tag{Value: "1.0"}}}
	if told {
		c.UpdateAvailable, c.UpdateKind = true, sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "1.1"}
	}
	return c
}

func TestAdopted(t *testing.T) {
	web := update.Notified{Container: "id-web", Subject: "local/web", Tag: "1.0", Remote: "1.1"}
	for title, tc := range map[string]struct {
		containers []sdk.Container
		watchers   []string
		want       []string
		told       []update.Notified
	}{
		"as it was":               {[]sdk.Container{inherited("local", "web", true), inherited("local", "db", false)}, []string{"local"}, []string{"local/web", "local/db"}, []update.Notified{web}},
		"the watcher was renamed": {[]sdk.Container{inherited("nas", "web", true), inherited("nas", "db", false)}, []string{"local"}, []string{"local/web", "local/db"}, []update.Notified{web}},
		"a watcher is gone": {[]sdk.Container{inherited("local", "db", false), inherited("nas", "web", true)}, []string{"local"}, []string{"local/db"},
			[]update.Notified{{Container: "id-web", Subject: "nas/web", Tag: "1.0", Remote: "1.1"}}},
		"a watcher came":   {[]sdk.Container{inherited("local", "web", true)}, []string{"local", "nas"}, []string{"local/web"}, []update.Notified{web}},
		"nobody knows":     {[]sdk.Container{inherited("old", "web", true)}, []string{"local", "nas"}, nil, []update.Notified{{Container: "id-web", Subject: "old/web", Tag: "1.0", Remote: "1.1"}}},
		"nothing was left": {nil, []string{"local"}, nil, nil},
	} {
		containers, told := adopted(tc.containers, tc.watchers)
		var got []string
		for _, c := range containers {
			got = append(got, c.Watcher+"/"+c.Name)
		}
		if !slices.Equal(got, tc.want) || !slices.Equal(told, tc.told) {
			t.Errorf("%s: %v, %+v", title, got, told)
		}
	}
}

// adopting is an App that has what adopt needs, and its log.
func adopting(t *testing.T, file string) (*App, *bytes.Buffer) {
	t.Helper()
	folder := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(folder, "dogwatch.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	log := new(bytes.Buffer)
	conf := &config.Config{WUDFile: file, Components: []config.Component{{Kind: kind.Watcher, Type: "docker", Name: "local"}}}
	conf.Store.Path = folder
	return &App{opt: Options{Config: conf}, store: s, log: hclog.New(&hclog.LoggerOptions{Output: log})}, log
}

const wudRecords = `{"collections":[{"name":"containers","data":[%s]},{"name":"app","data":[{"name":"wud","version":"%s"}]}]}`

const wudRecord = `{"data":{"id":"c1","name":"web","watcher":"local","image":{"registry":{"url":"https://ghcr.io/v2"},"name":"a/web","tag":{"value":"1.0"}},
	"result":{"tag":"1.1"},"updateAvailable":true}},{"data":{"id":"broken"}}`

// TestAdoptOnce: the file of whatever name is imported, with one line in the log, and then never looked at again.
func TestAdoptOnce(t *testing.T) {
	a, log := adopting(t, "my.json")
	a.adopt(t.Context())
	if log.Len() > 0 {
		t.Fatalf("nothing is there, and the log says %s", log)
	}
	path := filepath.Join(a.opt.Config.Store.Path, "my.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf(wudRecords, wudRecord, "8.3.1"))
	a.adopt(t.Context())
	for _, want := range []string{"imported from What's Up Docker", "version=8.3.1 containers=1 told=1", "records=1"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is missing in %s", want, log)
		}
	}
	log.Reset()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write("damaged")
	a.adopt(t.Context())
	if got := a.store.Snapshot().All(); log.Len() > 0 || len(got) != 1 || got[0].Container.ID != "c1" {
		t.Errorf("the second time: %s", log)
	}
}

// TestAdoptRefused: one message that names the file and the remedy, until the file is mended.
func TestAdoptRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"collections":`: "ends too early", "no JSON": "damaged", "{}": "not the store of What's Up Docker",
		fmt.Sprintf(wudRecords, wudRecord, "9.0.2"): "later What's Up Docker than 8: by 9.0.2",
	} {
		a, log := adopting(t, "wud.json")
		path := filepath.Join(a.opt.Config.Store.Path, "wud.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a.adopt(t.Context())
		if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) || !strings.Contains(got, path) || !strings.Contains(got, "mend the file, or move it away") {
			t.Errorf("%s: the log says %s", text, got)
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, wudRecords, wudRecord, "unknown"), 0o600); err != nil {
			t.Fatal(err)
		}
		a.adopt(t.Context())
		if len(a.store.Snapshot().All()) != 1 {
			t.Errorf("mended, it is not imported: %s", log)
		}
	}
}
