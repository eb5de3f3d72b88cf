package reference

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// written are references and their parts as written, as watchers report them.
func written() map[string]Reference {
	long := strings.Repeat("x", 128)
	return map[string]Reference{
		"nginx":                              {Path: "nginx"},
		"nginx:1.2":                          {Path: "nginx", Tag: "1.2"},
		"nginx:5000":                         {Path: "nginx", Tag: "5000"},
		"nginx:" + long:                      {Path: "nginx", Tag: long},
		"library/nginx":                      {Path: "library/nginx"},
		"user/repo:Tag_1.2-3":                {Path: "user/repo", Tag: "Tag_1.2-3"},
		"docker.io/library/nginx:1":          {Domain: "docker.io", Path: "library/nginx", Tag: "1"},
		"docker.io/nginx":                    {Domain: "docker.io", Path: "nginx"},
		"index.docker.io/library/nginx":      {Domain: "index.docker.io", Path: "library/nginx"},
		"localhost:5000/x":                   {Domain: "localhost:5000", Path: "x"},
		"localhost/x/y:2":                    {Domain: "localhost", Path: "x/y", Tag: "2"},
		"localhost:5000":                     {Path: "localhost", Tag: "5000"},
		"myhost/x:1":                         {Path: "myhost/x", Tag: "1"},
		"myhost:5000/x/y:1":                  {Domain: "myhost:5000", Path: "x/y", Tag: "1"},
		"a.b/c":                              {Domain: "a.b", Path: "c"},
		"registry.gitlab.com/a/b/c/d:1":      {Domain: "registry.gitlab.com", Path: "a/b/c/d", Tag: "1"},
		"127.0.0.1:5000/x:1":                 {Domain: "127.0.0.1:5000", Path: "x", Tag: "1"},
		"[::1]:5000/foo:1":                   {Domain: "[::1]:5000", Path: "foo", Tag: "1"},
		"ghcr.io/a/b:tag@" + digest:          {Domain: "ghcr.io", Path: "a/b", Tag: "tag", Digest: digest},
		"nginx@" + digest:                    {Path: "nginx", Digest: digest},
		"Foo/bar:1":                          {Path: "Foo/bar", Tag: "1"},
		"FOO.com/bar:1":                      {Domain: "FOO.com", Path: "bar", Tag: "1"},
		"a__b/c-d/e---f:1":                   {Path: "a__b/c-d/e---f", Tag: "1"},
		"xn--bcher-kva.example/app:1":        {Domain: "xn--bcher-kva.example", Path: "app", Tag: "1"},
		"host.docker.internal:80/a.b/c_d:v1": {Domain: "host.docker.internal:80", Path: "a.b/c_d", Tag: "v1"},
	}
}

func TestSplitKeepsWhatIsWritten(t *testing.T) {
	for text, want := range written() {
		got, err := Split(text)
		if err != nil || got != want {
			t.Errorf("Split(%q) = %+v, %v; want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("Split(%q) is written %q", text, got)
		}
		if full, err := Parse(text); err != nil || full != got.Canonical() {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, full, err, got.Canonical())
		}
	}
}

func TestSplitRejects(t *testing.T) {
	for _, text := range []string{
		"", "NGINX", "nginx:1.2+x", "-foo/bar", "nginx:" + strings.Repeat("x", 129), "nginx:", ":1", "a//b", "/a", "a/",
		"nginx@", "nginx@sha256:abc", "https://ghcr.io/a", "a b", "a/B", "a___b", "ghcr.io/", "sha256:", "näme",
	} {
		if got, err := Split(text); err == nil {
			t.Errorf("Split(%q) = %+v, want an error", text, got)
		}
	}
}

// grammar is the grammar of github.com/distribution/reference as one regular
// expression, with an upper-case first component of several. Split must take the
// same parts out of every text.
func grammar() *regexp.Regexp {
	const (
		label  = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
		port   = `:[0-9]+`
		domain = `(?:` + label + `(?:\.` + label + `)+(?:` + port + `)?|` + label + port +
			`|localhost|\[[0-9a-fA-F:]+\](?:` + port + `)?)`
		component  = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
		repository = `(?:` + label + `/)?` + component + `(?:/` + component + `)*`
		tag        = `[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}`
		digest     = `sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}`
	)
	return regexp.MustCompile(`^(?:(` + domain + `)/)?(` + repository + `)(?::(` + tag + `))?(?:@(` + digest + `))?$`)
}

// acceptable reports whether the grammar alone decides about parts. Split also
// rejects what engines reject: image ids, long names, upper case outside of
// Docker Hub, and a first component that is a host by its dot but no valid one.
func acceptable(parts Reference) bool {
	first, _, nested := strings.Cut(parts.Path, "/")
	full := parts.Canonical()
	return (parts != Reference{Path: parts.Path} || len(parts.Path) != 64 || !isLowerHex(parts.Path)) &&
		len(full.Path) <= maxPathLength &&
		(full.Domain == DefaultDomain || parts.Path == strings.ToLower(parts.Path)) &&
		(parts.Domain != "" || !nested || !strings.Contains(first, "."))
}

func TestSplitAgreesWithTheDistributionGrammar(t *testing.T) {
	form := grammar()
	compare := func(text string) (valid bool) {
		t.Helper()
		m := form.FindStringSubmatch(text)
		var want Reference
		if m != nil {
			want = Reference{Domain: m[1], Path: m[2], Tag: m[3], Digest: m[4]}
		}
		got, err := Split(text)
		switch {
		case err != nil && m != nil && acceptable(want):
			t.Errorf("Split(%q): %v; the grammar reads %+v", text, err, want)
		case err == nil && got != want:
			t.Errorf("Split(%q) = %+v; the grammar reads %+v", text, got, want)
		}
		return err == nil
	}
	for text := range written() {
		compare(text)
	}
	random := rand.New(rand.NewPCG(3, 4))
	pieces := []string{
		"nginx", "a", "0", "Foo", "library", "localhost", "docker.io", "index.docker.io", "ghcr.io", "x_y.z", "my_host.lan",
		"/", "/", "/", ":", ":", "5000", ":1.2", "@", "@" + digest, "@sha256:abc", ".", "-", "--", "_", "__", "___",
		"[::1]", " ", "é", "",
		digest[7:], strings.Repeat("p", 250), strings.Repeat("t", 128),
	}
	valid := 0
	for range 20_000 {
		var text strings.Builder
		for range 1 + random.IntN(6) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if compare(text.String()) {
			valid++
		}
	}
	if valid < 1_000 {
		t.Errorf("only %d of the texts are references", valid)
	}
}
