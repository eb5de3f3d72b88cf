package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

// fleet is a simulated engine whose containers run images of simulated registries.
type fleet struct {
	engine     *enginesim.Engine
	socket     string
	registries []*registrysim.Registry
	hosts      []string
	// requested, if set, is called at every request to a registry.
	requested atomic.Pointer[func()]

	mu      sync.Mutex
	flying  map[int]int
	highest int
}

// newFleet starts an engine with n containers, each of a repository of its own,
// spread over registries with the given options.
func newFleet(t testing.TB, n int, options ...registrysim.Options) *fleet {
	t.Helper()
	f := &fleet{engine: enginesim.New(enginesim.Config{}), flying: map[int]int{}}
	for i, o := range options {
		// The address must be known first: the token service is the registry itself.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		r := registrysim.New(o)
		server := httptest.NewUnstartedServer(f.count(i, r))
		server.Listener.Close()
		server.Listener = l
		server.Start()
		t.Cleanup(server.Close)
		f.registries = append(f.registries, r)
		f.hosts = append(f.hosts, l.Addr().String())
	}
	for i := range n {
		f.registry(i).Push(f.repo(i), "1.0.0", "1.0.1-rc1", "latest")
	}
	must(t, f.engine.Populate(n, func(i int) string { return f.hosts[i%len(f.hosts)] + "/" + f.repo(i) + ":1.0.0" }))
	server, err := f.engine.Listen(shortDir(t))
	must(t, err)
	t.Cleanup(func() { server.Close() })
	f.socket = server.Address
	return f
}

func (f *fleet) registry(i int) *registrysim.Registry { return f.registries[i%len(f.registries)] }

func (f *fleet) repo(i int) string { return fmt.Sprintf("team/app%04d", i) }

// count notes how many requests a registry has in flight.
func (f *fleet) count(registry int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.flying[registry]++
		f.highest = max(f.highest, f.flying[registry])
		f.mu.Unlock()
		if notify := f.requested.Load(); notify != nil {
			(*notify)()
		}
		next.ServeHTTP(w, r)
		f.mu.Lock()
		f.flying[registry]--
		f.mu.Unlock()
	})
}

// env is the configuration that watches the fleet.
func (f *fleet) env() []string {
	env := []string{"DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=" + f.socket, "DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_JITTER=0"}
	for i, host := range f.hosts {
		env = append(env, fmt.Sprintf("DOGWATCH_REGISTRY_CUSTOM_SIM%d_URL=http://%s", i, host))
	}
	return env
}

// settled waits until dogwatch has no pending delivery.
func (d *daemon) settled() {
	d.t.Helper()
	eventually(d.t, "every delivery is settled", func() bool {
		return len(get[[]any](d, http.MethodGet, "/api/deliveries?state=pending")) == 0 &&
			len(get[[]any](d, http.MethodGet, "/api/deliveries?state=sending")) == 0
	})
}
