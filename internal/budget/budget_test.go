package budget

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// take makes one request, if that is allowed.
func take(b *Book, host string) (fullUntil time.Time) {
	taken, full := b.Take(host, false)
	if full.IsZero() {
		taken.Done(nil, false)
	}
	return full
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	for text, want := range map[string]Allowance{
		"docker.io=100/6h": {100, 6 * time.Hour}, "GHCR.io = 5000 / h": {5000, time.Hour},
		"localhost:5000=1/1m30s": {1, 90 * time.Second}, "quay.io=10/day": {10, 24 * time.Hour},
		"quay.io=10/d": {10, 24 * time.Hour},
	} {
		host, got, err := Parse(text)
		if err != nil || got != want || !strings.HasPrefix(strings.ToLower(text), host) {
			t.Errorf("%s: %s %+v (%v), want %+v", text, host, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "want a host", "docker.io": "want a host", "docker.io=100": "want a host", "=1/h": "want a host",
		"docker.io/library=1/h": "is none", "registry-1.docker.io=100/6h": "as docker.io",
		"docker.io=0/h": "no number", "docker.io=x/h": "no number", "docker.io=1/": "no period",
		"docker.io=1/1s": "no period", "docker.io=1/x": "no period", "docker.io=1/1000h": "no period",
	} {
		if _, _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestAllowanceInWords(t *testing.T) {
	for want, a := range map[string]Allowance{
		"100 requests in 6 h": {100, 6 * time.Hour}, "1 request in 10 min": {1, 10 * time.Minute},
		"5 requests in 1 min 30 s": {5, 90 * time.Second}, "5 requests in 10 s": {5, 10 * time.Second},
		"5 requests in 20 h 30 min": {5, 20*time.Hour + 30*time.Minute}, "7 requests": {7, 0},
	} {
		if got := a.String(); got != want {
			t.Errorf("%d in %v is %q, want %q", a.Requests, a.Per, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"docker.io=100/6h", "a=1/m", "=/", "a=1/999999h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, a, err := Parse(text)
		if err == nil && (host == "" || a.Requests < 1 || a.Per < minPer || a.Per > maxPer) {
			t.Errorf("%q is %q %+v", text, host, a)
		}
	})
}

func TestBookRefusesWhatIsTooMuch(t *testing.T) {
	now := noon
	b := NewBook(map[string]Allowance{"docker.io": {3, time.Hour}}, func() time.Time { return now })
	for i := range 3 {
		if full := take(b, "Docker.io"); !full.IsZero() {
			t.Fatalf("request %d has to wait until %v", i, full)
		}
		now = now.Add(10 * time.Minute)
	}
	full := take(b, "docker.io")
	if u := b.Of("docker.io"); u.Used != 3 || u.Left() != 0 || !u.FullUntil.Equal(full) || full.IsZero() {
		t.Errorf("the use is %+v, and the next request at %v", u, full)
	}
	if least, most := noon.Add(time.Hour), noon.Add(time.Hour+2*time.Minute); full.Before(least) || full.After(most) {
		t.Errorf("the next request is at %v, want it from %v to %v", full, least, most)
	}
	now = full
	if again := take(b, "docker.io"); !again.IsZero() {
		t.Errorf("at the time that was said, it is %v", again)
	}
	for range 10_000 { // counted, not bounded
		if full := take(b, "ghcr.io"); !full.IsZero() {
			t.Fatal("a host without an allowance has to wait")
		}
	}
	if u := b.Of("ghcr.io"); u.Used != 10_000 || u.Allowance != (Allowance{}) {
		t.Errorf("the use is %+v", u)
	}
	now = now.Add(2 * time.Hour)
	if u := b.Of("ghcr.io"); u.Used != 0 {
		t.Errorf("after two hours the use is %+v", u)
	}
	for i := range 3 * maxHosts {
		take(b, strings.Repeat("x", i+1))
	}
	if hosts := b.Plan(nil); len(hosts) > maxHosts || b.Of("docker.io").Allowance.Requests != 3 {
		t.Errorf("%d hosts are counted", len(hosts))
	}
}

// TestNoPeriodHasMore than is allowed, wherever it begins.
func TestNoPeriodHasMore(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		a := Allowance{1 + rnd.IntN(20), time.Duration(1+rnd.IntN(300)) * time.Minute}
		now := noon
		b := NewBook(map[string]Allowance{"x": a}, func() time.Time { return now })
		var made []time.Time
		for range 500 {
			now = now.Add(time.Duration(rnd.Int64N(int64(a.Per) / 8)))
			if take(b, "x").IsZero() {
				made = append(made, now)
			}
		}
		for i := a.Requests; i < len(made); i++ {
			if made[i].Sub(made[i-a.Requests]) < a.Per {
				t.Fatalf("seed %d: %d requests from %v until %v, allowed are %+v", seed, a.Requests+1,
					made[i-a.Requests], made[i], a)
			}
		}
		if len(made) <= a.Requests {
			t.Errorf("seed %d: only %d requests were made", seed, len(made))
		}
	}
}
