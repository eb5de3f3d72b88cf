package oci

import (
	"net/http"
	"strings"
)

// challenge is what a registry demands in a WWW-Authenticate header.
type challenge struct {
	basic   bool
	realm   string
	service string
	scope   string
	// public means that it came from a public address.
	public bool
}

// sameIssuer reports whether both demand the same kind of credentials.
func (c challenge) sameIssuer(o challenge) bool {
	return c.basic == o.basic && c.realm == o.realm && c.service == o.service
}

// findChallenge returns the challenge to meet. Bearer is preferred to Basic:
// a password is then sent once per token and not with each request.
func findChallenge(h http.Header) (challenge, bool) {
	var basic, found bool
	for _, line := range h.Values("WWW-Authenticate") {
		for _, c := range parseChallenges(line) {
			switch {
			case c.scheme == "bearer" && c.params["realm"] != "":
				return challenge{realm: c.params["realm"], service: c.params["service"], scope: c.params["scope"]}, true
			case c.scheme == "basic":
				basic, found = true, true
			}
		}
	}
	return challenge{basic: basic}, found
}

type authChallenge struct {
	scheme string
	params map[string]string
}

// maxParams is how many parameters of one challenge are read; registries send four.
const maxParams = 16

// parseChallenges reads the challenges of one header (RFC 9110 section 11.6.1).
// It is lenient: what cannot be read ends the list.
func parseChallenges(header string) []authChallenge {
	var list []authChallenge
	s := scanner(header)
	for {
		s.skip(" \t,")
		word := s.token()
		if word == "" {
			return list
		}
		s.skip(" \t")
		if !s.accept('=') || len(list) == 0 {
			list = append(list, authChallenge{scheme: strings.ToLower(word), params: map[string]string{}})
			continue
		}
		s.skip(" \t")
		value, ok := s.value()
		if !ok {
			return list
		}
		params := list[len(list)-1].params
		if key := strings.ToLower(word); len(params) < maxParams {
			if _, twice := params[key]; !twice {
				params[key] = value
			}
		}
	}
}

// scanner is the rest of a header.
type scanner string

func (s *scanner) skip(chars string) { *s = scanner(strings.TrimLeft(string(*s), chars)) }

func (s *scanner) accept(c byte) bool {
	if *s == "" || (*s)[0] != c {
		return false
	}
	*s = (*s)[1:]
	return true
}

// token reads a token of RFC 9110 section 5.6.2, or a token68 without its padding.
func (s *scanner) token() string {
	end := strings.IndexFunc(string(*s), func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),:;<=>?@[\]{}`, c)
	})
	if end < 0 {
		end = len(*s)
	}
	word := string(*s)[:end]
	*s = (*s)[end:]
	return word
}

// value reads a token or a quoted string. A bare value runs to the next comma,
// because some registries do not quote URLs.
func (s *scanner) value() (string, bool) {
	if !s.accept('"') {
		text, _, _ := strings.Cut(string(*s), ",")
		*s = (*s)[len(text):]
		return strings.TrimSpace(text), true
	}
	var b strings.Builder
	for i := 0; i < len(*s); i++ {
		switch c := (*s)[i]; {
		case c == '"':
			*s = (*s)[i+1:]
			return b.String(), true
		case c == '\\' && i+1 < len(*s):
			i++
			b.WriteByte((*s)[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
