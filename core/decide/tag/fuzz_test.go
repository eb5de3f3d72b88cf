package tag

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// tags to draw from: everything this package knows about.
var pool = strings.Fields(`1 2 17 1.0 1.1 1.25 22.04 2024.01 v1.0 v2.0 1.0.0 1.0.1 2.0.0 v1.2.3 V1.2.3 2.0.0-rc1 2.0.0-rc2 2.0.0-rc10
	2.0.0-beta.1 2.0.0-alpine 2.0.0-rc1-alpine 1.25-alpine 1.26-alpine 1.26-dev 1.25-dev 1.27-dev 1.27 16-alpine3.19 17-alpine3.20 17-alpine3.9
	5.14.0.9383-ls245 6.3.0.10514-ls312 4.20.1-ls99 4.20.1-ls100 20240115 20240202 2024-01-15 2024-02-20 jammy-20240111 jammy-20240227
	1.0.0-99-7b368146 1.0.0-273-21d7efa6 1.0.0-273-21d7efa7 abc1234 sha-abc1234 1.0.0.sig latest nightly-1.0 nightly-1.1 beta-1.0 10.49.1c
	10.49.1d 1.2.3-amd64 1.2.4-amd64 1.2.4-arm64 amd64-1.2.3 amd64-1.3.0 9.0-jdk17 9.0-jdk21 RELEASE.2024-01-16T16-07-38Z 1.2.3-pg15 1.2.4-pg16
	RELEASE.2024-02-01T00-00-00Z 2021.12.16 10.11.0 1.00 01.0 1.0.00`)

func FuzzVersion(f *testing.F) {
	for _, tag := range pool {
		f.Add(tag, "1.0.0")
	}
	f.Add("2.0.0-preview.1.23110.8-alpine3.9", "1-dev-_.+")
	f.Fuzz(func(t *testing.T, x, y string) {
		s := mustCompile(t, Rules{})
		var a, b version
		okA, okB := s.read(&a, x), s.read(&b, y)
		if s.IsVersion(x) != okA || (okA && compareVersions(&a, &a) != 0) {
			t.Fatalf("%q is not itself", x)
		}
		if okA && okB && (compareVersions(&a, &b) > 0) != (compareVersions(&b, &a) < 0) {
			t.Fatalf("%q and %q do not compare both ways", x, y)
		}
		if s.Diff(x, y) != s.Diff(y, x) {
			t.Fatalf("Diff(%q, %q) is not symmetric", x, y)
		}
		there, err1 := s.Select(t.Context(), x, []string{y})
		back, err2 := s.Select(t.Context(), y, []string{x})
		if err1 != nil || err2 != nil || (there.Newer && back.Newer) {
			t.Fatalf("%q and %q are newer than each other", x, y)
		}
		s.Parts(x)
	})
}

// FuzzSelect holds any text against the properties of selection.
func FuzzSelect(f *testing.F) {
	for _, r := range readCorpus(f) {
		f.Add(r.running[0].current, strings.Join(r.tags[:20], " "), uint8(len(r.tags)))
	}
	f.Add("2.0.0-rc1.2-dev", "2.0.0.post1 1.0-1-1-alpine 1.0-1-alpine 2-git-1234567", uint8(4))
	f.Fuzz(func(t *testing.T, current, list string, n uint8) {
		s := mustCompile(t, propertyRules[int(n)%len(propertyRules)])
		newProperty(t, s, current, strings.Fields(list)).check(rand.New(rand.NewPCG(uint64(n), 1)))
	})
}

func FuzzCompile(f *testing.F) {
	for _, p := range []string{`^\d+$`, `(?=a)b`, `[`, `^v(.*)$ => $1.$2`, `(?<n>a)\k<n>`, `\u0031[^]`,
		`((x{1000}){1000}){1000}`, `a{2,1500}`, `(?P<a>b)`} {
		f.Add(p, p, p)
	}
	f.Fuzz(func(t *testing.T, include, exclude, transform string) {
		s, err := Compile(Rules{Include: include, Exclude: exclude, Transform: transform})
		if err != nil {
			var bad *RuleError
			if s != nil || !errors.As(err, &bad) || bad.Error() == "" {
				t.Fatalf("%v, %v", s, err)
			}
			return
		}
		if _, err := s.Explain(t.Context(), "1.0.0", pool[:8]); err != nil && !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
	})
}
