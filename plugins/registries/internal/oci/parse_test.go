package oci

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

func TestFindChallenge(t *testing.T) {
	tests := []struct {
		header []string
		want   challenge
		found  bool
	}{
		{[]string{`Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:library/nginx:pull"`},
			challenge{
				realm: "https://auth.docker.io/token", service: "registry.docker.io", scope: "repository:library/nginx:pull",
			}, true},
		{[]string{`bearer Realm = "https://a/t" , SERVICE="s"`}, challenge{realm: "https://a/t", service: "s"}, true},
		{[]string{`Bearer realm=https://a/t?x=y,service=s`}, challenge{realm: "https://a/t?x=y", service: "s"}, true},
		{[]string{`Basic realm="r", Bearer realm="https://a/t",service="s, with \"comma\""`}, challenge{
			realm: "https://a/t", service: `s, with "comma"`,
		}, true},
		{[]string{`Basic realm="r"`, `Bearer realm="https://a/t"`}, challenge{realm: "https://a/t"}, true},
		{[]string{`BASIC realm="Registry Realm"`}, challenge{basic: true}, true},
		{[]string{`Basic`}, challenge{basic: true}, true},
		{[]string{`Negotiate YWJj==, Basic realm="r"`}, challenge{basic: true}, true},
		{[]string{`Bearer realm="https://a/t",realm="https://evil/t"`}, challenge{realm: "https://a/t"}, true},
		{[]string{`Bearer service="s"`}, challenge{}, false},
		{[]string{`Bearer realm="never closed`}, challenge{}, false},
		{[]string{`Negotiate`}, challenge{}, false},
		{[]string{`,,,= =`}, challenge{}, false},
		{nil, challenge{}, false},
	}
	for _, test := range tests {
		got, found := findChallenge(http.Header{"Www-Authenticate": test.header})
		if got != test.want || found != test.found {
			t.Errorf("%q = %+v, %v; want %+v, %v", test.header, got, found, test.want, test.found)
		}
	}
}

func FuzzChallenge(f *testing.F) {
	f.Add(`Bearer realm="https://a/t",service="s",scope="repository:a/b:pull"`)
	f.Add(`Basic realm="a\"b", Bearer realm=x`)
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range parseChallenges(header) {
			if len(c.params) > maxParams || c.scheme != strings.ToLower(c.scheme) {
				t.Errorf("%q = %+v", header, c)
			}
		}
		c, found := findChallenge(http.Header{"Www-Authenticate": {header}})
		if found && !c.basic && c.realm == "" {
			t.Errorf("%q gives a challenge without a realm", header)
		}
	})
}

func TestNextPage(t *testing.T) {
	tests := []struct {
		links []string
		want  string
	}{
		{[]string{`</v2/a/tags/list?last=b&n=5>; rel="next"`}, "last=b&n=5"},
		{[]string{`<https://elsewhere.test/v2/x/tags/list?last=b>; rel=next`}, "last=b"},
		{[]string{`<?next_page=gAAAA%3D%3D&n=50>; rel="next"`}, "next_page=gAAAA%3D%3D&n=50"},
		{[]string{`</v2/a?n=1>; rel="prev", </v2/a?n=2>; title="a, b"; REL="first next"`}, "n=2"},
		{[]string{`</v2/a?n=1>; rel="prev"`, `</v2/a?n=2>; rel="next"`}, "n=2"},
		{[]string{`</v2/a?n=2>; rel="next",`}, "n=2"},
		{[]string{`</v2/a?n=2>; rel=next,`}, "n=2"},
		{[]string{`, </v2/a?n=2>; rel="next"`}, "n=2"},
		{[]string{`</v2/a?n=2>; rel="next", </v2/a?n=1>; rel="prev"`}, "n=2"},
		{[]string{`</v2/a?n=1>; rel="prev", </v2/a?n=0>; rel="first", </v2/a?n=2>; rel="next"`}, "n=2"},
		{[]string{`</v2/a?n=1>; rel="prev",`, `</v2/a?n=2>; rel="next"`}, "n=2"},
		{[]string{`<unclosed?n=1`, `</v2/a?n=2>; rel="next"`}, "n=2"},
		{[]string{`</v2/a?n=1>; title="a\", b"; rel="prev", </v2/a?n=2>; rel="next"`}, "n=2"},
		{[]string{`</v2/a?n=1>; rel="prev",`}, ""},
		{[]string{`</v2/a?last=b>`}, "last=b"},
		{[]string{`</v2/a>; rel="next"`}, ""},
		{[]string{`</v2/a?last=b>; rel="prev"`}, ""},
		{[]string{`<https://[::1?last=b>; rel="next"`}, ""},
		{[]string{`/v2/a?last=b; rel="next"`}, ""},
		{[]string{`<unclosed?last=b`}, ""},
		{[]string{""}, ""},
		{nil, ""},
	}
	for _, test := range tests {
		if got := nextPage(test.links); got != test.want {
			t.Errorf("%q leads to %q, want %q", test.links, got, test.want)
		}
	}
}

func FuzzNextPage(f *testing.F) {
	f.Add(`</v2/a/tags/list?last=b&n=5>; rel="next"`)
	f.Add(`<a>;<b>,"<c?d>`)
	f.Fuzz(func(t *testing.T, link string) {
		if next := nextPage([]string{link}); strings.ContainsAny(next, "#\n\r") {
			t.Errorf("%q leads to %q", link, next)
		}
	})
}

func TestRetryAfterIn(t *testing.T) {
	tests := map[string]time.Duration{
		"retry-after: 1.16ms, allowed: 44000/minute": 1160 * time.Microsecond,
		"toomanyrequests: Retry-After: 2s":           2 * time.Second,
		"retry-after: 900h":                          24 * time.Hour,
		"retry-after: -5s":                           0,
		"retry-after: soon":                          0,
		"retry-after:":                               0,
		"slow down":                                  0,
	}
	for text, want := range tests {
		if got := retryAfterIn(text); got != want {
			t.Errorf("%q = %v, want %v", text, got, want)
		}
	}
}

func FuzzRetryAfterIn(f *testing.F) {
	f.Add("retry-after: 1.16ms, allowed")
	f.Fuzz(func(t *testing.T, text string) {
		if got := retryAfterIn(text); got < 0 || got > 24*time.Hour {
			t.Errorf("%q = %v", text, got)
		}
	})
}

func TestMessageIn(t *testing.T) {
	tests := map[string]string{
		`{"errors":[{"code":"NAME_UNKNOWN","message":"no such repository","detail":{"name":"a"}}]}`: "name_unknown: no such repository",
		`{"errors":[{"message":"denied"}]}`:                            "denied",
		`{"errors":[{"code":"DENIED"}]}`:                               "denied",
		`{"details":"incorrect username or password"}`:                 "incorrect username or password",
		`{"error":"invalid_grant","error_description":"wrong client"}`: "wrong client",
		`{"message":"Not Found"}`:                                      "Not Found",
		"Too Many Requests\n":                                          "Too Many Requests",
		`{"errors":"broken"}`:                                          "",
		"<html>":                                                       "",
		"{":                                                            "",
		"":                                                             "",
	}
	for body, want := range tests {
		if got := messageIn([]byte(body)); got != want {
			t.Errorf("%s = %q, want %q", body, got, want)
		}
	}
}

func TestTrusts(t *testing.T) {
	r := newRegistry(nil, func(c *Config) { c.TokenHosts = []string{"auth.docker.io", "sso.other.test:8443"} })
	tests := []struct {
		registry, realm string
		want            bool
	}{
		{"https://registry.gitlab.com", "https://gitlab.com", true},
		{"https://registry-1.docker.io", "https://auth.docker.io", true},
		{"http://mirror.lan:5000", "https://auth.docker.io", true},
		{"https://harbor.lan", "https://harbor.lan:8443", true},
		{"https://10.0.0.5:5000", "https://10.0.0.5:5001", true},
		{"https://REGISTRY.example.com", "https://auth.example.COM", true},
		{"https://a.example.co.uk", "https://b.example.co.uk", true},
		{"https://r.test", "https://sso.other.test:8443", true},
		{"https://r.test", "https://sso.other.test", false},
		{"https://a.co.uk", "https://b.co.uk", false},
		{"https://example.com", "https://example.com.evil.test", false},
		{"https://example.com", "https://evilexample.com", false},
		{"https://10.0.0.5", "https://10.0.0.6", false},
		{"https://registry", "https://auth", false},
		{"https://ghcr.io", "https://evil.io", false},
	}
	for _, test := range tests {
		a, _ := url.Parse(test.registry)
		b, _ := url.Parse(test.realm)
		if got := r.trusts(a, b); got != test.want {
			t.Errorf("%s trusts %s with its credentials: %v, want %v", test.registry, test.realm, got, test.want)
		}
	}
}

func TestRealmURL(t *testing.T) {
	tests := []struct{ registry, realm, want string }{
		{"https://r.test", "https://auth.test/token", ""},
		{"http://r.test", "http://auth.test/token", ""},
		{"http://10.0.0.5", "https://10.0.0.5:5001/auth", ""},
		{"https://r.test", "http://auth.test/token", "unencrypted"},
		{"https://r.test", "/token", "malformed"},
		{"https://r.test", "file:///etc/passwd", "malformed"},
		{"https://r.test", "https://user:s3cret@auth.test/", "malformed"},
		{"https://r.test", "https://%zz", "malformed"},
	}
	for _, test := range tests {
		from, _ := url.Parse(test.registry)
		_, err := challenge{realm: test.realm}.realmURL(from)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s naming %s: %v, want %q", test.registry, test.realm, err, test.want)
		}
		if err != nil {
			checkKind(t, err, sdk.ErrUnavailable)
		}
	}
}

func TestBaseOfHost(t *testing.T) {
	r := newRegistry(nil, func(c *Config) {
		c.Hosts = []registry.Host{{Pattern: "docker.io", URL: "https://registry-1.docker.io/v2"}, {Pattern: "*.ghcr.io"}, {
			Pattern: "*",
		}}
	})
	tests := map[string]string{
		"docker.io":                "https://registry-1.docker.io/v2",
		"DOCKER.IO":                "https://registry-1.docker.io/v2",
		"foo.ghcr.io":              "https://foo.ghcr.io/v2",
		"registry.example.com:443": "https://registry.example.com:443/v2",
		"localhost:5000":           "http://localhost:5000/v2",
		"127.8.9.10":               "http://127.8.9.10/v2",
		"[::1]:5000":               "http://[::1]:5000/v2",
		"128.0.0.1":                "https://128.0.0.1/v2",
		"localhost.evil.test":      "https://localhost.evil.test/v2",
	}
	for host, want := range tests {
		if got, err := r.base(host); err != nil || got.String() != want {
			t.Errorf("%s is at %v, %v; want %s", host, got, err, want)
		}
	}
	for _, host := range []string{"", "a/b", "user@a", "a?b", "a#b", "a b", "a:b"} {
		if got, err := r.base(host); err == nil {
			t.Errorf("%q is at %v", host, got)
		}
	}
	few := newRegistry(nil, func(c *Config) { c.Hosts = []registry.Host{{Pattern: "ghcr.io"}, {Pattern: "*.quay.io"}} })
	for _, host := range []string{"xghcr.io", "foo.ghcr.io", "quay.io", "myquay.io", ".quay.io", "ghcr.io.evil.test"} {
		if got, err := few.base(host); err == nil {
			t.Errorf("%s is served at %v", host, got)
		}
	}
}

func TestBase(t *testing.T) {
	tests := map[string]string{
		"https://r.test":                     "https://r.test/v2",
		"http://r.test:5000/":                "http://r.test:5000/v2",
		"https://r.test/v2/":                 "https://r.test/v2",
		"https://r.test/artifactory/docker/": "https://r.test/artifactory/docker/v2",
		"https://r.test/v2/project/":         "https://r.test/v2/project",
		"https://r.test/v2x":                 "https://r.test/v2x/v2",
		"https://r.test/team/app:1.0":        "!",
		"https://r.test/team/app@sha256:00":  "!",
		"ftp://r.test":                       "!",
		"https://u:p@r.test":                 "!",
		"https://r.test?x=y":                 "!",
	}
	for text, want := range tests {
		u, _ := url.Parse(text)
		got, err := Base("url", u)
		if want == "!" {
			if err == nil || strings.Contains(err.Error(), "u:p") {
				t.Errorf("%s: %q, %v", text, got, err)
			}
		} else if got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestIsRepository(t *testing.T) {
	for _, name := range []string{"a", "library/nginx", "a/b/c.d_e-f"} {
		if !isRepository(name) {
			t.Errorf("%q is no repository", name)
		}
	}
	for _, name := range []string{"", "/a", "a/", "a//b", "../b", "a/./b", "a?b", "a#b", "a%2f",
		strings.Repeat("a", 256)} {
		if isRepository(name) {
			t.Errorf("%q is a repository", name)
		}
	}
	hex := strings.Repeat("0a", 32)
	for digest, want := range map[string]bool{
		"sha256:" + hex: true, "sha512:" + hex + hex: true, "sha256:" + hex[:62]: false,
		"sha256:" + strings.ToUpper(hex): false, "md5:" + hex: false, hex: false, "": false,
	} {
		if isDigest(digest) != want {
			t.Errorf("isDigest(%q) = %v", digest, !want)
		}
	}
}

func TestPairOrAuth(t *testing.T) {
	tests := []struct{ user, password, auth, field string }{
		{"", "", "", ""},
		{"ann", "s3cret", "", ""},
		{"", "", "YW5uOnMzY3JldA==", ""},
		{"ann", "", "", "password"},
		{"", "s3cret", "", "login"},
		{"ann", "s3cret", "YW5uOnMzY3JldA==", "auth"},
		{"", "", "s3cret!", "auth"},
		{"", "", "czNjcmV0", "auth"},
	}
	for _, test := range tests {
		login, err := PairOrAuth("login", test.user, "password", test.password, test.auth)
		switch {
		case test.field != "":
			if err == nil || !strings.HasPrefix(err.Error(), test.field+": ") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%+v: %v", test, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", test, err)
		case (login == nil) != (test.user+test.auth == ""):
			t.Errorf("%+v: login %v", test, login)
		case login != nil:
			if c, err := login.Credentials(t.Context(), ""); err != nil ||
				c != (sdk.Credentials{Username: "ann", Password: "s3cret"}) {
				t.Errorf("%+v: %v, %v", test, c, err)
			}
		}
	}
}
