package oci

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

func overTLS(c *Config) {
	c.Hosts = []registry.Host{{Pattern: simHost, URL: "https://" + simHost + "/v2"}}
}

// pulledBy is the repository with credentials of the image's own.
func pulledBy(password string) registry.Repository {
	at := app()
	at.Credentials = ann(password)
	return at
}

// TestCredentialsOfImage: they count where the instance has none of its own, before those by default, in requests about
// that image alone.
func TestCredentialsOfImage(t *testing.T) {
	for name, auth := range map[string]registrysim.Auth{"basic": registrysim.Basic, "tokens": registrysim.Token} {
		t.Run(name, func(t *testing.T) {
			sim := registrysim.New(registrysim.Options{
				Auth: auth, Users: map[string]string{"ann": "s3cret"}, Private: func(string) bool { return true },
				Realm: "https://" + simHost + "/token",
			})
			sim.Push("team/app", "1.0.0")
			n := internet{simHost: sim}
			for name, r := range map[string]*Registry{
				"alone": withDefaultLogin(n, nil, overTLS),
				"before those by default": withDefaultLogin(n,
					&fakeLogin{of: map[string]sdk.Credentials{simHost: ann("wr0ng")}}, overTLS),
			} {
				mustTags(t, r, pulledBy("s3cret"))
				if got, err := r.Credentials(t.Context(), pulledBy("s3cret")); err != nil || got == ann("s3cret") {
					t.Errorf("%s: they are passed on: %v, %v", name, got, err)
				}
				_, err := r.Tags(t.Context(), app(), "")
				checkKind(t, err, sdk.ErrUnauthorized) // another image has nothing of them
			}
			mustTags(t, withDefaultLogin(n, nil, overTLS, withLogin("ann", "s3cret")), pulledBy("wr0ng"))

			sim.ResetCounts()
			r := withDefaultLogin(n, nil, overTLS)
			_, err := r.Tags(t.Context(), pulledBy("wr0ng"), "")
			checkKind(t, err, sdk.ErrUnauthorized)
			if err == nil || strings.Contains(err.Error(), "wr0ng") || !strings.Contains(err.Error(), "check the pull secret") {
				t.Errorf("error %v", err)
			}
			if got := sim.Counts(); got.Total > 5 {
				t.Errorf("wrong ones cost %+v", got)
			}
		})
	}
}

// TestCredentialsOfImageAreForItsHost: a mirror does not get them, nor another host that stands for it, nor who listens
// on the way.
func TestCredentialsOfImageAreForItsHost(t *testing.T) {
	for pattern, address := range map[string]string{
		simHost: "http://" + simHost + "/v2", "hub.test": "https://" + simHost + "/v2", "docker.io": "https://" + simHost + "/v2",
	} {
		sim := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"ann": "s3cret"}})
		sim.Push("team/app", "1.0.0")
		front := &seen{Handler: sim}
		r := withDefaultLogin(internet{simHost: front}, nil, func(c *Config) {
			c.Hosts = []registry.Host{{Pattern: pattern, URL: address}}
		})
		at := pulledBy("s3cret")
		at.Host = pattern
		_, err := r.Tags(t.Context(), at, "")
		checkKind(t, err, sdk.ErrUnauthorized)
		if len(front.got) > 0 {
			t.Errorf("%s got credentials: %q", address, front.got)
		}
	}
	hub := &seen{Handler: registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"ann": "s3cret"}})}
	r := withDefaultLogin(internet{dockerHub: hub}, nil, func(c *Config) {
		c.Hosts = []registry.Host{{Pattern: "docker.io", URL: "https://" + dockerHub + "/v2"}}
	})
	at := pulledBy("s3cret")
	at.Host = "docker.io"
	_, _ = r.Tags(t.Context(), at, "")
	if !slices.ContainsFunc(hub.got, func(h string) bool { return strings.HasPrefix(h, "Basic ") }) {
		t.Errorf("Docker Hub got %q", hub.got)
	}
}
