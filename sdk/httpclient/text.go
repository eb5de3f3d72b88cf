package httpclient

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Truncate returns s cut to at most the given number of characters, and whether
// it was cut; a cut text ends with "…", which counts. Invalid UTF-8 is replaced.
func Truncate(s string, runes int) (string, bool) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= runes {
		return s, false
	}
	if runes < 1 {
		return "", true
	}
	kept := 0
	for i := range s {
		if kept == runes-1 {
			return s[:i] + ellipsis, true
		}
		kept++
	}
	return s, false
}

// TruncateBytes is Truncate with a limit in bytes of UTF-8; characters stay whole.
func TruncateBytes(s string, limit int) (string, bool) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s, false
	}
	end := limit - len(ellipsis)
	if end < 0 {
		return "", true
	}
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis, true
}

const (
	// maxExcerpt is how many characters of foreign text an error holds.
	maxExcerpt = 200
	// minSecret is the length from which a text is worth blanking; blanking
	// shorter ones would only show where they occur in ordinary words.
	minSecret = 4
)

// Clean makes foreign text fit for an error or a log line: secrets blanked, one
// short line, printable characters only.
func Clean(text string, secrets ...string) string { return newRedactor(secrets...).clean(text) }

// SecretParts are the parts of a URL that is itself a secret, such as a web
// hook: its password, the segments of its path and the values of its query.
// Give them to New.
func SecretParts(u *url.URL) []string {
	parts := strings.Split(u.Path, "/")
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	if password, has := u.User.Password(); has {
		parts = append(parts, password)
	}
	return parts
}

// redactor blanks secrets, longest first so that no part of one survives another.
type redactor []string

func newRedactor(secrets ...string) redactor {
	var forms []string
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		inJSON, _ := json.Marshal(secret) // a string always has a JSON form
		forms = append(forms, secret, url.QueryEscape(secret), url.PathEscape(secret), string(inJSON[1:len(inJSON)-1]))
	}
	return longestFirst(forms)
}

// with adds the credentials of one request: the values of headers that are not
// public, and the user part of its URL.
func (r redactor) with(req *http.Request) redactor {
	var secrets []string
	for name, values := range req.Header {
		if isPublic(name) {
			continue
		}
		for _, value := range values {
			secrets = append(secrets, value)
			scheme, credentials, _ := strings.Cut(value, " ")
			secrets = append(secrets, credentials)
			if strings.EqualFold(scheme, "Basic") {
				decoded, _ := base64.StdEncoding.DecodeString(credentials)
				_, password, _ := strings.Cut(string(decoded), ":")
				secrets = append(secrets, password)
			}
		}
	}
	if password, has := req.URL.User.Password(); has {
		secrets = append(secrets, password)
	}
	return longestFirst(append(newRedactor(secrets...), r...))
}

func longestFirst(secrets []string) redactor {
	slices.SortFunc(secrets, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	return slices.Compact(secrets)
}

// longest is the length in bytes of the longest secret.
func (r redactor) longest() int {
	if len(r) == 0 {
		return 0
	}
	return len(r[0])
}

// clean makes foreign text fit for an error: secrets blanked, one short line,
// printable characters only. Blanking comes first: a cut secret is still a secret.
func (r redactor) clean(text string) string {
	for _, secret := range r {
		text = strings.ReplaceAll(text, secret, "***")
	}
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case !unicode.IsPrint(c):
			return -1
		}
		return c
	}, text)
	text, _ = Truncate(strings.Join(strings.Fields(text), " "), maxExcerpt)
	return text
}
