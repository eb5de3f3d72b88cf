package e2e

import (
	"os"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// The most that 200 containers of 200 repositories over three registries may
// cost; docs/benchmarks.md has what they do cost.
const (
	firstRequests = 210
	nextRequests  = 205
	mostInFlight  = 16
	// mostMemory is twice the limit, in MiB: what the machine does besides must not fail a test.
	mostMemory = 2 * 64
)

// TestRequestBudget holds the built program to the requests that a check may
// make. How long a check takes is the benchmark's matter.
func TestRequestBudget(t *testing.T) {
	for name, s := range map[string]scene{
		"versions":             {containers: 200, latency: 5 * time.Millisecond},
		"versions and digests": {containers: 200, latency: 5 * time.Millisecond, mixed: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := s.fleet(t)
			in := installScene(t, f)
			started := time.Now()
			d := in.start()
			d.checked(started)
			d.allChecked(s.containers)
			budget(t, "the first check", f.counts(), firstRequests)

			d.check()
			next := f.counts()
			unchanged(t, "the next check", next, nextRequests)
			if requests := next.Tags + next.Heads; requests != s.containers {
				t.Errorf("the next check makes %d requests for %d images", requests, s.containers)
			}
			if _, err := os.Stat("/proc/self/smaps_rollup"); err == nil {
				if got := d.memory(); got > mostMemory {
					t.Errorf("all processes together take %.1f MiB, want %d at most", got, mostMemory)
				}
			}
			if s.mixed {
				s.changed(t, f, d)
			}

			d.stop()
			started = time.Now()
			d = in.start()
			d.checked(started)
			unchanged(t, "the check after a restart", f.counts(), firstRequests)
			d.stop()
		})
	}
}

// changed lets the images behind some tags change and requires that they, and
// no others, cost requests for manifests, once.
func (s scene) changed(t *testing.T, f *fleet, d *daemon) {
	t.Helper()
	const images = 5
	for i := range 2 * images {
		if s.digested(i) {
			f.registry(i).Push(f.repo(i), "latest")
		}
	}
	d.check()
	got := f.counts()
	if got.Manifests == 0 || got.Manifests > 2*images || got.Blobs > images || got.Heads != s.containers/2 {
		t.Errorf("%d new images: %+v; want at most an index, a manifest and a configuration of each", images, got)
	}
	updates := 0
	for _, c := range d.containers() {
		if c.UpdateAvailable {
			updates++
		}
	}
	if updates != images {
		t.Errorf("%d updates, want %d", updates, images)
	}
	d.check()
	unchanged(t, "a check after updates were found", f.counts(), nextRequests)
}

// budget requires that a check made so few requests, and none for a manifest.
func budget(t *testing.T, what string, got registrysim.Counts, most int) {
	t.Helper()
	if got.Total > most || got.Manifests+got.Blobs > 0 || got.MaxInFlight > mostInFlight {
		t.Errorf("%s: %+v; want at most %d requests, %d at a time, and none for manifests", what, got, most, mostInFlight)
	}
}

// unchanged requires besides that the registries confirmed every list of tags
// rather than sent it, but for those that they refused because a token was missing.
func unchanged(t *testing.T, what string, got registrysim.Counts, most int) {
	t.Helper()
	budget(t, what, got, most)
	if got.NotModified < got.Tags-got.Refused {
		t.Errorf("%s reads tags anew: %+v", what, got)
	}
}

// allChecked requires that every container is there and could be checked.
func (d *daemon) allChecked(want int) {
	d.t.Helper()
	all := d.containers()
	if len(all) != want {
		d.t.Fatalf("%d containers, want %d", len(all), want)
	}
	for _, c := range all {
		if c.Check.State != sdk.CheckOK || c.UpdateAvailable {
			d.t.Fatalf("%s", show(c))
		}
	}
}
