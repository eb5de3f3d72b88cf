package oci

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// named returns n names of repositories as long as those of real ones.
func repositoryNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("organisation/application-%03d", i)
	}
	return names
}

// A hundred and twenty repositories of Docker Hub and of GitHub, before and
// after their tokens have ended.
func TestTokenIsSharedByManyRepositories(t *testing.T) {
	tests := []struct {
		service string
		scopes  registrysim.Scopes
		tokens  int
	}{
		{"registry.docker.io", registrysim.AllScopes, 3},
		{"ghcr.io", registrysim.EveryTarget, 1},
		{"quay.io", registrysim.AllScopes, 2},
	}
	for _, test := range tests {
		t.Run(test.service, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim, r := newSim(registrysim.Options{Auth: registrysim.Token, Service: test.service, Scopes: test.scopes})
				repos := pushAll(sim, repositoryNames(120)...)
				for round := range 3 {
					listAll(t, r, repos)
					got := sim.Counts()
					refused := 0
					if round == 0 {
						refused = 1
					}
					if got.Tokens != test.tokens || got.Refused != refused || got.Total != 120+test.tokens+refused {
						t.Errorf("round %d: %+v, want %d tokens", round, got, test.tokens)
					}
					sim.ResetCounts()
					time.Sleep(10 * time.Minute)
				}
			})
		})
	}
}

// A check of two hundred repositories of three hosts, whose tokens have ended.
func TestRequestCountOfTwoHundredRepositories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := internet{}
		shared := NewShared()
		var sims []*registrysim.Registry
		check := func() (sum registrysim.Counts) {
			for h, sim := range sims {
				host := fmt.Sprintf("r%d.test", h)
				r := shared.New(Config{
					Instance: "registry.custom." + host, HTTP: hosts,
					Hosts: []registry.Host{{Pattern: host, URL: "http://" + host + "/v2"}},
				})
				var names []string
				for n := h; n < 200; n += len(sims) {
					names = append(names, fmt.Sprintf("team/app%04d", n))
				}
				for _, repo := range pushAll(sim, names...) {
					repo.Host = host
					mustTags(t, r, repo)
				}
				sum.Total += sim.Counts().Total
				sum.Tokens += sim.Counts().Tokens
				sim.ResetCounts()
			}
			return sum
		}
		for h := range 3 {
			sims = append(sims, registrysim.New(registrysim.Options{Auth: registrysim.Token}))
			hosts[fmt.Sprintf("r%d.test", h)] = sims[h]
		}
		if got := check(); got.Total != 206 {
			t.Errorf("first check: %+v, want 200 lists, 3 challenges and 3 tokens", got)
		}
		time.Sleep(time.Hour)
		if got := check(); got.Total != 203 || got.Tokens != 3 {
			t.Errorf("after an hour: %+v, want 200 lists and 3 tokens", got)
		}
	})
}

// GitHub refuses a token for what only some may see. That says nothing about
// the token that serves everything else.
func TestPrivateRepositoryDoesNotNarrowSharedToken(t *testing.T) {
	sim := registrysim.New(registrysim.Options{
		Auth: registrysim.Token, Service: "ghcr.io", Scopes: registrysim.EveryTarget,
		Private: func(repo string) bool { return repo == "a/a" },
	})
	front := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Get("scope") == "repository:a/a:pull" {
			registrysim.Status(403,
				`{"errors":[{"code":"DENIED","message":"requested access to the resource is denied"}]}`)(w, req)
			return
		}
		sim.ServeHTTP(w, req)
	})
	r := newRegistry(internet{simHost: front})
	repos := pushAll(sim, fiveNames...)
	for range 2 {
		_, err := r.Tags(t.Context(), repos[0], "")
		checkKind(t, err, sdk.ErrUnauthorized)
		listAll(t, r, repos[1:])
	}
	if got := sim.Counts(); got.Tokens != 1 {
		t.Errorf("%+v, want one token for the others", got)
	}
}

// A server that rejects long requests gets shorter ones, yet not one per scope.
func TestTooLongRequestsAreRetriedWithFewerScopes(t *testing.T) {
	tests := []struct {
		name   string
		front  func(sim *registrysim.Registry) http.HandlerFunc
		tokens int // that were given out
	}{
		{"the address of the token service", func(sim *registrysim.Registry) http.HandlerFunc {
			return func(w http.ResponseWriter, req *http.Request) {
				if len(req.URL.RequestURI()) > 2048 {
					w.WriteHeader(http.StatusRequestURITooLong)
					return
				}
				sim.ServeHTTP(w, req)
			}
		}, 5},
		{"the token", func(sim *registrysim.Registry) http.HandlerFunc {
			return func(w http.ResponseWriter, req *http.Request) {
				token := req.Header.Get("Authorization")
				if req.URL.Path == "/token" {
					// A token as long as one that names what it is for.
					req.Header.Set("X-Pad", strings.Repeat("x", 165*len(req.URL.Query()["scope"])))
				} else if len(token) > 8192 {
					w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
					return
				}
				padded(sim).ServeHTTP(w, req)
			}
		}, 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sim := registrysim.New(registrysim.Options{Auth: registrysim.Token})
			r := newRegistry(internet{simHost: test.front(sim)})
			repos := pushAll(sim, repositoryNames(100)...)
			listAll(t, r, repos)
			if got := sim.Counts(); got.Tokens > test.tokens {
				t.Errorf("%d tokens, want at most %d", got.Tokens, test.tokens)
			}
		})
	}
	// A 400 for a short request is not due to its length.
	sim, r := newSim(registrysim.Options{Auth: registrysim.Token})
	repos := pushAll(sim, fiveNames...)
	sim.Inject(registrysim.TagsRequest, 1,
		registrysim.Status(401, "", "WWW-Authenticate", `Bearer realm="http://sim.test/token",service="sim"`))
	sim.Inject(registrysim.TagsRequest, 1, registrysim.Status(400, ""))
	if _, err := r.Tags(t.Context(), repos[0], ""); err == nil || sim.Counts().Tokens != 1 {
		t.Errorf("%v after %+v", err, sim.Counts())
	}
}

// padded puts what a request has in X-Pad behind the token of the response,
// and takes it away from one that is shown.
func padded(sim http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		value, _, _ := strings.Cut(req.Header.Get("Authorization"), "~")
		if value != "" {
			req.Header.Set("Authorization", value)
		}
		sim.ServeHTTP(&padder{ResponseWriter: w, pad: req.Header.Get("X-Pad")}, req)
	}
}

type padder struct {
	http.ResponseWriter
	pad string
}

func (p *padder) Write(body []byte) (int, error) {
	if p.pad == "" {
		return p.ResponseWriter.Write(body)
	}
	head, rest, _ := strings.Cut(string(body), `"token":"`)
	value, rest, _ := strings.Cut(rest, `"`)
	_, err := fmt.Fprintf(p.ResponseWriter, `%s"token":"%s~%s"%s`, head, value, p.pad, rest)
	return len(body), err
}

// After narrowTime a service that failed once gets requests for many scopes again.
func TestManyScopesAreRequestedAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, r := newSim(registrysim.Options{Auth: registrysim.Token})
		repos := pushAll(sim, fiveNames...)
		sim.Inject(registrysim.TokenRequest, 1, registrysim.Status(500, ""))
		listAll(t, r, repos)
		if got := sim.Counts().Tokens; got != 6 {
			t.Errorf("%d tokens, want one that failed and one each", got)
		}
		sim.ResetCounts()
		time.Sleep(narrowTime + time.Minute)
		listAll(t, r, repos)
		if got := sim.Counts().Tokens; got != 1 {
			t.Errorf("%d tokens later, want one for all", got)
		}
	})
}

// A cache that keeps its copies below a project of its own, as Harbor does.
func TestMirrorBelowAProject(t *testing.T) {
	for _, root := range []string{"", "/registry"} {
		sim := registrysim.New(registrysim.Options{
			Auth: registrysim.Token, Users: map[string]string{"ann": "s3cret"}, Private: func(string) bool { return true },
		})
		var paths []string
		front := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			paths = append(paths, req.URL.Path)
			if req.Header.Get("Authorization") == "" && strings.Contains(req.URL.Path, "team") {
				w.WriteHeader(404) // and only the root says what is wanted
				return
			}
			if path, below := strings.CutPrefix(req.URL.Path, root); below {
				req.URL.Path = path
			}
			sim.ServeHTTP(w, req)
		})
		r := newRegistry(internet{simHost: front}, withLogin("ann", "s3cret"), func(c *Config) {
			base, err := Base("mirror", &url.URL{Scheme: "http", Host: simHost, Path: root + "/v2/cache/"})
			if err != nil {
				t.Fatal(err)
			}
			c.Hosts = At(base, simHost)
		})
		sim.Push("cache/team/app", "1.0")
		sim.Push("cache/team/db", "1.0")
		for _, name := range []string{"team/app", "team/db"} {
			mustTags(t, r, repo(name, "team/app", "team/db"))
		}
		want := root + "/v2/cache/team/app/tags/list " + root + "/v2/ /token " + root +
			"/v2/cache/team/app/tags/list " + root + "/v2/cache/team/db/tags/list"
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("requested %s\nwant  %s", got, want)
		}
	}
}
