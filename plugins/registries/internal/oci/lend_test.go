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

// lends is a Lender with credentials by host, which notes what it is asked.
type lends struct {
	of    map[string]sdk.Credentials
	asked []string
	err   error
	// renews makes it give second after a refusal.
	second *sdk.Credentials
}

func (l *lends) Credentials(_ context.Context, host string) (sdk.Credentials, error) {
	if !slices.Contains(l.asked, host) {
		l.asked = append(l.asked, host)
	}
	return l.of[host], l.err
}

func (l *lends) Refused(sdk.Credentials) bool {
	if l.second == nil {
		return false
	}
	for host := range l.of {
		l.of[host] = *l.second
	}
	return true
}

func (l *lends) Source(host string) string {
	if l.of[host] == (sdk.Credentials{}) {
		return ""
	}
	return "/home/ann/.docker/config.json"
}

func (l *lends) LogTo(hclog.Logger) {}

// borrowing returns a registry without credentials of its own that may use those of l.
func borrowing(n Doer, l Lender, change ...func(*Config)) *Registry {
	r := newRegistry(n, change...)
	if l != nil {
		r.shared.Lend(l)
	}
	return r
}

func ann(password string) sdk.Credentials {
	return sdk.Credentials{Username: "ann", Password: password}
}

func TestLentCredentials(t *testing.T) {
	for name, auth := range map[string]registrysim.Auth{"basic": registrysim.Basic, "tokens": registrysim.Token} {
		t.Run(name, func(t *testing.T) {
			sim := registrysim.New(registrysim.Options{Auth: auth, Users: map[string]string{"ann": "s3cret"}, Private: func(string) bool { return true }})
			sim.Push("team/app", "1.0.0")
			l := &lends{of: map[string]sdk.Credentials{simHost: ann("s3cret")}}
			r := borrowing(internet{simHost: sim}, l)
			mustTags(t, r, app())
			if got, err := r.Credentials(t.Context(), app()); err != nil || got != ann("s3cret") {
				t.Errorf("lends on %v, %v", got, err)
			}

			// What the registry is configured with comes first.
			l = &lends{of: map[string]sdk.Credentials{simHost: ann("wr0ng")}}
			mustTags(t, borrowing(internet{simHost: sim}, l, withLogin("ann", "s3cret")), app())
			if len(l.asked) > 0 {
				t.Errorf("asked for the credentials of %q", l.asked)
			}

			// Wrong ones are told as such, and not repeated.
			_, err := borrowing(internet{simHost: sim}, l).Tags(t.Context(), app(), "")
			checkKind(t, err, sdk.ErrUnauthorized)
			if want := "check the credentials for " + simHost + " in /home/ann/.docker/config.json"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if strings.Contains(err.Error(), "wr0ng") {
				t.Errorf("error %v", err)
			}

			l.err = sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the helper hangs"))
			_, err = borrowing(internet{simHost: sim}, l).Tags(t.Context(), app(), "")
			checkKind(t, err, sdk.ErrUnavailable)
			if !strings.Contains(err.Error(), "log in to "+simHost+": the helper hangs") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A helper may have newer credentials after a refusal.
func TestLentCredentialsAreRenewed(t *testing.T) {
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"ann": "new"}})
	sim.Push("team/app", "1.0.0")
	second := ann("new")
	mustTags(t, borrowing(internet{simHost: sim}, &lends{of: map[string]sdk.Credentials{simHost: ann("old")}, second: &second}), app())
}

// Where there is nothing to borrow, not one request more is made.
func TestNothingToBorrow(t *testing.T) {
	for name, o := range map[string]registrysim.Options{
		"open": {}, "basic": {Auth: registrysim.Basic}, "tokens": {Auth: registrysim.Token}, "private": {Auth: registrysim.Token, Private: func(string) bool { return true }},
	} {
		var counts []registrysim.Counts
		for _, l := range []Lender{nil, &lends{}} {
			sim := registrysim.New(o)
			sim.Push("team/app", "1.0.0")
			r := borrowing(internet{simHost: sim}, l)
			_, _ = r.Tags(t.Context(), app(), "")
			_, _ = r.Tags(t.Context(), repo("team/none"), "")
			counts = append(counts, sim.Counts())
		}
		if counts[0] != counts[1] {
			t.Errorf("%s: %+v with a lender, %+v without", name, counts[1], counts[0])
		}
	}
}

// Credentials are those of the host that sees them: a mirror does not get those
// of the registry it stands for. An engine gets those of the registry.
func TestLentToTheHostThatIsAsked(t *testing.T) {
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"ann": "mirror"}})
	sim.Push("team/app", "1.0.0")
	l := &lends{of: map[string]sdk.Credentials{"hub.test": ann("hub"), "mirror.test": ann("mirror")}}
	r := borrowing(internet{"mirror.test": sim}, l, func(c *Config) {
		c.Hosts = []registry.Host{{Pattern: "hub.test", URL: "http://mirror.test/v2"}}
	})
	at := registry.Repository{Host: "hub.test", Name: "team/app"}
	mustTags(t, r, at)
	if !slices.Equal(l.asked, []string{"mirror.test"}) {
		t.Errorf("asked for the credentials of %q", l.asked)
	}
	if got, err := r.Credentials(t.Context(), at); err != nil || got != ann("hub") {
		t.Errorf("an engine gets %v, %v", got, err)
	}
}

// Neither redirects nor foreign token services get what is lent.
func TestLentStaysAtItsHost(t *testing.T) {
	l := &lends{of: map[string]sdk.Credentials{simHost: ann("s3cret")}}
	backend := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"ann": "s3cret"}})
	backend.Push("team/app", "1.0.0")
	door := &seen{Handler: backend}
	_, err := borrowing(internet{simHost: redirect("http://backend.test"), "backend.test": door}, l).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)

	tokens := &seen{Handler: backend}
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Token, Realm: "http://tokens.example/token", Users: map[string]string{"ann": "s3cret"}})
	sim.Push("team/app", "1.0.0")
	_, err = borrowing(internet{simHost: sim, "tokens.example": tokens}, l).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if got := slices.Concat(door.got, tokens.got); len(got) > 0 {
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
		s.forms = append(s.forms, strings.Join([]string{req.Method, f.Get("grant_type"), f.Get("service"), f.Get("scope"), f.Get("client_id"), req.URL.RawQuery, req.Header.Get("Authorization")}, "|"))
		if s.echo || f.Get("refresh_token") != s.token {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"errors":[{"code":"UNAUTHORIZED","message":"%s is wrong in %s"}]}`, f.Get("refresh_token"), f.Encode())
			return
		}
		fmt.Fprint(w, `{"access_token":"given","refresh_token":"another"}`)
	case req.Header.Get("Authorization") == "Bearer given":
		fmt.Fprint(w, `{"tags":["1.0.0"]}`)
	default:
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://sim.test/oauth2/token",service="sim.test",scope="repository:team/app:pull"`)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func TestIdentityToken(t *testing.T) {
	const token = "recognisable/identity+token"
	l := &lends{of: map[string]sdk.Credentials{simHost: {Username: IdentityToken, Password: token}}}
	s := &identityService{token: token}
	r := borrowing(internet{simHost: s}, l)
	for range 2 {
		mustTags(t, r, app("team/app", "team/db"))
	}
	want := []string{"POST|refresh_token|sim.test|repository:team/app:pull repository:team/db:pull|dogwatch||"}
	if !slices.Equal(s.forms, want) {
		t.Errorf("asked for tokens with %q\nwant %q", s.forms, want)
	}

	s.echo = true
	_, err := borrowing(internet{simHost: s}, l).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if strings.Contains(err.Error(), "recognisable") {
		t.Errorf("error %v", err)
	}

	// It is no password.
	basic := &seen{Handler: registrysim.New(registrysim.Options{Auth: registrysim.Basic})}
	_, err = borrowing(internet{simHost: basic}, l).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if len(basic.got) > 0 {
		t.Errorf("sent %q", basic.got)
	}
}

func TestRegistryToken(t *testing.T) {
	s := &identityService{}
	mustTags(t, borrowing(internet{simHost: s}, &lends{of: map[string]sdk.Credentials{simHost: {Username: RegistryToken, Password: "given"}}}), app())
	_, err := borrowing(internet{simHost: s}, &lends{of: map[string]sdk.Credentials{simHost: {Username: RegistryToken, Password: "ended"}}}).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if len(s.forms) > 0 {
		t.Errorf("asked for tokens with %q", s.forms)
	}
}
