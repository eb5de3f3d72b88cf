package oci

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// pushAll fills a registry with repositories and returns them, each with all as
// its token scope hints.
func pushAll(sim *registrysim.Registry, names ...string) []registry.Repository {
	var all []registry.Repository
	for _, name := range names {
		sim.Push(name, "1.0")
		all = append(all, repo(name, names...))
	}
	return all
}

func listAll(t *testing.T, r *Registry, repos []registry.Repository) {
	t.Helper()
	for _, repo := range repos {
		if tags := mustTags(t, r, repo); !slices.Equal(tags, []string{"1.0"}) {
			t.Errorf("%s has tags %q", repo.Name, tags)
		}
	}
}

var fiveNames = []string{"a/a", "a/b", "a/c", "a/d", "a/e"}

func TestPrivateRepositoryIsUnauthorized(t *testing.T) {
	private := func(repo string) bool { return repo == "a/c" }
	for _, scopes := range []registrysim.Scopes{registrysim.AllScopes, registrysim.EveryTarget} {
		o := registrysim.Options{
			Auth: registrysim.Token, Service: "ghcr.io", Private: private, Users: map[string]string{"ann": "s3cret"},
			Scopes: scopes,
		}
		if scopes == registrysim.AllScopes {
			o.Service = "sim"
		}
		sim, r := newSim(o)
		repos := pushAll(sim, fiveNames...)
		_, err := r.Tags(t.Context(), repos[2], "")
		checkKind(t, err, sdk.ErrUnauthorized)
		if want := "list tags of a/c at sim.test: 401 unauthorized: unauthorized: authentication required; the repository does not exist or is private; for a private one set login and password of registry.custom.main"; err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		listAll(t, r, slices.Delete(slices.Clone(repos), 2, 3))
		sim.ResetCounts()
		listAll(t, r, slices.Delete(slices.Clone(repos), 2, 3))
		if got := sim.Counts(); got.Total != 4 {
			t.Errorf("one private repository makes the others cost %+v", got)
		}

		named := NewShared().New(r.Config)
		withLogin("ann", "s3cret")(&named.Config)
		listAll(t, named, repos)
	}
}

func TestWrongPasswordIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, r := newSim(registrysim.Options{Auth: registrysim.Token, Users: map[string]string{"ann": "right"}},
			withLogin("ann", "wr0ng-s3cret"))
		repos := pushAll(sim, fiveNames...)
		for _, repo := range repos {
			_, err := r.Tags(t.Context(), repo, "")
			checkKind(t, err, sdk.ErrUnauthorized)
			if want := "list tags of " + repo.Name +
				" at sim.test: get a token from sim.test: 401 unauthorized: incorrect username or password; check login and password of registry.custom.main, and whether they may read the repository"; err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		}
		if got := sim.Counts(); got.Tokens != 2 {
			t.Errorf("the wrong password was shown %d times, want 2: for all, for one", got.Tokens)
		}
		sim.ResetCounts()
		time.Sleep(failureTime + time.Second)
		if _, err := r.Tags(t.Context(), repos[0], ""); err == nil || sim.Counts().Tokens != 1 {
			t.Errorf("after a while: %v, %+v", err, sim.Counts())
		}
	})
}

func TestBasicAuthentication(t *testing.T) {
	users := map[string]string{"ann": "s3cret"}
	sim, r := newSim(registrysim.Options{Auth: registrysim.Basic, Users: users}, withLogin("ann", "s3cret"))
	for range 3 {
		mustTags(t, r, app())
	}
	if got := sim.Counts(); got.Total != 4 || got.Refused != 1 {
		t.Errorf("%+v, want one refusal", got)
	}
	for _, login := range []func(*Config){withLogin("ann", "wrong"), withLogin("", "")} {
		sim, r := newSim(registrysim.Options{Auth: registrysim.Basic, Users: users}, login)
		for range 2 {
			_, err := r.Tags(t.Context(), app(), "")
			checkKind(t, err, sdk.ErrUnauthorized)
		}
		if got := sim.Counts(); got.Total > 3 {
			t.Errorf("%d requests for the same refusal", got.Total)
		}
	}
}

// A registry that hides from the anonymous what they may not see, and one that
// refuses without withHeaders what it wants.
func TestPingLearnsChallengeOfTheRoot(t *testing.T) {
	for name, hide := range map[string]http.HandlerFunc{
		"hides":          registrysim.Status(404, ""),
		"refuses":        registrysim.Status(401, ""),
		"refuses firmly": registrysim.Status(403, ""),
	} {
		t.Run(name, func(t *testing.T) {
			sim := registrysim.New(registrysim.Options{Auth: registrysim.Token, Users: map[string]string{"ann": "s3cret"}})
			sim.Push("team/app", "1.0.0")
			front := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.Header.Get("Authorization") == "" && strings.Contains(req.URL.Path, "team") {
					hide(w, req)
					return
				}
				sim.ServeHTTP(w, req)
			})
			r := newRegistry(internet{simHost: front}, withLogin("ann", "s3cret"))
			for range 2 {
				if tags := mustTags(t, r, app()); len(tags) != 1 {
					t.Errorf("tags %q", tags)
				}
			}
			if got := sim.Counts(); got.Total != 4 { // ping, token, two lists
				t.Errorf("%+v", got)
			}
		})
	}
	silent := newRegistry(internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if user, password, _ := req.BasicAuth(); user != "ann" || password != "s3cret" {
			w.WriteHeader(401)
			return
		}
		w.Write([]byte(`{"tags":["1.0"]}`))
	})}, withLogin("ann", "s3cret"))
	mustTags(t, silent, app())
}

// renewing is a login whose credentials change when they are refused.
type renewing struct{ n int }

func (l *renewing) Credentials(context.Context, string) (sdk.Credentials, error) {
	return sdk.Credentials{Username: "AWS", Password: fmt.Sprint("pass", l.n)}, nil
}

func (l *renewing) Refused(used sdk.Credentials) bool {
	l.n++
	return true
}

func TestLoginIsRenewedAfterRefusal(t *testing.T) {
	for _, status := range []int{401, 403} {
		h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if _, password, given := req.BasicAuth(); !given {
				w.Header().Set("WWW-Authenticate", `Basic realm="ecr"`)
				w.WriteHeader(401)
			} else if password != "pass1" {
				w.WriteHeader(status)
			} else {
				w.Write([]byte(`{"tags":["1.0"]}`))
			}
		})
		r := newRegistry(internet{simHost: h}, func(c *Config) { c.Login = &renewing{} })
		mustTags(t, r, app())
		r = newRegistry(internet{simHost: h}, func(c *Config) { c.Login = &renewing{n: 5} })
		_, err := r.Tags(t.Context(), app(), "")
		checkKind(t, err, sdk.ErrUnauthorized)
	}
}
