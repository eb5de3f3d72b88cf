package tag

import (
	"errors"
	"testing"
)

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
		there, err1 := s.Select(x, []string{y})
		back, err2 := s.Select(y, []string{x})
		if err1 != nil || err2 != nil || (there.Newer && back.Newer) {
			t.Fatalf("%q and %q are newer than each other", x, y)
		}
		s.Parts(x)
	})
}

func FuzzCompile(f *testing.F) {
	for _, p := range []string{`^\d+$`, `(?=a)b`, `[`, `^v(.*)$ => $1.$2`, `(?<n>a)\k<n>`, `\u0031[^]`, `((x{1000}){1000}){1000}`, `a{2,1500}`, `(?P<a>b)`} {
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
		if _, err := s.Explain("1.0.0", pool[:8]); err != nil && !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
	})
}
