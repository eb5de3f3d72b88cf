package httpclient

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/internal/redact"
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

// maxExcerpt is how many characters of foreign text an error holds.
const maxExcerpt = 200

// Clean makes foreign text fit for an error or a log line: secrets blanked, one
// short line, printable characters only.
func Clean(text string, secrets ...string) string { return clean(redact.New(secrets...).Blank(text)) }

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

// credentials returns those of one request: the values of headers that are not
// public, and the password in its URL.
func credentials(req *http.Request) []string {
	var secrets []string
	for name, values := range req.Header {
		if isPublic(name) {
			continue
		}
		for _, value := range values {
			secrets = append(secrets, value)
			scheme, sent, _ := strings.Cut(value, " ")
			secrets = append(secrets, sent)
			if strings.EqualFold(scheme, "Basic") {
				decoded, _ := base64.StdEncoding.DecodeString(sent)
				_, password, _ := strings.Cut(string(decoded), ":")
				secrets = append(secrets, password)
			}
		}
	}
	if password, has := req.URL.User.Password(); has {
		secrets = append(secrets, password)
	}
	return secrets
}

// clean makes foreign text without secrets fit for an error: one short line, printable characters only. Blanking
// comes before: a cut secret is still a secret.
func clean(text string) string {
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
