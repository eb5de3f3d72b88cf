package auth

import (
	"net/url"
	"testing"
)

func TestLocalPath(t *testing.T) {
	for next, want := range map[string]string{
		"/": "/", "/containers?q=a&b=%2F": "/containers?q=a&b=%2F", "/a//b": "/a//b", "/x#y": "/x#y",
		"": "", "containers": "", "//evil.com": "", "///evil.com": "", "/\\evil.com": "", "\\\\evil.com": "",
		"https://evil.com/": "", "javascript:alert(1)": "",
		"/\t/evil.com": "", "/\n/evil.com": "", "http:/x": "", "/%": "", " /x": "", "//user@evil.com": "", "/\x00": "",
	} {
		if got := LocalPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/x", "//evil.com", "/\\evil.com", "/\t/evil.com", "/%2f/evil.com", "/;//x", "/?//x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, next string) {
		got := LocalPath(next)
		if got == "" {
			return
		}
		base, _ := url.Parse("https://dog.example.org/login")
		to, err := base.Parse(got)
		if err != nil || to.Host != "dog.example.org" || to.Scheme != "https" {
			t.Errorf("%q leads to %v, %v", next, to, err)
		}
	})
}
