package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	manyEngines = 50
	// manyImages is how many containers each of them has, of the same images on all.
	manyImages = 4
	// manyMemory is the most anonymous memory that all processes may take together, in MiB.
	manyMemory = 70
	// manyGoroutines is how many the host may have at most.
	manyGoroutines = 1000
	// aliveWithin is how long the engines that respond may wait for those that do not.
	aliveWithin = 15 * time.Second
)

// TestManyEnginesHalfOfThemGone watches fifty engines, of which half are gone then, some refusing connections and some
// hanging: that marks their containers, and holds up and costs nothing else.
func TestManyEnginesHalfOfThemGone(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, registrysim.Options{ETags: true})
	env := []string{"DOGWATCH_REGISTRY_CUSTOM_SIM_URL=http://" + f.hosts[0]}
	for i := range manyImages {
		f.registries[0].Push(f.repo(i), "1.0.0", "1.0.1")
	}
	engines, servers := make([]*enginesim.Engine, manyEngines), make([]*enginesim.Server, manyEngines)
	for i := range engines {
		engines[i] = enginesim.New(enginesim.Config{})
		for n := range manyImages {
			ref := f.hosts[0] + "/" + f.repo(n) + ":1.0.0"
			engines[i].AddImage(enginesim.Image{Tags: []string{ref}})
			// Its id is made of the name, and no two engines have one with the same.
			_, err := engines[i].Create(enginesim.Container{Name: fmt.Sprintf("app%d-of-%02d", n, i), Image: ref})
			must(t, err)
		}
		var err error
		servers[i], err = engines[i].Listen(shortDir(t))
		must(t, err)
		if i%4 != 1 { // those are closed below
			t.Cleanup(func() { servers[i].Close() })
		}
		name := fmt.Sprintf("DOGWATCH_WATCHER_DOCKER_E%02d_", i)
		env = append(env, name+"SOCKET="+servers[i].Address, name+"CRON=0 0 1 1 *", name+"JITTER=0")
	}
	d := install(t, env...).start()
	updates := func(tag string, of func(engine int) bool) int {
		n := 0
		for _, c := range d.containers() {
			var engine int
			_, _ = fmt.Sscanf(c.Watcher, "e%d", &engine)
			if c.Result != nil && c.Result.Tag == tag && of(engine) {
				n++
			}
		}
		return n
	}
	all := func(int) bool { return true }
	began := time.Now()
	eventually(t, "every container is checked", func() bool { return updates("1.0.1", all) == manyEngines*manyImages })
	first := time.Since(began)
	t.Logf("%d engines checked after %s: %+v, %.1f MiB in %d processes, %d goroutines", manyEngines, first,
		f.registries[0].Counts(), d.memory(), len(d.processes()), d.goroutines())

	gone := func(engine int) bool { return engine%2 == 1 }
	alive := func(engine int) bool { return !gone(engine) }
	for i, e := range engines {
		switch {
		case alive(i):
		case i%4 == 1:
			must(t, servers[i].Close())
		default:
			for _, route := range []enginesim.Route{enginesim.ListContainers, enginesim.ListImages, enginesim.Events} {
				e.Fail(route, enginesim.Fault{Hang: true})
			}
			e.BreakStreams()
		}
	}
	for i := range manyImages {
		f.registries[0].Push(f.repo(i), "1.1.0")
	}
	checked := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 2*maxWait)
	defer cancel()
	began = time.Now()
	go func() { checked <- post(ctx, d.url+"/api/containers/watch") }()
	eventually(t, "those that respond are checked", func() bool {
		return updates("1.1.0", alive) == manyEngines/2*manyImages
	})
	if took := time.Since(began); took > aliveWithin {
		t.Errorf("the engines that respond were checked after %s", took)
	} else {
		t.Logf("the engines that respond were checked after %s", took)
	}
	must(t, <-checked)
	t.Logf("the check ended after %s: %.1f MiB in %d processes, %d goroutines", time.Since(began), d.memory(),
		len(d.processes()), d.goroutines())
	if memory := d.memory(); memory > manyMemory {
		t.Errorf("%.1f MiB, more than %d", memory, manyMemory)
	}
	if n := d.goroutines(); n > manyGoroutines {
		t.Errorf("%d goroutines, more than %d", n, manyGoroutines)
	}
	if n := len(d.containers()); n != manyEngines*manyImages || updates("1.0.1", gone) != manyEngines/2*manyImages {
		t.Errorf("%d containers, and of the gone engines %d as they were", n, updates("1.0.1", gone))
	}
	for _, w := range get[[]struct {
		Name, State string
		AsOf        sdk.Time
	}](d, http.MethodGet, "/api/watchers") {
		var engine int
		_, _ = fmt.Sscanf(w.Name, "e%d", &engine)
		if failed := w.State == "failed"; failed != gone(engine) || failed == w.AsOf.IsZero() {
			t.Errorf("%s is %s as of %s", w.Name, w.State, w.AsOf)
		}
	}
	old := 0
	for from := 0; from < manyEngines*manyImages; from += 100 { // which a part of the list has
		_, page := d.request(http.MethodGet, fmt.Sprintf("/containers?from=%d", from), "")
		old += strings.Count(string(page), `">as of `)
	}
	if old != manyEngines/2*manyImages {
		t.Errorf("%d rows say how old they are", old)
	}
	d.stop()
}

func post(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err = io.Copy(io.Discard, response.Body); err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s", response.Status)
	}
	return err
}

// goroutines returns how many the host has, as its metrics say.
func (d *daemon) goroutines() (n int) {
	d.t.Helper()
	_, metrics := d.request(http.MethodGet, "/metrics", "")
	lines := strings.Split(string(metrics), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "go_goroutines ") })
	if i < 0 {
		d.t.Fatal("no metric go_goroutines")
	}
	_, err := fmt.Sscanf(lines[i], "go_goroutines %d", &n)
	must(d.t, err)
	return n
}
