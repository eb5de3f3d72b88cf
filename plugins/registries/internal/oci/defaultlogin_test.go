package oci

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// fakeLogin is a DefaultLogin with credentials by host, which records the hosts it is called with.
type fakeLogin struct {
	of    map[string]sdk.Credentials
	hosts []string
	err   error
	// renews makes it give second after a refusal.
	second *sdk.Credentials
}

func (l *fakeLogin) Credentials(_ context.Context, host string) (sdk.Credentials, error) {
	if !slices.Contains(l.hosts, host) {
		l.hosts = append(l.hosts, host)
	}
	return l.of[host], l.err
}

func (l *fakeLogin) Refused(sdk.Credentials) bool {
	if l.second == nil {
		return false
	}
	for host := range l.of {
		l.of[host] = *l.second
	}
	return true
}

func (l *fakeLogin) Source(host string) string {
	if l.of[host] == (sdk.Credentials{}) {
		return ""
	}
	return "/home/ann/.docker/config.json"
}

func (l *fakeLogin) LogTo(hclog.Logger) {}

// withDefaultLogin returns a registry without credentials of its own that may use those of l.
func withDefaultLogin(n Doer, l DefaultLogin, change ...func(*Config)) *Registry {
	r := newRegistry(n, change...)
	if l != nil {
		r.shared.SetDefaultLogin(l)
	}
	return r
}

func ann(password string) sdk.Credentials {
	return sdk.Credentials{Username: "ann", Password: password}
}

func TestDefaultLogin(t *testing.T) {
	for name, auth := range map[string]registrysim.Auth{"basic": registrysim.Basic, "tokens": registrysim.Token} {
		t.Run(name, func(t *testing.T) {
			sim := registrysim.New(registrysim.Options{
				Auth: auth, Users: map[string]string{"ann": "s3cret"}, Private: func(string) bool { return true },
			})
			sim.Push("team/app", "1.0.0")
			l := &fakeLogin{of: map[string]sdk.Credentials{simHost: ann("s3cret")}}
			r := withDefaultLogin(internet{simHost: sim}, l)
			mustTags(t, r, app())
			if got, err := r.Credentials(t.Context(), app()); err != nil || got != ann("s3cret") {
				t.Errorf("Credentials returns %v, %v", got, err)
			}

			// What the registry is configured with comes first.
			l = &fakeLogin{of: map[string]sdk.Credentials{simHost: ann("wr0ng")}}
			mustTags(t, withDefaultLogin(internet{simHost: sim}, l, withLogin("ann", "s3cret")), app())
			if len(l.hosts) > 0 {
				t.Errorf("called for the credentials of %q", l.hosts)
			}

			// Wrong ones are reported, and not repeated.
			_, err := withDefaultLogin(internet{simHost: sim}, l).Tags(t.Context(), app(), "")
			checkKind(t, err, sdk.ErrUnauthorized)
			if want := "check the credentials for " + simHost + " in /home/ann/.docker/config.json"; err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if strings.Contains(err.Error(), "wr0ng") {
				t.Errorf("error %v", err)
			}

			l.err = sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the helper hangs"))
			_, err = withDefaultLogin(internet{simHost: sim}, l).Tags(t.Context(), app(), "")
			checkKind(t, err, sdk.ErrUnavailable)
			if !strings.Contains(err.Error(), "log in to "+simHost+": the helper hangs") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A helper may have newer credentials after a refusal.
func TestDefaultLoginIsRenewedAfterRefusal(t *testing.T) {
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"ann": "new"}})
	sim.Push("team/app", "1.0.0")
	second := ann("new")
	mustTags(t,
		withDefaultLogin(internet{simHost: sim}, &fakeLogin{
			of: map[string]sdk.Credentials{simHost: ann("old")}, second: &second,
		}), app())
}

// A login that has nothing for a host causes no request.
func TestDefaultLoginWithoutCredentialsCostsNoRequest(t *testing.T) {
	for name, o := range map[string]registrysim.Options{
		"open": {}, "basic": {Auth: registrysim.Basic}, "tokens": {Auth: registrysim.Token},
		"private": {Auth: registrysim.Token, Private: func(string) bool { return true }},
	} {
		var counts []registrysim.Counts
		for _, l := range []DefaultLogin{nil, &fakeLogin{}} {
			sim := registrysim.New(o)
			sim.Push("team/app", "1.0.0")
			r := withDefaultLogin(internet{simHost: sim}, l)
			_, _ = r.Tags(t.Context(), app(), "")
			_, _ = r.Tags(t.Context(), repo("team/none"), "")
			counts = append(counts, sim.Counts())
		}
		if counts[0] != counts[1] {
			t.Errorf("%s: %+v with a default login, %+v without", name, counts[1], counts[0])
		}
	}
}

// Credentials are those of the host that sees them: a mirror does not get those
// of the registry it stands for. An engine gets those of the registry.
func TestDefaultLoginIsThatOfTheMirror(t *testing.T) {
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"ann": "mirror"}})
	sim.Push("team/app", "1.0.0")
	l := &fakeLogin{of: map[string]sdk.Credentials{"hub.test": ann("hub"), "mirror.test": ann("mirror")}}
	r := withDefaultLogin(internet{"mirror.test": sim}, l, func(c *Config) {
		c.Hosts = []registry.Host{{Pattern: "hub.test", URL: "http://mirror.test/v2"}}
	})
	at := registry.Repository{Host: "hub.test", Name: "team/app"}
	mustTags(t, r, at)
	if !slices.Equal(l.hosts, []string{"mirror.test"}) {
		t.Errorf("called for the credentials of %q", l.hosts)
	}
	if got, err := r.Credentials(t.Context(), at); err != nil || got != ann("hub") {
		t.Errorf("an engine gets %v, %v", got, err)
	}
}

// Neither redirects nor foreign token services get the credentials.
func TestDefaultLoginIsNotSentToOtherHosts(t *testing.T) {
	l := &fakeLogin{of: map[string]sdk.Credentials{simHost: ann("s3cret")}}
	backend := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"ann": "s3cret"}})
	backend.Push("team/app", "1.0.0")
	front := &seen{Handler: backend}
	_, err := withDefaultLogin(internet{simHost: redirect("http://backend.test"), "backend.test": front},
		l).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)

	tokens := &seen{Handler: backend}
	sim := registrysim.New(registrysim.Options{
		Auth: registrysim.Token, Realm: "http://tokens.example/token", Users: map[string]string{"ann": "s3cret"},
	})
	sim.Push("team/app", "1.0.0")
	_, err = withDefaultLogin(internet{simHost: sim, "tokens.example": tokens}, l).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if got := slices.Concat(front.got, tokens.got); len(got) > 0 {
		t.Errorf("credentials travelled: %q", got)
	}
}

// identityService is a registry whose token service takes identity tokens only.
type identityService struct {
	token string
	forms []string
	echo  bool
}

func (s *identityService) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case req.URL.Path == "/oauth2/token":
		if err := req.ParseForm(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		f := req.PostForm
		s.forms = append(s.forms,
			strings.Join([]string{req.Method, f.Get("grant_type"), f.Get("service"), f.Get("scope"), f.Get("client_id"),
				req.URL.RawQuery, req.Header.Get("Authorization")}, "|"))
		if s.echo || f.Get("refresh_token") != s.token {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"errors":[{"code":"UNAUTHORIZED","message":"%s is wrong in %s"}]}`, f.Get("refresh_token"),
				f.Encode())
			return
		}
		fmt.Fprint(w, `{"access_token":"given","refresh_token":"another"}`)
	case req.Header.Get("Authorization") == "Bearer given":
		fmt.Fprint(w, `{"tags":["1.0.0"]}`)
	default:
		w.Header().Set("WWW-Authenticate",
			`Bearer realm="http://sim.test/oauth2/token",service="sim.test",scope="repository:team/app:pull"`)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func TestIdentityTokenIsExchanged(t *testing.T) {
	const token = "recognisable/identity+token"
	l := &fakeLogin{of: map[string]sdk.Credentials{simHost: {Username: IdentityToken, Password: token}}}
	s := &identityService{token: token}
	r := withDefaultLogin(internet{simHost: s}, l)
	for range 2 {
		mustTags(t, r, app("team/app", "team/db"))
	}
	want := []string{"POST|refresh_token|sim.test|repository:team/app:pull repository:team/db:pull|dogwatch||"}
	if !slices.Equal(s.forms, want) {
		t.Errorf("requested tokens with %q\nwant %q", s.forms, want)
	}

	s.echo = true
	_, err := withDefaultLogin(internet{simHost: s}, l).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if strings.Contains(err.Error(), "recognisable") {
		t.Errorf("error %v", err)
	}

	// It is no password.
	basic := &seen{Handler: registrysim.New(registrysim.Options{Auth: registrysim.Basic})}
	_, err = withDefaultLogin(internet{simHost: basic}, l).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if len(basic.got) > 0 {
		t.Errorf("sent %q", basic.got)
	}
}

func TestRegistryTokenIsSentAsIs(t *testing.T) {
	s := &identityService{}
	mustTags(t,
		withDefaultLogin(internet{simHost: s}, &fakeLogin{
			of: map[string]sdk.Credentials{simHost: {Username: RegistryToken, Password: "given"}},
		}), app())
	_, err := withDefaultLogin(internet{simHost: s}, &fakeLogin{
		of: map[string]sdk.Credentials{simHost: {Username: RegistryToken, Password: "ended"}},
	}).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if len(s.forms) > 0 {
		t.Errorf("requested tokens with %q", s.forms)
	}
}
