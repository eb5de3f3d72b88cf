package page

import (
	"testing"
)

func TestLocalPath(t *testing.T) {
	for text, want := range map[string]string{
		"/containers?q=x": "/containers?q=x", "": "/", "//evil.example": "/", "https://evil.example": "/",
		`/\evil.example`: "/", "/a\r\nSet-Cookie: x": "/", "containers": "/", "/\t/evil.example": "/",
	} {
		if got := LocalPath(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
