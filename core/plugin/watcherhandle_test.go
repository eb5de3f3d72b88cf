package plugin

import (
	"reflect"
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
