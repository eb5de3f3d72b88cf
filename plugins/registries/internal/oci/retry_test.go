package oci

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// seen is a handler that notes what credentials reach a host.
type seen struct {
	http.Handler
	got []string
}

func (s *seen) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if a := req.Header.Get("Authorization"); a != "" {
		s.got = append(s.got, a)
	}
	s.Handler.ServeHTTP(w, req)
}

func redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, to+req.URL.RequestURI(), http.StatusTemporaryRedirect)
	})
}

// The host redirects everything, as lscr.io does to ghcr.io.
func TestRedirectedHostIsRequestedDirectly(t *testing.T) {
	backend := registrysim.New(registrysim.Options{Auth: registrysim.Token, Users: map[string]string{"ann": "s3cret"}})
	target := &seen{Handler: backend}
	front := &seen{Handler: redirect("http://backend.test")}
	r := newRegistry(internet{simHost: front, "backend.test": target}, withLogin("ann", "s3cret"))
	repos := pushAll(backend, fiveNames...)
	listAll(t, r, repos)
	// One refusal, one token, and from then on no detour.
	if got := backend.Counts(); got.Total != 7 {
		t.Errorf("%+v", got)
	}
	for _, a := range append(target.got, front.got...) {
		if !strings.HasPrefix(a, "Bearer sim-token-") {
			t.Errorf("credentials were sent along: %s", a)
		}
	}

	// The operator may say that the other host is trusted.
	r = newRegistry(internet{simHost: front, "backend.test": target}, withLogin("ann", "s3cret"), func(c *Config) {
		c.TokenHosts = []string{"backend.test"}
	})
	listAll(t, r, repos)
	if len(target.got) == 0 || !strings.Contains(strings.Join(target.got, " "), "Basic ") {
		t.Errorf("no credentials at the trusted host: %q", target.got)
	}
}

func TestMutualRedirectsEndWithoutCredentials(t *testing.T) {
	refuse := func(to string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Header.Get("X-Hop") == "" && req.Response == nil && !strings.Contains(req.Referer(), to) {
				http.Redirect(w, req, "http://"+to+req.URL.RequestURI(), http.StatusFound)
				return
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(401)
		})
	}
	r := newRegistry(internet{simHost: refuse("b.test"), "b.test": refuse(simHost)}, withLogin("ann", "s3cret"))
	for range 3 {
		if _, err := r.Tags(t.Context(), app(), ""); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error %v", err)
		}
	}
}

func TestCredentialsAreNotSentToForeignTokenService(t *testing.T) {
	token := &seen{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"token":"t"}`)) }),
	}
	demand := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://auth.evil.test/token",service="s"`)
		w.WriteHeader(401)
	})
	n := internet{simHost: demand, "auth.evil.test": token}
	_, err := newRegistry(n, withLogin("ann", "s3cret"), func(c *Config) {
		c.TokenHostsKey = "authhosts"
	}).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if want := "the credentials were not sent to auth.evil.test, which is not of the registry's own domain; if it is the right token service, add it to registry.custom.main.authhosts"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
	if len(token.got) != 0 {
		t.Errorf("sent %q", token.got)
	}
	// Without credentials there is nothing to lose.
	_, err = newRegistry(n).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
}

func TestBrokenConnectionIsRetriedOnce(t *testing.T) {
	sim, r := newSim(registrysim.Options{})
	sim.Inject(registrysim.Any, 1, registrysim.Break())
	mustTags(t, r, app())
	sim.Inject(registrysim.Any, 2, registrysim.Break())
	_, err := r.Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnavailable)
}

func TestRetryAfterRateLimit(t *testing.T) {
	limited := func(headers ...string) http.HandlerFunc {
		return registrysim.Status(429, "Too Many Requests", headers...)
	}
	ghcr := registrysim.Status(429,
		`{"errors":[{"code":"TOOMANYREQUESTS","message":"retry-after: 1.16ms, allowed: 44000/minute"}]}`)
	tests := []struct {
		name   string
		fault  http.HandlerFunc
		times  int
		waited time.Duration // before the good response
		after  string        // of the error, when there is one
		text   string
	}{
		{"a second", limited("Retry-After", "1"), 2, 2 * time.Second, "", ""},
		{"a second, too often", limited("Retry-After", "1"), 3, 2 * time.Second, "1s", "too many requests in a short time"},
		{"in the body", ghcr, 2, 2320 * time.Microsecond, "", ""},
		{"a minute", limited("Retry-After", "60"), 1, 0, "1m0s", "429 too many requests: too many requests in a short time"},
		{"a date", limited("Retry-After", "Sat, 01 Jan 2000 00:05:00 GMT"), 1, 0, "5m0s", ""},
		{"unsaid", limited(), 1, 0, "0s", ""},
		{"nonsense", limited("Retry-After", "soon"), 1, 0, "0s", ""},
		{"for ever", limited("Retry-After", "99999999999"), 1, 0, "24h0m0s", ""},
		{"pulls", registrysim.PullLimit(), 1, 0, "0s",
			"the pull limit of the account or address is used up (100;w=21600); logging in raises it"},
		{"maintenance", registrysim.Status(503, "", "Retry-After", "30"), 1, 0, "30s", "503"},
		{"overload", registrysim.Status(503, ""), 1, 0, "not limited", "503"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim, r := newSim(registrysim.Options{})
				sim.Inject(registrysim.TagsRequest, test.times, test.fault)
				start := time.Now()
				_, err := r.Tags(t.Context(), app(), "")
				if waited := time.Since(start).Round(10 * time.Microsecond); waited != test.waited {
					t.Errorf("waited %v, want %v", waited, test.waited)
				}
				if test.after == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if err == nil || limitedFor(err) != test.after || !strings.Contains(err.Error(), test.text) {
					t.Errorf("error %v, to wait %v; want %q and %v", err, limitedFor(err), test.text, test.after)
				}
			})
		})
	}
}

// The pause that a host asks for holds for all instances with the same account.
func TestRateLimitPausesAllInstancesOfAnAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, r := newSim(registrysim.Options{})
		other := r.shared.New(r.Config)
		sim.Inject(registrysim.TagsRequest, 1, registrysim.Status(429, "", "Retry-After", "60"))
		_, err := r.Tags(t.Context(), app(), "")
		if limitedFor(err) != "1m0s" {
			t.Fatal(err)
		}
		sim.ResetCounts()
		time.Sleep(10*time.Second + time.Millisecond)
		_, err = other.Tags(t.Context(), app(), "")
		if limitedFor(err) != "50s" || !strings.Contains(err.Error(), "pause of 50s more") || sim.Counts().Total != 0 {
			t.Errorf("error %v after %+v", err, sim.Counts())
		}
		time.Sleep(48 * time.Second)
		start := time.Now()
		mustTags(t, other, app()) // waits the rest
		if waited := time.Since(start); waited != 2*time.Second-time.Millisecond {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestRateLimitOfTokenService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, r := newSim(registrysim.Options{Auth: registrysim.Token})
		sim.Inject(registrysim.TokenRequest, 1, registrysim.Status(429, "", "Retry-After", "1"))
		mustTags(t, r, app())
		sim.ExpireTokens()
		sim.Inject(registrysim.TokenRequest, 1, registrysim.Status(429, "", "Retry-After", "100"))
		_, err := r.Tags(t.Context(), app(), "")
		if limitedFor(err) != "1m40s" {
			t.Errorf("error %v", err)
		}
	})
}

// TestRequestsInFlightAreAsManyAsCalls: it is the caller who bounds them.
func TestRequestsInFlightAreAsManyAsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, r := newSim(registrysim.Options{Auth: registrysim.Token, Latency: 30 * time.Millisecond})
		other := r.shared.New(r.Config)
		var all sync.WaitGroup
		var failed atomic.Int32
		for n := range 64 {
			all.Go(func() {
				instance := []*Registry{r, other}[n%2]
				if _, err := instance.Tags(t.Context(), app(), ""); err != nil {
					failed.Add(1)
				}
			})
		}
		start := time.Now()
		all.Wait()
		// The first, its token, and then all at a time; that of the first again among them.
		if took := time.Since(start); took != 3*30*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if got := sim.Counts(); got.MaxInFlight != 64 || failed.Load() != 0 {
			t.Errorf("%+v, %d failed", got, failed.Load())
		}
	})
}

func TestRequestsAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := newSim(registrysim.Options{Latency: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				ctx := ctx
				if n%2 == 0 {
					short, stop := context.WithTimeout(ctx, time.Second)
					defer stop()
					ctx = short
				}
				_, err := r.Tags(ctx, app(), "")
				if n%2 == 0 {
					checkKind(t, err, sdk.ErrUnavailable)
				} else {
					checkKind(t, err, context.Canceled)
				}
			})
		}
		time.Sleep(time.Minute)
		cancel()
		all.Wait()
	})
}

func TestHostThatIsNotServed(t *testing.T) {
	_, r := newSim(registrysim.Options{})
	elsewhere := registry.Repository{Host: "elsewhere.test", Name: "a/b"}
	_, err := r.Tags(t.Context(), elsewhere, "")
	checkKind(t, err, sdk.ErrNotFound)
	_, err = r.Credentials(t.Context(), elsewhere)
	checkKind(t, err, sdk.ErrNotFound)
}

// The registry names another token service in each response.
func TestAttemptsAreBounded(t *testing.T) {
	var requests int
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if requests++; strings.HasPrefix(req.URL.Path, "/token") {
			w.Write([]byte(`{"token":"t"}`))
			return
		}
		w.Header().Set("WWW-Authenticate",
			`Bearer realm="http://sim.test/token`+strings.Repeat("x", requests)+`",service="s"`)
		w.WriteHeader(401)
	})
	_, err := newRegistry(internet{simHost: h}).Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnauthorized)
	if requests > 2*maxAttempts {
		t.Errorf("%d requests", requests)
	}
}
