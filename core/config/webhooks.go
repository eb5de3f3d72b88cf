package config

import (
	"fmt"
	"slices"
	"strings"
)

// minHookSecret is how long the secret of a webhook is at least: a client that guesses it
// can have requests made to registries as often as it likes.
const minHookSecret = 12

// Webhooks are the addresses that registries and CI call when an image was pushed; see
// package webhook. They are written as lists of name=value.
type Webhooks struct {
	Secrets  []string `option:"secrets,secret" help:"Webhooks at /api/webhooks/NAME, as name=secret, such as ghcr=3f0c...: what has the secret may have the containers checked whose image was pushed, and nothing else"`
	URLToken []string `option:"urltoken" help:"Names of webhooks whose secret may be in their address as ?token=..., for senders that can do nothing else (Docker Hub, Quay); logs of proxies may keep it"`
	Hosts    []string `option:"hosts" help:"Registries as the containers' images name them, as name=host, such as lab=localhost:5000, where the sender of a webhook names itself otherwise"`
}

// Hook is one webhook.
type Hook struct {
	Name, Secret, Host string
	URLToken           bool
}

// Hooks returns the webhooks in the order in which they are written.
func (w Webhooks) Hooks() []Hook {
	hosts := map[string]string{}
	for _, entry := range w.Hosts {
		name, host, _ := strings.Cut(entry, "=")
		hosts[strings.ToLower(name)] = host
	}
	var all []Hook
	for _, entry := range w.Secrets {
		name, secret, _ := strings.Cut(entry, "=")
		name = strings.ToLower(name)
		all = append(all, Hook{
			Name: name, Secret: secret, Host: hosts[name],
			URLToken: slices.ContainsFunc(w.URLToken, func(n string) bool { return strings.EqualFold(n, name) }),
		})
	}
	return all
}

// checkWebhooks drops what cannot be understood.
func (l *loader) checkWebhooks(w *Webhooks) {
	known := map[string]bool{}
	w.Secrets = slices.DeleteFunc(w.Secrets, func(entry string) bool {
		name, secret, found := strings.Cut(entry, "=")
		name = strings.ToLower(name)
		switch {
		case !found || !nameForm().MatchString(name): // what was written may be a secret
			l.fault("webhooks.secrets", "want name=secret, with a name of a-z, 0-9 and -",
				"for example ghcr=$(openssl rand -hex 20)")
		case len(secret) < minHookSecret:
			l.fault("webhooks.secrets",
				fmt.Sprintf("the secret of %s is shorter than %d characters", name, minHookSecret),
				"make one with openssl rand -hex 20")
		case known[name]:
			l.fault("webhooks.secrets", fmt.Sprintf("there are two webhooks called %s", name), "give each a name of its own")
		default:
			known[name] = true
			return false
		}
		return true
	})
	unknown := func(key, name string) bool {
		if known[strings.ToLower(name)] {
			return false
		}
		l.fault(key, fmt.Sprintf("there is no webhook %q", name), "add it to webhooks.secrets, or remove it here")
		return true
	}
	w.URLToken = slices.DeleteFunc(w.URLToken, func(name string) bool { return unknown("webhooks.urltoken", name) })
	w.Hosts = slices.DeleteFunc(w.Hosts, func(entry string) bool {
		name, host, _ := strings.Cut(entry, "=")
		if !isForgeHost(host) {
			l.fault("webhooks.hosts", fmt.Sprintf("want name=host, got %q", entry), "for example lab=localhost:5000")
			return true
		}
		return unknown("webhooks.hosts", name)
	})
}
