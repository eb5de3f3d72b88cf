package docker

import (
	"strings"
	"testing"
)

const (
	hexA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	hexB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestParseReference(t *testing.T) {
	for text, want := range map[string]reference{
		"nginx":                              {"", "nginx", "", ""},
		"nginx:1.2":                          {"", "nginx", "1.2", ""},
		"library/nginx":                      {"", "library/nginx", "", ""},
		"user/repo:Tag_1.2-3":                {"", "user/repo", "Tag_1.2-3", ""},
		"docker.io/library/nginx:1":          {"docker.io", "library/nginx", "1", ""},
		"index.docker.io/library/nginx":      {"index.docker.io", "library/nginx", "", ""},
		"localhost:5000/x":                   {"localhost:5000", "x", "", ""},
		"localhost/x/y:2":                    {"localhost", "x/y", "2", ""},
		"myhost/x:1":                         {"", "myhost/x", "1", ""},
		"myhost:5000/x/y:1":                  {"myhost:5000", "x/y", "1", ""},
		"a.b/c":                              {"a.b", "c", "", ""},
		"registry.gitlab.com/a/b/c/d:1":      {"registry.gitlab.com", "a/b/c/d", "1", ""},
		"127.0.0.1:5000/x:1":                 {"127.0.0.1:5000", "x", "1", ""},
		"[::1]:5000/foo:1":                   {"[::1]:5000", "foo", "1", ""},
		"ghcr.io/a/b:tag@sha256:" + hexA:     {"ghcr.io", "a/b", "tag", "sha256:" + hexA},
		"nginx@sha256:" + hexA:               {"", "nginx", "", "sha256:" + hexA},
		"Foo/bar:1":                          {"", "Foo/bar", "1", ""},
		"FOO.com/bar:1":                      {"FOO.com", "bar", "1", ""},
		"a__b/c-d/e---f:1":                   {"", "a__b/c-d/e---f", "1", ""},
		"nginx:" + strings.Repeat("x", 128):  {"", "nginx", strings.Repeat("x", 128), ""},
		"nginx:5000":                         {"", "nginx", "5000", ""},
		"xn--bcher-kva.example/app:1":        {"xn--bcher-kva.example", "app", "1", ""},
		"host.docker.internal:80/a.b/c_d:v1": {"host.docker.internal:80", "a.b/c_d", "v1", ""},
	} {
		got, err := parseReference(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "NGINX", "nginx:1.2+x", "-foo/bar", "nginx:" + strings.Repeat("x", 129), "nginx:", ":1", "a//b", "/a", "a/",
		"nginx@", "nginx@sha256:abc", "https://ghcr.io/a", "a b", "a/B", "a___b", "ghcr.io/", "sha256:", "näme",
	} {
		if got, err := parseReference(text); err == nil {
			t.Errorf("%q: accepted as %+v", text, got)
		}
	}
}

func FuzzParseReference(f *testing.F) {
	f.Add("nginx")
	f.Add("ghcr.io/a/b:tag@sha256:" + hexA)
	f.Add("[::1]:5000/foo:1")
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := parseReference(text)
		if err != nil {
			return
		}
		back := ref.path
		if ref.domain != "" {
			back = ref.domain + "/" + back
		}
		if ref.tag != "" {
			back += ":" + ref.tag
		}
		if ref.digest != "" {
			back += "@" + ref.digest
		}
		if back != text {
			t.Errorf("%q became %q", text, back)
		}
	})
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
		ref, err := parseReference(c.ref)
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
		ref, err := parseReference(c.ref)
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
