package wudstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// inherited is a container of What's Up Docker, with an update if notified is true.
func inherited(watcher, name string, notified bool) sdk.Container {
	c := sdk.Container{
		ID: "id-" + name, Name: name, Watcher: watcher, Image: sdk.Image{Name: "library/" + name, Tag: sdk.Tag{Value: "1.0"}},
	}
	if notified {
		c.UpdateAvailable, c.UpdateKind = true, sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "1.1"}
	}
	return c
}

func TestImportMatchesWatchers(t *testing.T) {
	web := update.Notified{Container: "id-web", Subject: "local/web", Tag: "1.0", Remote: "1.1"}
	for title, tc := range map[string]struct {
		containers []sdk.Container
		watchers   []string
		want       []string
		notified   []update.Notified
	}{
		"as it was": {[]sdk.Container{inherited("local", "web", true), inherited("local", "db", false)},
			[]string{"local"}, []string{"local/web", "local/db"}, []update.Notified{web}},
		"the watcher was renamed": {[]sdk.Container{inherited("nas", "web", true), inherited("nas", "db", false)},
			[]string{"local"}, []string{"local/web", "local/db"}, []update.Notified{web}},
		"a watcher is gone": {[]sdk.Container{inherited("local", "db", false), inherited("nas", "web", true)},
			[]string{"local"}, []string{"local/db"},
			[]update.Notified{{Container: "id-web", Subject: "nas/web", Tag: "1.0", Remote: "1.1"}}},
		"a watcher came": {[]sdk.Container{inherited("local", "web", true)}, []string{"local", "nas"},
			[]string{"local/web"}, []update.Notified{web}},
		"no watcher has it": {[]sdk.Container{inherited("old", "web", true)}, []string{"local", "nas"}, nil,
			[]update.Notified{{Container: "id-web", Subject: "old/web", Tag: "1.0", Remote: "1.1"}}},
		"nothing was left": {nil, []string{"local"}, nil, nil},
	} {
		containers, notified := importable(tc.containers, tc.watchers)
		var got []string
		for _, c := range containers {
			got = append(got, c.Watcher+"/"+c.Name)
		}
		if !slices.Equal(got, tc.want) || !slices.Equal(notified, tc.notified) {
			t.Errorf("%s: %v, %+v", title, got, notified)
		}
	}
}

// target is where a file is imported to, and what is logged of it.
type target struct {
	store *store.Store
	path  string
	log   *bytes.Buffer
}

func newTarget(t *testing.T, file string) target {
	t.Helper()
	folder := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(folder, "dogwatch.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return target{store: s, path: filepath.Join(folder, file), log: new(bytes.Buffer)}
}

func (to target) run(t *testing.T) {
	t.Helper()
	Import(t.Context(), to.store, to.path, func() []string {
		return []string{"local"}
	}, hclog.New(&hclog.LoggerOptions{Output: to.log}))
}

const wudRecords = `{"collections":[{"name":"containers","data":[%s]},{"name":"app","data":[{"name":"wud","version":"%s"}]}]}`

const wudRecord = `{"data":{"id":"c1","name":"web","watcher":"local","image":{"registry":{"url":"https://ghcr.io/v2"},"name":"a/web","tag":{"value":"1.0"}},
	"result":{"tag":"1.1"},"updateAvailable":true}},{"data":{"id":"broken"}}`

// TestImportOnce: the file of whatever name is imported, with one line in the log, and then never read again.
func TestImportOnce(t *testing.T) {
	to := newTarget(t, "my.json")
	path, log := to.path, to.log
	to.run(t)
	if log.Len() > 0 {
		t.Fatalf("nothing is there, and the log says %s", log)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf(wudRecords, wudRecord, "8.3.1"))
	to.run(t)
	for _, want := range []string{"imported from What's Up Docker", "version=8.3.1 containers=1 notified=1", "records=1"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is missing in %s", want, log)
		}
	}
	log.Reset()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write("damaged")
	to.run(t)
	if got := to.store.Snapshot().All(); log.Len() > 0 || len(got) != 1 || got[0].Container.ID != "c1" {
		t.Errorf("the second time: %s", log)
	}
}

// TestImportRefusesUnusableFile: one message that names the file and the remedy, until the file is mended.
func TestImportRefusesUnusableFile(t *testing.T) {
	for text, want := range map[string]string{
		`{"collections":`: "ends too early", "no JSON": "damaged", "{}": "not the store of What's Up Docker",
		fmt.Sprintf(wudRecords, wudRecord, "9.0.2"): "later What's Up Docker than 8: by 9.0.2",
	} {
		to := newTarget(t, "wud.json")
		path, log := to.path, to.log
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		to.run(t)
		if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) ||
			!strings.Contains(got, path) || !strings.Contains(got, "mend the file, or move it away") {
			t.Errorf("%s: the log says %s", text, got)
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, wudRecords, wudRecord, "unknown"), 0o600); err != nil {
			t.Fatal(err)
		}
		to.run(t)
		if len(to.store.Snapshot().All()) != 1 {
			t.Errorf("mended, it is not imported: %s", log)
		}
	}
}
