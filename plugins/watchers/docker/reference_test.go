package docker

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
)

const (
	hexA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	hexB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestParseReferenceErrorsNameTheRemedy(t *testing.T) {
	for text, want := range map[string]string{
		"":              "the image of this container has no name: recreate the container from a named image",
		"NGINX":         `"NGINX" is not an image reference: recreate the container from an image named like registry.example.org/name:tag`,
		"nginx@sha256:": `"nginx@sha256:" is not an image reference: recreate the container from an image named like registry.example.org/name:tag`,
	} {
		if _, err := engine.ParseReference(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if ref, err := engine.ParseReference("index.docker.io/nginx"); err != nil ||
		ref != (reference.Reference{Domain: "index.docker.io", Path: "nginx"}) {
		t.Errorf("%+v, %v, want the reference as it is written", ref, err)
	}
}

func TestRepoDigest(t *testing.T) {
	a, b := "sha256:"+hexA, "sha256:"+hexB
	for _, c := range []struct {
		ref     string
		digests []string
		want    string
	}{
		{"nginx:1", nil, ""},
		{"nginx:1", []string{"nginx@" + a}, a},
		{"docker.io/library/nginx:1", []string{"ghcr.io/x/nginx@" + b, "nginx@" + a}, a},
		{"index.docker.io/nginx", []string{"other@" + b, "nginx@" + a}, a},
		{"mylibrary/nginx:1", []string{"nginx@" + b, "mylibrary/nginx@" + a}, a},
		{"nginx:1", []string{"mirror.example/nginx@" + b, "other@" + a}, b},
		{"nginx:1@" + b, []string{"nginx@" + a}, b},
		{"nginx:1", []string{"garbage", "nginx@" + a}, a},
	} {
		ref, err := engine.ParseReference(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		if got := repoDigest(ref, c.digests); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.ref, c.digests, got, c.want)
		}
	}
}

func TestTagOf(t *testing.T) {
	pinned := "nginx@sha256:" + hexA
	for _, c := range []struct {
		ref   string
		names []string
		want  string
	}{
		{"nginx", nil, "latest"},
		{"nginx:1.25", []string{"nginx:1.26"}, "1.25"},
		{"nginx:1.25@sha256:" + hexA, []string{"nginx:1.26"}, "1.25"},
		{pinned, nil, ""},
		{pinned, []string{"nginx:1.25"}, "1.25"},
		{pinned, []string{"docker.io/library/nginx:1.25", "nginx:1.25"}, "1.25"},
		{pinned, []string{"nginx:1.25", "nginx:1.25.3"}, ""},
		{pinned, []string{"mirror.example/nginx:1.25", "nginxinc/nginx:1.25", "my-nginx:2"}, ""},
		{pinned, []string{"mirror.example/nginx:1.25", "nginx:1.26", "garbage::"}, "1.26"},
		{"localhost:5000/a/b@sha256:" + hexA, []string{"localhost:5000/a/b:2", "a/b:1"}, "2"},
	} {
		ref, err := engine.ParseReference(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		if got := tagOf(ref, c.names); got != c.want {
			t.Errorf("%s known as %q: %q, want %q", c.ref, c.names, got, c.want)
		}
	}
}

func TestIsID(t *testing.T) {
	id := "sha256:cafe0123" + strings.Repeat("0", 56)
	for _, c := range []struct {
		text string
		tags []string
		want bool
	}{
		{id, nil, true},
		{"sha256:" + hexA, nil, true}, // not this image's, yet no name either
		{strings.TrimPrefix(id, "sha256:"), nil, true},
		{"cafe0123", nil, true},
		{"cafe", nil, true},
		{"cafe", []string{"cafe:latest"}, false}, // an image that is called like its id begins
		{"beef", nil, false},
		{"nginx", nil, false},
		{"cafe:1", nil, false},
		{"nginx@sha256:" + hexA, nil, false},
	} {
		if got := isID(c.text, id, c.tags); got != c.want {
			t.Errorf("%s %v: %v", c.text, c.tags, got)
		}
	}
}
