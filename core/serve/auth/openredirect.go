package auth

import (
	"net/url"
	"strings"
)

// LocalPath returns where to redirect after a login: next if it is a path on this
// server, and "" otherwise. It prevents an open redirect from the login page to
// another site.
func LocalPath(next string) string {
	u, err := url.Parse(next)
	switch {
	case err != nil, u.Scheme != "", u.Host != "", u.User != nil, u.Opaque != "",
		!strings.HasPrefix(next, "/"), strings.HasPrefix(next, "//"),
		// browsers read \ as /, and skip what cannot be seen
		strings.ContainsFunc(next, func(c rune) bool { return c < ' ' || c == '\\' || c == 0x7f }):
		return ""
	}
	return next
}
