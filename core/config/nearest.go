package config

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// synonyms are words that different programs use for the same option, the most
// usual first.
var synonyms = [][]string{
	{"login", "username", "user", "account", "userid"},
	{"password", "pass", "passwd", "token", "accesstoken", "apikey", "secret", "hash"},
	{"url", "host", "hostname", "server", "address", "endpoint"},
}

// nearest returns the known name that was probably meant: one that means the
// same, else one that is spelt alike, else the only one that ends in the name
// (auth.token for token), else the longest that the name ends in (url for
// webhookurl).
func nearest(name string, known []string) string {
	if same := synonym(name, known); same != "" {
		return same
	}
	if near := option.Suggest(name, known); near != "" {
		return near
	}
	var below []string
	inside := ""
	for _, k := range known {
		if strings.HasSuffix(k, "."+name) {
			below = append(below, k)
		}
		if strings.HasSuffix(name, k) && len(k) > max(2, len(inside)) {
			inside = k
		}
	}
	if len(below) == 1 {
		return below[0]
	}
	return inside
}

// synonym returns the known name that means the same as name; "" when there is none.
func synonym(name string, known []string) string {
	for _, group := range synonyms {
		if !slices.Contains(group, name) {
			continue
		}
		for _, other := range group {
			if other != name && slices.Contains(known, other) {
				return other
			}
		}
	}
	return ""
}
