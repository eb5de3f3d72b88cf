package watcher_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestParseImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for text, want := range map[string]watcher.Image{
		"nginx":                {Name: "nginx", Tag: "latest"},
		"team/app:1.2":         {Name: "team/app", Tag: "1.2"},
		"ghcr.io/team/app:1.2": {Host: "ghcr.io", Name: "team/app", Tag: "1.2"},
		"localhost:5000/app":   {Host: "localhost:5000", Name: "app", Tag: "latest"},
		"nginx:1.27@" + digest: {
			Name: "nginx", Tag: "1.27", Digest: digest, Pinned: true, Digests: []string{"nginx@" + digest},
		},
		"quay.io/a/b@" + digest: {
			Host: "quay.io", Name: "a/b", Digest: digest, Pinned: true, Digests: []string{"quay.io/a/b@" + digest},
		},
		"docker.io/library/nginx:1": {Host: "docker.io", Name: "library/nginx", Tag: "1"},
	} {
		if got, err := watcher.ParseImage(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                 "it is empty",
		"two words":        "repository",
		":1.2":             "repository",
		"ghcr.io/":         "repository",
		"nginx@latest":     "digest",
		"https://ghcr.io/": "",
	} {
		if got, err := watcher.ParseImage(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v; want an error with %q", text, got, err, want)
		}
	}
}
