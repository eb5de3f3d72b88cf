package config

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"url", "auth.token", "hass.enabled", "tls.enabled", "hass.discovery"}
	for name, want := range map[string]string{
		"ulr": "url", "token": "auth.token", "enabled": "", "discovery": "hass.discovery", "webhookurl": "url",
		"something": "", "curl": "url",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, test := range []struct{ name, known, want string }{
		{"user", "login password url", "login"},
		{"password", "user hash", "hash"},
		{"login", "user hash", "user"},
		{"login", "username token", "username"},
		{"password", "username token", "token"},
		{"user", "url token", ""},
		{"pass", "hash user", "hash"},
		{"server", "host port", "host"},
		{"host", "hosts mirror", "hosts"},
		{"usr", "user pass", "user"},
	} {
		if got := nearest(test.name, strings.Fields(test.known)); got != test.want {
			t.Errorf("%s of %s: %q, want %q", test.name, test.known, got, test.want)
		}
	}
	for name, want := range map[string]string{
		"alerts.host": "alerts host", "big.alerts.from.name": "big.alerts from.name", "alerts.hots": " ", "host": " ",
		"alerts.": " ",
	} {
		if named, rest := splitName(name, mailSchema(t)); named+" "+rest != want {
			t.Errorf("%s: %q and %q", name, named, rest)
		}
	}
}
