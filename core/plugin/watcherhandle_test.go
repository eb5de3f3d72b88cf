package plugin

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestListedContainerKeepsWhatWatcherKnows(t *testing.T) {
	created := sdk.TimeOf(time.Unix(1700000000, 0))
	got := listed(watcher.Container{
		ID: "1", Name: "web", Status: "exited", Labels: map[string]string{"a": "b"}, Error: "no image",
		Image: watcher.Image{
			ID: "sha256:i", Host: "ghcr.io", Name: "a/b", Tag: "1", Digest: "sha256:d", Pinned: true,
			Digests:  []string{"a/b@sha256:d"},
			Platform: sdk.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}, Created: created,
		},
	}, "local")
	want := sdk.Container{
		ID: "1", Name: "web", Status: "exited", Watcher: "local", Labels: map[string]string{"a": "b"},
		Error: &sdk.ContainerError{Message: "no image"},
		Image: sdk.Image{
			ID: "sha256:i", Registry: sdk.Registry{Host: "ghcr.io"}, Name: "a/b", Tag: sdk.Tag{Value: "1"},
			Digest: sdk.Digest{Repo: "sha256:d", Pinned: true, Repos: []string{"a/b@sha256:d"}},
			OS:     "linux", Architecture: "arm", Variant: "v7", Created: created,
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := listed(watcher.Container{ID: "2"}, "local"); got.Error != nil {
		t.Errorf("a whole container has the error %v", got.Error)
	}
}

// TestLogsAreBounded: a plugin may answer with more than was asked for, and with what is not to be seen.
func TestLogsAreBounded(t *testing.T) {
	many := make([]watcher.LogLine, 300)
	for i := range many {
		many[i].Text = "\x1b[31mred\u202e"
	}
	got := boundedLog(watcher.Log{Lines: many, UnreadableDriver: "none\n"}, 1000)
	if len(got.Lines) != watcher.MaxLogLines || got.Lines[0].Text != "[31mred" || got.UnreadableDriver != "none " {
		t.Errorf("got %d lines, the first %q, and the driver %q", len(got.Lines), got.Lines[0].Text, got.UnreadableDriver)
	}
	long := make([]watcher.LogLine, 9)
	for i := range long {
		long[i].Text = strings.Repeat("x", 10_000)
	}
	if got := boundedLog(watcher.Log{Lines: long}, 9); len(got.Lines) != 6 {
		t.Errorf("got %d lines of 10,000 bytes", len(got.Lines))
	}
}
