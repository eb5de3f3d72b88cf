package reference

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParse(t *testing.T) {
	long := strings.Repeat("t", 128)
	path := strings.Repeat("p", 255)
	for _, c := range []struct {
		in   string
		want Reference
	}{
		// The table of the reference, with the default domain expanded.
		{"nginx", Reference{Domain: "docker.io", Path: "library/nginx"}},
		{"nginx:1.2", Reference{Domain: "docker.io", Path: "library/nginx", Tag: "1.2"}},
		{"library/nginx", Reference{Domain: "docker.io", Path: "library/nginx"}},
		{"user/repo:Tag_1.2-3", Reference{Domain: "docker.io", Path: "user/repo", Tag: "Tag_1.2-3"}},
		{"docker.io/library/nginx:1", Reference{Domain: "docker.io", Path: "library/nginx", Tag: "1"}},
		{"index.docker.io/library/nginx", Reference{Domain: "docker.io", Path: "library/nginx"}},
		{"localhost:5000/x", Reference{Domain: "localhost:5000", Path: "x"}},
		{"localhost/x/y:2", Reference{Domain: "localhost", Path: "x/y", Tag: "2"}},
		{"myhost/x:1", Reference{Domain: "docker.io", Path: "myhost/x", Tag: "1"}},
		{"myhost:5000/x/y:1", Reference{Domain: "myhost:5000", Path: "x/y", Tag: "1"}},
		{"a.b/c", Reference{Domain: "a.b", Path: "c"}},
		{"registry.gitlab.com/a/b/c/d:1", Reference{Domain: "registry.gitlab.com", Path: "a/b/c/d", Tag: "1"}},
		{"127.0.0.1:5000/x:1", Reference{Domain: "127.0.0.1:5000", Path: "x", Tag: "1"}},
		{"ghcr.io/a/b:tag@" + digest, Reference{Domain: "ghcr.io", Path: "a/b", Tag: "tag", Digest: digest}},
		{"Foo/bar:1", Reference{Domain: "docker.io", Path: "Foo/bar", Tag: "1"}},
		{"FOO.com/bar:1", Reference{Domain: "FOO.com", Path: "bar", Tag: "1"}},
		{"[::1]:5000/foo:1", Reference{Domain: "[::1]:5000", Path: "foo", Tag: "1"}},

		{"[fd00::A]/foo", Reference{Domain: "[fd00::A]", Path: "foo"}},
		{"docker.io/nginx", Reference{Domain: "docker.io", Path: "library/nginx"}},
		{"registry-1.docker.io/a/b", Reference{Domain: "docker.io", Path: "a/b"}},
		{"Docker.io/a/b", Reference{Domain: "docker.io", Path: "a/b"}},
		{"nginx@" + digest, Reference{Domain: "docker.io", Path: "library/nginx", Digest: digest}},
		{"localhost:5000", Reference{Domain: "docker.io", Path: "library/localhost", Tag: "5000"}},
		{"foo.bar", Reference{Domain: "docker.io", Path: "library/foo.bar"}},
		{"a__b/c-----d/e.f_g", Reference{Domain: "docker.io", Path: "a__b/c-----d/e.f_g"}},
		{"x:" + long, Reference{Domain: "docker.io", Path: "library/x", Tag: long}},
		{"a.b/" + path, Reference{Domain: "a.b", Path: path}},

		// Only exact prefixes are expanded.
		{"docker.io/mylibrary/app", Reference{Domain: "docker.io", Path: "mylibrary/app"}},
		{"quay.io/library/app", Reference{Domain: "quay.io", Path: "library/app"}},
		{"docker.io/library/a/b", Reference{Domain: "docker.io", Path: "library/a/b"}},
		{"docker.io/foo.bar/app", Reference{Domain: "docker.io", Path: "foo.bar/app"}},
		{"docker.io/" + digest[7:], Reference{Domain: "docker.io", Path: "library/" + digest[7:]}},
	} {
		got, err := Parse(c.in)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
			continue
		}
		if back, err := Parse(got.String()); err != nil || back != got {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", got.String(), back, err, got)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for in, problem := range map[string]string{
		"":                                "empty",
		"NGINX":                           "lower-case",
		"docker.io/library/Nginx":         "lower-case",
		"a.b/C":                           "lower-case",
		"nginx:1.2+x":                     "tag",
		"nginx:":                          "tag",
		"nginx:-x":                        "tag",
		"nginx:.x":                        "tag",
		strings.Repeat("a", 64):           "image id",
		"x:" + strings.Repeat("t", 129):   "tag",
		"-foo/bar":                        "separators",
		"foo-/bar":                        "separators",
		"foo//bar":                        "separators",
		"/foo":                            "separators",
		"foo/":                            "separators",
		"a___b":                           "separators",
		"a..b":                            "separators",
		"a.-b":                            "separators",
		"a.b/" + strings.Repeat("p", 256): "longer than 255",
		"a..b/c":                          "registry host",
		"-a.b/c":                          "registry host",
		"a.b:/c":                          "registry host",
		"a.b:x/c":                         "registry host",
		"[]:1/c":                          "registry host",
		"[::1/c":                          "registry host",
		"[::1]x/c":                        "registry host",
		"[::g]/c":                         "registry host",
		"my_host.lan/c":                   "registry host",
		"https://ghcr.io/a/b":             "scheme",
		"nginx@":                          "digest",
		"nginx@sha256:abc":                "digest",
		"nginx@sha1:" + digest[7:]:        "digest",
		"nginx@" + digest + "0":           "digest",
		"nginx@" + digest + "@x":          "digest",
		"nginx@sha512:" + digest[7:]:      "digest",
		"nginx 1":                         "separators",
		"nginx\n":                         "separators",
	} {
		ref, err := Parse(in)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), problem) || ref != (Reference{}) {
			t.Errorf("Parse(%q) = %+v, %v; want an error about %q", in, ref, err, problem)
		}
		if ref, err := Split(in); !errors.Is(err, ErrInvalid) || ref != (Reference{}) {
			t.Errorf("Split(%q) = %+v, %v; want the error of Parse", in, ref, err)
		}
	}
}

// TestStringIsParsedBack has random references from the pieces of the grammar.
func TestStringIsParsedBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	for range 20_000 {
		text := pick("", "", "docker.io/", "ghcr.io/", "localhost/", "Host:5000/", "[::1]:1/", "Foo/", "index.docker.io/") +
			pick("", "library/", "a/", "x.y/", "c__d/") + pick("nginx", "a-b", "0", "localhost", "foo.bar") +
			pick("", ":1", ":v1.2-alpine", ":_") + pick("", "@"+digest)
		ref, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		if back, err := Parse(ref.String()); err != nil || back != ref {
			t.Fatalf("Parse(%q) = %+v, %v; want %+v from %q", ref.String(), back, err, ref, text)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"nginx", "ghcr.io/a/b:tag@" + digest, "[::1]:5000/foo:1", "Foo/bar", "a..b", "a:b:c",
		"docker.io/x.y/z", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := Parse(s)
		if err != nil {
			return
		}
		if ref.Domain == "" || ref.Path == "" {
			t.Fatalf("Parse(%q) = %+v has an empty part", s, ref)
		}
		if back, err := Parse(ref.String()); err != nil || back != ref {
			t.Fatalf("Parse(%q) = %+v, %v; want %+v from %q", ref.String(), back, err, ref, s)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("ghcr.io/home-assistant/home-assistant:2024.1.5"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestShortIsTheNameThatUsersWrite(t *testing.T) {
	for _, c := range []struct{ host, repository, want string }{
		{"docker.io", "library/nginx", "nginx"},
		{"", "library/nginx", "nginx"},
		{"", "nginx", "nginx"},
		{"docker.io", "grafana/grafana", "grafana/grafana"},
		{"ghcr.io", "owner/app", "ghcr.io/owner/app"},
		{"quay.io", "library/app", "quay.io/library/app"},
		{"localhost:5000", "app", "localhost:5000/app"},
		{"ghcr.io", "", ""},
	} {
		if got := Short(c.host, c.repository); got != c.want {
			t.Errorf("Short(%q, %q) = %q, want %q", c.host, c.repository, got, c.want)
		}
	}
}
