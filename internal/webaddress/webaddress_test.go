package webaddress

import (
	"net/url"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"https://github.com/a/b/releases/tag/v1.0": "https://github.com/a/b/releases/tag/v1.0",
		" http://nas.lan:8080/x?q=1|2#top\n":       "http://nas.lan:8080/x?q=1|2#top",
		"HTTPS://example.org":                      "https://example.org",
		"https://example.org/a b/ü":                "https://example.org/a%20b/%C3%BC",
		"":                                         "",
		"javascript:alert(1)":                      "",
		"JavaScript:alert(1)":                      "",
		"java\nscript:alert(1)":                    "",
		"\u0001javascript:alert(1)":                "",
		"javascript://example.org/%0aalert(1)":     "",
		"data:text/html,<script>alert(1)</script>": "",
		"vbscript:x":                               "",
		"file:///etc/passwd":                       "",
		"ftp://example.org/":                       "",
		"//example.org/":                           "",
		"/local":                                   "",
		"example.org/releases":                     "",
		"https:example.org":                        "",
		"https:///path":                            "",
		"https://a\"onclick=x":                     "",
		"http:\\\\example.org":                     "",
		"https://example.org/\u202egpj.exe":        "",
		"https://exam\u200bple.org/":               "",
		"https://example.org/a\nb":                 "",
	} {
		if got := Of(text); got != want {
			t.Errorf("Of(%q) = %q, want %q", text, got, want)
		}
		if _, err := Parse(text); (err == nil) != (want != "") ||
			err != nil && !strings.Contains(err.Error(), "https:// or http://") {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
	if _, err := Parse("javascript:x?token=s3cret"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
	if Is(nil) || Is(&url.URL{}) {
		t.Error("no address is one")
	}
}

func FuzzOf(f *testing.F) {
	for _, seed := range []string{"https://a", "javascript:a", "http://a\tb", " \x00https://a", "https://[::1%25x]/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Of(text)
		if got != "" && !strings.HasPrefix(got, "https://") && !strings.HasPrefix(got, "http://") {
			t.Errorf("Of(%q) = %q", text, got)
		}
		if again := Of(got); again != got {
			t.Errorf("Of(%q) = %q, and once more %q", text, got, again)
		}
		if strings.ContainsAny(got, "\x00\t\r\n") {
			t.Errorf("Of(%q) = %q", text, got)
		}
	})
}
