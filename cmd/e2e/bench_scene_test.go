package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// sceneHosts is how many registries the containers of a scene come from.
const sceneHosts = 3

// scene is what is measured: containers, each of a repository of its own, of
// three registries that want tokens and answer 304 where they can.
type scene struct {
	containers int
	// repositories is how many there are, a multiple of the registries; 0 for one of each container.
	repositories int
	// mixed makes every other container run a tag that is watched by digest.
	mixed   bool
	latency time.Duration
}

func (s scene) String() string {
	if s.mixed {
		return fmt.Sprintf("%d-mixed", s.containers)
	}
	return fmt.Sprintf("%d-versions", s.containers)
}

// fleet builds the scene.
func (s scene) fleet(t testing.TB) *fleet {
	t.Helper()
	f := newFleet(t, 0,
		slices.Repeat([]registrysim.Options{{Auth: registrysim.Token, ETags: true, Latency: s.latency}}, sceneHosts)...)
	repositories := cmp.Or(s.repositories, s.containers)
	for i := range repositories {
		f.registry(i).Push(f.repo(i), "1.0.0", "1.0.1-rc1", "latest")
	}
	for i := range s.containers {
		repo := f.repo(i % repositories)
		name, tag := f.hosts[i%sceneHosts]+"/"+repo, "1.0.0"
		if s.digested(i) {
			tag = "latest"
		}
		image, _ := f.registry(i).Image(repo, tag)
		f.engine.AddImage(enginesim.Image{
			Tags: []string{name + ":" + tag}, Digests: []string{name + "@" + image.Digest}, Created: image.Platforms[0].Created,
		})
		_, err := f.engine.Create(enginesim.Container{
			Name: fmt.Sprintf("c%04d", i), Image: name + ":" + tag, Labels: sceneLabels(i),
		})
		must(t, err)
	}
	return f
}

// digested reports whether the i-th container is watched by digest.
func (s scene) digested(i int) bool { return s.mixed && i%2 == 1 }

// sceneLabels are as many as containers of compose projects have.
func sceneLabels(i int) map[string]string {
	return map[string]string{
		"com.docker.compose.project":              fmt.Sprintf("stack%02d", i/10),
		"com.docker.compose.service":              fmt.Sprintf("app%04d", i),
		"com.docker.compose.config-hash":          strings.TrimPrefix(enginesim.Digest(fmt.Sprint("config ", i)), "sha256:"),
		"com.docker.compose.project.config_files": fmt.Sprintf("/srv/stack%02d/compose.yaml", i/10),
		"org.opencontainers.image.source":         fmt.Sprintf("https://git.example.org/team/app%04d", i),
		"org.opencontainers.image.version":        "1.0.0",
	}
}

// counts are the requests to all registries since the last call; MaxInFlight
// is that of the busiest one.
func (f *fleet) counts() registrysim.Counts {
	var sum registrysim.Counts
	for _, r := range f.registries {
		c := r.Counts()
		r.ResetCounts()
		sum.Total += c.Total
		sum.Tokens += c.Tokens
		sum.Tags += c.Tags
		sum.Heads += c.Heads
		sum.Manifests += c.Manifests
		sum.Blobs += c.Blobs
		sum.Refused += c.Refused
		sum.NotModified += c.NotModified
		sum.MaxInFlight = max(sum.MaxInFlight, c.MaxInFlight)
	}
	return sum
}

// installScene configures Dogwatch for a fleet as a user does, a trigger included.
func installScene(t testing.TB, f *fleet) *installation {
	t.Helper()
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(sink.Close)
	return install(t, append(f.env(), "DOGWATCH_LOG_LEVEL=info", "DOGWATCH_TRIGGER_HTTP_SINK_URL="+sink.URL)...)
}

// checked waits for the end of a check after a moment and returns it.
func (d *daemon) checked(since time.Time) event.Event {
	d.t.Helper()
	var end event.Event
	eventually(d.t, "a check ends", func() bool {
		for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events?limit=20") {
			if e.Type == event.CheckFinished && e.At.After(since) {
				end = e
				return true
			}
		}
		return false
	})
	return end
}

// check checks now and returns how that went.
func (d *daemon) check() event.Event {
	d.t.Helper()
	began := time.Now()
	d.watch()
	return d.checked(began)
}

// began returns when the first check began.
func (d *daemon) began() time.Time {
	d.t.Helper()
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events?before=100") {
		if e.Type == event.CheckStarted {
			return e.At
		}
	}
	d.t.Fatal("no check has begun")
	return time.Time{}
}

// processes returns the ids of the program's processes: the host and its plugins.
func (d *daemon) processes() []int {
	d.t.Helper()
	pids := []int{d.cmd.Process.Pid}
	for _, p := range get[[]plugin.Status](d, http.MethodGet, "/api/plugins") {
		if p.PID != 0 {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// memory returns the anonymous memory of all processes together, in MiB.
func (d *daemon) memory() float64 {
	d.t.Helper()
	var sum float64
	for _, pid := range d.processes() {
		sum += anonymous(d.t, pid)
	}
	return sum
}

// anonymous returns the memory of a process in MiB that is not the content of a file,
// which the system could take back by itself (proc_pid_smaps(5), "Pss_Anon").
func anonymous(t testing.TB, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if errors.Is(err, fs.ErrPermission) { // it is undumpable
		plugintest.Skip(t, "ptrace", err)
	}
	must(t, err)
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "Pss_Anon: %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	t.Fatalf("process %d has no Pss_Anon", pid)
	return 0
}
