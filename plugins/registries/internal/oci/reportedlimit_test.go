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

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// limitsRead is when the headers of TestLimitIn are read.
var limitsRead = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestLimitIn(t *testing.T) {
	for name, test := range map[string]struct {
		header http.Header
		want   registry.Limit // none when zero
	}{
		"docker hub": {headers("RateLimit-Limit", "100;w=21600", "RateLimit-Remaining", "76;w=21600",
			"Docker-RateLimit-Source", "192.0.2.7"),
			registry.Limit{Limit: 100, Remaining: 76, Window: 6 * time.Hour, Source: "192.0.2.7", Pulls: true}},
		"used up": {headers("RateLimit-Limit", "200; w=60", "RateLimit-Remaining", "0"), registry.Limit{
			Limit: 200, Window: time.Minute,
		}},
		"github": {headers("X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", "4999",
			"X-RateLimit-Reset", fmt.Sprint(limitsRead.Add(time.Hour).Unix())),
			registry.Limit{Limit: 5000, Remaining: 4999, ResetsAt: sdk.TimeOf(limitsRead.Add(time.Hour))}},
		"the draft": {headers("RateLimit-Limit", "60", "RateLimit-Remaining", "3", "RateLimit-Reset",
			"42"), registry.Limit{Limit: 60, Remaining: 3, ResetsAt: sdk.TimeOf(limitsRead.Add(42 * time.Second))}},
		"a reset that is over": {headers("X-RateLimit-Limit", "60", "X-RateLimit-Remaining", "3",
			"X-RateLimit-Reset", "1700000000"), registry.Limit{Limit: 60, Remaining: 3}},
		"both": {headers("RateLimit-Limit", "100", "RateLimit-Remaining", "1", "X-RateLimit-Limit",
			"7", "X-RateLimit-Remaining", "7"), registry.Limit{Limit: 100, Remaining: 1}},
		"several windows": {headers("RateLimit-Limit", "10, 10;w=1, 1000;w=3600", "RateLimit-Remaining", "9"),
			registry.Limit{Limit: 10, Remaining: 9, Window: time.Second}},
		"window of another limit": {headers("RateLimit-Limit", "10, 1000;w=3600", "RateLimit-Remaining", "9"),
			registry.Limit{Limit: 10, Remaining: 9}},
		"more left than allowed": {headers("RateLimit-Limit", "10", "RateLimit-Remaining", "11"), registry.Limit{
			Limit: 10, Remaining: 10,
		}},
		"a window without end": {headers("RateLimit-Limit", "10;w=9223372036854775807", "RateLimit-Remaining", "1"),
			registry.Limit{Limit: 10, Remaining: 1, Window: maxWindow}},
		"an odd source": {headers("RateLimit-Limit", "10", "RateLimit-Remaining", "1", "Docker-RateLimit-Source",
			"a\tb\x01"+strings.Repeat("c", 100)),
			registry.Limit{Limit: 10, Remaining: 1, Source: "a b" + strings.Repeat("c", 60) + "…", Pulls: true}},
		"half":               {headers("RateLimit-Limit", "100;w=21600"), registry.Limit{}},
		"nothing allowed":    {headers("RateLimit-Limit", "0", "RateLimit-Remaining", "0"), registry.Limit{}},
		"negative":           {headers("RateLimit-Limit", "10", "RateLimit-Remaining", "-1"), registry.Limit{}},
		"words":              {headers("RateLimit-Limit", "many", "RateLimit-Remaining", "some"), registry.Limit{}},
		"beyond all numbers": {headers("RateLimit-Limit", "99999999999999", "RateLimit-Remaining", "1"), registry.Limit{}},
		"nothing":            {nil, registry.Limit{}},
	} {
		if got, ok := limitIn(test.header, limitsRead); got != test.want || ok != (test.want != registry.Limit{}) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, ok, test.want)
		}
	}
}

func FuzzLimitIn(f *testing.F) {
	f.Add("100;w=21600", "76;w=21600", "192.0.2.7")
	f.Add("10, 10;w=1, 1000;w=3600", "9", "")
	f.Fuzz(func(t *testing.T, limit, remaining, source string) {
		h := http.Header{"Ratelimit-Limit": {limit}, "Ratelimit-Remaining": {remaining}, "Docker-Ratelimit-Source": {source}}
		l, ok := limitIn(h, limitsRead)
		if !ok {
			return
		}
		if l.Limit <= 0 || l.Remaining < 0 || l.Remaining > l.Limit || l.Window < 0 || l.Window > maxWindow ||
			len([]rune(l.Source)) > maxSource {
			t.Errorf("%+v", l)
		}
	})
}

func TestAllowedIn(t *testing.T) {
	for text, want := range map[string]registry.Limit{
		"retry-after: 1.16ms, allowed: 44000/minute": {Limit: 44000, Window: time.Minute},
		"Allowed: 5/hour\n":                          {Limit: 5, Window: time.Hour},
		"allowed: 5/fortnight":                       {},
		"allowed: -5/hour":                           {},
		"allowed: all":                               {},
		"slow down":                                  {},
	} {
		if got := allowedIn(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// withHeaders adds headers to every response of a handler.
func withHeaders(h http.Handler, pairs ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		for i := 0; i+1 < len(pairs); i += 2 {
			w.Header().Set(pairs[i], pairs[i+1])
		}
		h.ServeHTTP(w, req)
	})
}

// A registry reports the last rate limit of each host that it sent requests to,
// and nothing of hosts without one.
func TestRateLimitsAreReportedPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := registrysim.New(registrysim.Options{})
		hub.Push("team/app", "1.0.0")
		silent := registrysim.New(registrysim.Options{})
		silent.Push("team/app", "1.0.0")
		left := 76
		n := internet{"silent.test": silent, "hub.test": http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			withHeaders(hub, "RateLimit-Limit", "100;w=21600", "RateLimit-Remaining",
				fmt.Sprintf("%d;w=21600", left)).ServeHTTP(w, req)
			left--
		})}
		shared := NewShared()
		config := Config{HTTP: n, Hosts: []registry.Host{
			{Pattern: "hub.test", URL: "http://hub.test/v2"}, {Pattern: "silent.test", URL: "http://silent.test/v2"},
		}}
		used, other := shared.New(config), shared.New(config)
		for range 3 {
			mustTags(t, used, registry.Repository{Host: "hub.test", Name: "team/app"})
			mustTags(t, used, registry.Repository{Host: "silent.test", Name: "team/app"})
		}
		got, at := used.Limits(), sdk.TimeOf(time.Now())
		if want := (registry.Limit{
			Host: "hub.test", Limit: 100, Remaining: 74, Window: 6 * time.Hour, At: at,
		}); len(got) != 1 || got[0] != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if got := other.Limits(); len(got) != 0 {
			t.Errorf("a registry without requests reports %+v", got)
		}

		// A pause is reported until it is over, the limit for longer.
		hub.Inject(registrysim.TagsRequest, 1, registrysim.Status(429, "", "Retry-After", "60"))
		_, err := used.Tags(t.Context(), registry.Repository{Host: "hub.test", Name: "team/app"}, "")
		if limitedFor(err) != "1m0s" {
			t.Errorf("error %v", err)
		}
		if got := used.Limits(); len(got) != 1 || got[0].PausedUntil != sdk.TimeOf(time.Now().Add(time.Minute)) ||
			got[0].Remaining != 73 {
			t.Errorf("%+v", got)
		}
		time.Sleep(time.Minute)
		if got := used.Limits(); len(got) != 1 || !got[0].PausedUntil.IsZero() || got[0].Limit != 100 {
			t.Errorf("%+v", got)
		}
	})
}

// A 429 pauses the host that sent it, for the time that it gives in whatever form,
// and no other host of the same registry.
func TestRateLimitPausesOneHost(t *testing.T) {
	ghcr := `{"errors":[{"code":"TOOMANYREQUESTS","message":"retry-after: 2500ms, allowed: 44000/minute"}]}`
	for name, test := range map[string]struct {
		response http.HandlerFunc
		pause    time.Duration
		limit    int64
	}{
		"seconds": {registrysim.Status(429, "", "Retry-After", "90"), 90 * time.Second, 0},
		"a date": {registrysim.Status(429, "", "Retry-After", "Sat, 01 Jan 2000 00:05:00 GMT"),
			5 * time.Minute, 0},
		"milliseconds in the body": {registrysim.Status(429, ghcr), 2500 * time.Millisecond, 44000},
		"longer than maxPause":     {registrysim.Status(429, "", "Retry-After", "999999"), maxPause, 0},
		"without a time":           {registrysim.Status(429, ""), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				busy, idle := registrysim.New(registrysim.Options{}), registrysim.New(registrysim.Options{})
				busy.Push("team/app", "1.0.0")
				idle.Push("team/app", "1.0.0")
				busy.Inject(registrysim.Any, 1, test.response)
				r := NewShared().New(Config{HTTP: internet{"busy.test": busy, "idle.test": idle}, Hosts: []registry.Host{
					{Pattern: "busy.test", URL: "http://busy.test/v2"}, {Pattern: "idle.test", URL: "http://idle.test/v2"},
				}})
				list := func(host string) error {
					_, err := r.Tags(t.Context(), registry.Repository{Host: host, Name: "team/app"}, "")
					return err
				}
				began := time.Now()
				if err := list("busy.test"); limitedFor(err) == "not limited" {
					t.Fatalf("error %v", err)
				}
				if err := list("idle.test"); err != nil || time.Since(began) != 0 {
					t.Errorf("another host: %v after %v", err, time.Since(began))
				}
				if err := list("busy.test"); (err == nil) != (test.pause == 0) {
					t.Errorf("request during its pause: %v", err)
				}
				limits := r.Limits()
				if test.pause == 0 {
					if len(limits) != 0 {
						t.Errorf("%+v", limits)
					}
					return
				}
				if len(limits) != 1 || limits[0].Host != "busy.test" || limits[0].Limit != test.limit ||
					limits[0].PausedUntil != sdk.TimeOf(began.Add(test.pause)) {
					t.Errorf("%+v", limits)
				}
				time.Sleep(test.pause)
				if err := list("busy.test"); err != nil {
					t.Errorf("after the pause: %v", err)
				}
			})
		})
	}
}

// Host names that a registry makes up do not fill the memory.
func TestRateLimitHostsAreBounded(t *testing.T) {
	r := newRegistry(internet{})
	for i := range 10 * maxLimitHosts {
		u := &url.URL{Scheme: "https", Host: fmt.Sprintf("HOST-%d.test", i)}
		r.recordLimit(u, "", &http.Response{
			Request: &http.Request{URL: u}, Header: headers("RateLimit-Limit", "1", "RateLimit-Remaining", "1"),
		})
		if got := r.Limits(); len(got) == 0 || len(got) > maxLimitHosts || got[0].Host != strings.ToLower(got[0].Host) {
			t.Fatalf("%d hosts", len(got))
		}
	}
}

func TestRateLimitOfRedirectTargetIsIgnored(t *testing.T) {
	sim := registrysim.New(registrysim.Options{})
	sim.Push("team/app", "1.0.0")
	r := newRegistry(internet{
		simHost:        redirect("http://backend.test"),
		"backend.test": withHeaders(sim, "RateLimit-Limit", "9", "RateLimit-Remaining", "8"),
	})
	mustTags(t, r, app())
	if got := r.Limits(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
