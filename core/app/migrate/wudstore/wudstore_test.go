package wudstore

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// TestReadGoldenFiles reads files of every form that What's Up Docker writes; what is made of each is beside it.
func TestReadGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			found, err := Read(path)
			var got strings.Builder
			fmt.Fprintf(&got, "error: %v\nversion: %q, left out: %d\n", err, found.Version, found.LeftOut)
			for _, c := range found.Containers {
				doc, err := json.MarshalIndent(c, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&got, "host %s\n%s\n", c.Image.Registry.Host, doc)
			}
			golden := strings.TrimSuffix(path, ".json") + ".golden"
			if *updateGolden {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("differs from %s (run with -update to accept):\n%s", golden, got.String())
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func TestReadRefusesOtherFiles(t *testing.T) {
	for text, want := range map[string]error{
		"":                                     ErrDamaged,
		"\x00\x01binary":                       ErrDamaged,
		"collections:\n  - name: containers\n": ErrDamaged,
		`{"collections":[{"name":"containers","data":[{"data":{"id":"c1"`:             ErrDamaged,
		`{"collections":[{"name":"containers","data":[]}]} and more`:                  ErrDamaged,
		`{"collections":[{"name":"containers","data":[{"data":{"id":"c1",}}]}]}`:      ErrDamaged,
		`{"collections":[{"name":"Sessions","data":[{"sid":"abc","content":[1,]}]}]}`: ErrDamaged,
		`null`:                         ErrForeign,
		`[]`:                           ErrForeign,
		`"wud"`:                        ErrForeign,
		`{}`:                           ErrForeign,
		`{"collections":null}`:         ErrForeign,
		`{"collections":[]}`:           ErrForeign,
		`{"collections":[1]}`:          ErrForeign,
		`{"collections":[{"name":7}]}`: ErrForeign,
		`{"collections":[{"name":"songs","data":[{"a":1}]}]}`:                                           ErrForeign,
		`{"collections":[{"name":"containers","data":{}}]}`:                                             ErrForeign,
		`{"collections":[{"name":"app","data":[{"version":"9.0.2"}]},{"name":"containers","data":[]}]}`: ErrNewer,
		`{"collections":[{"name":"containers","data":[]},{"name":"app","data":[{"version":"v10.1"}]}]}`: ErrNewer,
	} {
		found, err := parse(strings.NewReader(text))
		if !errors.Is(err, want) || found.Containers != nil {
			t.Errorf("%.60s: %v, want %v", text, err, want)
		}
	}
}

// TestNewerVersionIsRefused: what is no number was built by hand, and is taken as it is.
func TestNewerVersionIsRefused(t *testing.T) {
	for version, want := range map[string]bool{
		"": false, "unknown": false, "local": false, "7.2.0": false, "8.3.1": false, "8": false, "develop": false,
		"9.0.0": true, "v9": true, "12.1": true,
	} {
		if newer(version) != want {
			t.Errorf("%q is newer: %t", version, !want)
		}
	}
}

// TestErrorsContainNoSecret: sessions are in the file.
func TestErrorsContainNoSecret(t *testing.T) {
	for _, text := range []string{
		`{"collections":[{"name":"Sessions","data":[{"sid":"hunter2" "content"}]}]}`,
		`{"hunter2":{"hunter2":hunter2}}`,
		`{"collections":[{"name":{"hunter2":1}}]}`,
		`"hunter2"`,
	} {
		if _, err := parse(strings.NewReader(text)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestReadWithoutFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(filepath.Join(dir, "wud.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Read(dir); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	huge := filepath.Join(dir, "wud.json")
	f, err := os.Create(huge)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(maxSize+1), f.Close()); err != nil { // takes no room on the disk
		t.Fatal(err)
	}
	if _, err := Read(huge); !errors.Is(err, ErrHuge) {
		t.Error(err)
	}
}

// records writes a file with n records of each kind, the way it is written or with sorted keys.
func records(containers, sessions int, sorted bool) string {
	var b strings.Builder
	collection := func(name string, n int, record func(int) string) {
		if !sorted {
			fmt.Fprintf(&b, `{"name":%q,`, name)
		} else {
			b.WriteByte('{')
		}
		b.WriteString(`"data":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(record(i))
		}
		b.WriteString(`]`)
		if sorted {
			fmt.Fprintf(&b, `,"name":%q`, name)
		}
		b.WriteString(`,"idIndex":null,"binaryIndices":{"data.watcher":{"name":"data.watcher","dirty":false,"values":[0]}},"constraints":null}`)
	}
	b.WriteString(`{"filename":"/store/wud.json","collections":[`)
	collection("app", 1, func(int) string { return `{"name":"wud","version":"8.3.1","meta":{"revision":0},"$loki":1}` })
	b.WriteByte(',')
	collection("containers", containers, func(i int) string {
		return fmt.Sprintf(`{"data":{"id":"%064x","name":"app-%d","watcher":"local","status":"running","image":{"id":"sha256:%d","registry":{"name":"ghcr.public","url":"https://ghcr.io/v2"},
			"name":"team/app%d","tag":{"value":"1.%d.0","semver":true},"digest":{"watch":false,"repo":"sha256:d"},"architecture":"amd64","os":"linux"},
			"result":{"tag":"1.%d.1"},"updateAvailable":true,"updateKind":{"kind":"tag","semverDiff":"patch"}},"meta":{"revision":0,"created":1,"version":0},"$loki":%d}`, i, i, i, i, i, i, i+1)
	})
	b.WriteByte(',')
	collection("Sessions", sessions, func(i int) string {
		return fmt.Sprintf(`{"sid":"%032x","content":{"cookie":{"originalMaxAge":604800000,"httpOnly":true,"path":"/"},"passport":{"user":"{\"username\":\"john\"}"}},"updatedAt":"2024-05-01T10:00:00.000Z","$loki":%d}`, i, i)
	})
	b.WriteString(`],"databaseVersion":1.5,"engineVersion":1.5,"autosave":true,"autosaveInterval":4000,"options":{},"persistenceMethod":"fs"}`)
	return b.String()
}

func TestReadManyContainers(t *testing.T) {
	for _, sorted := range []bool{false, true} {
		found, err := parse(strings.NewReader(records(500, 300, sorted)))
		if err != nil || len(found.Containers) != 500 || found.LeftOut != 0 || found.Version != "8.3.1" {
			t.Fatalf("sorted %t: %d containers, %d left out, version %q, %v", sorted, len(found.Containers),
				found.LeftOut, found.Version, err)
		}
		want := sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.499.0", RemoteValue: "1.499.1", SemverDiff: sdk.DiffPatch}
		if c := found.Containers[499]; !c.UpdateAvailable || c.UpdateKind != want || c.Image.Registry.Host != "ghcr.io" {
			t.Errorf("%+v", c)
		}
	}
	if _, err := parse(strings.NewReader(records(maxContainers+1, 0, false))); !errors.Is(err, ErrHuge) {
		t.Error(err)
	}
}

// TestReadTruncatedFile: a file that What's Up Docker was writing at that moment gives nothing at all.
func TestReadTruncatedFile(t *testing.T) {
	whole := records(2, 1, false)
	for n := range len(whole) {
		if found, err := parse(strings.NewReader(whole[:n])); !errors.Is(err, ErrDamaged) || found.Containers != nil {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(records(2, 2, false))
	f.Add(records(1, 1, true))
	f.Add(`{"collections":[{"name":"containers","data":[{"data":null},{"data":{"id":"a","name":"b","watcher":"c","image":{"name":"d","tag":{"value":"e"},"registry":{"url":"%"}}}},7]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parse(strings.NewReader(text))
		if err != nil && (found.Containers != nil || found.LeftOut != 0) {
			t.Errorf("an error and %+v", found)
		}
		for _, c := range found.Containers {
			if c.ID == "" || c.Name == "" || c.Watcher == "" ||
				c.UpdateAvailable != (c.UpdateKind.Kind != sdk.KindUnknown) || c.UpdateAvailable && c.UpdateKind.RemoteValue == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}

// BenchmarkSessions reads a file that is nearly all sessions, as a scraper of metrics makes it grow.
func BenchmarkSessions(b *testing.B) {
	text := records(50, 100_000, false)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
	runtime.KeepAlive(text)
}
