package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// start is when the tests take place.
var start = time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// TestMain runs a child's part when a test has started this binary again.
func TestMain(m *testing.M) {
	if part := os.Getenv("DOGWATCH_STORE_CHILD"); part != "" {
		child(part)
		return
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a store that is closed at the end of the test, unless it was before.
func open(t testing.TB, path string, change ...func(*Options)) *Store {
	t.Helper()
	opts := Options{Now: func() time.Time { return start }, Log: hclog.NewNullLogger()}
	for _, c := range change {
		c(&opts)
	}
	s, err := Open(context.Background(), path, opts)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() }) // often closed by the test already
	return s
}

func fresh(t testing.TB, change ...func(*Options)) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "store.db"), change...)
}

// again closes the store and opens its file anew.
func again(t testing.TB, s *Store) *Store {
	t.Helper()
	must(t, s.Close())
	return open(t, s.Path())
}

// twice runs a check on the store and on its file opened anew.
func twice(t *testing.T, s *Store, check func(*Store)) {
	t.Helper()
	check(s)
	check(again(t, s))
}

// container has every field that the file must bring back.
func container(watcher, name, id string) sdk.Container {
	return sdk.Container{
		ID: id, Name: name, DisplayName: name, DisplayIcon: "mdi:docker", Status: "running", Watcher: watcher,
		IncludeTags: `^\d+\.\d+\.\d+$`, LinkTemplate: "https://example.org/${major}?a=1&b=<2>",
		Link: "https://example.org/1?a=1&b=<2>",
		Image: sdk.Image{
			ID:       "sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
			Registry: sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
			Name:     "library/nginx",
			Tag:      sdk.Tag{Value: "1.25.0", Semver: true},
			Digest: sdk.Digest{Watch: true, Repo: "sha256:d2", Value: "sha256:old",
				Repos: []string{"nginx@sha256:d2", "mirror.example.org/nginx@sha256:d3"}},
			Architecture: "arm64", OS: "linux", Variant: "v8", Created: sdk.TimeOf(start.Add(-time.Hour)),
		},
		Labels: map[string]string{"dogwatch.watch": "true", "com.docker.compose.project": "p", "ünï": "…"},
		Result: &sdk.Result{Tag: "1.26.0", Digest: "sha256:new", Created: sdk.TimeOf(start), Link: "https://example.org/1"},
		Error:  &sdk.ContainerError{Message: "label dogwatch.tag.include: missing )"},
		Check:  sdk.CheckState{State: sdk.CheckOK, At: sdk.TimeOf(start.Add(1234567 * time.Nanosecond))},

		UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: "1.25.0", RemoteValue: "1.26.0", SemverDiff: sdk.DiffMinor,
		},
	}
}

// fleet returns n containers of one watcher, with the labels that compose puts on them.
func fleet(n int) []sdk.Container {
	out := make([]sdk.Container, n)
	for i := range out {
		c := container("local", fmt.Sprintf("app-%04d", i), fmt.Sprintf("%064x", i))
		c.Image.Name = fmt.Sprintf("team/app%d", i)
		for _, key := range []string{"config-hash", "container-number", "depends_on", "oneoff", "project.config_files",
			"service", "version"} {
			c.Labels["com.docker.compose."+key] = "/srv/" + key + "/docker-compose.yml"
		}
		out[i] = c
	}
	return out
}

func happenings(n int) []event.Event {
	out := make([]event.Event, n)
	for i := range out {
		c := container("local", "web", "c1")
		out[i] = event.Event{
			Type: event.UpdateFound, Subject: event.Subject(c), Run: "r1", At: start.Add(seconds(i)),
			Payload: event.Payload{Container: &c},
		}
	}
	return out
}

func put(cs ...sdk.Container) event.Change { return event.Change{Put: cs} }
