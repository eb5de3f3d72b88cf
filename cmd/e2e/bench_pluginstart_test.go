package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// manyPlugin compiles a plugin that holds a trigger of the name of its file.
var manyPlugin = sync.OnceValues(func() (string, error) {
	return build(filepath.Join("testdata", "many"), "many")
})

// putMany puts n plugins into a folder, each another file, and returns the variables of a component for each.
func putMany(t testing.TB, folder string, n int) (env []string) {
	t.Helper()
	compiled, err := manyPlugin()
	must(t, err)
	program, err := os.ReadFile(compiled)
	must(t, err)
	for i := range n {
		name := fmt.Sprintf("many%d", i)
		must(t, os.WriteFile(filepath.Join(folder, name), fmt.Append(program, i), 0o755))
		env = append(env, fmt.Sprintf("DOGWATCH_TRIGGER_MANY%d_MAIN_URL=http://127.0.0.1:1", i))
	}
	return append(env, "DOGWATCH_PLUGINS_DIR="+folder, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=/nowhere")
}

// untilReady waits until the trigger of each of n plugins is ready, and returns how long that took.
func (d *daemon) untilReady(n int) time.Duration {
	d.t.Helper()
	began := time.Now()
	eventually(d.t, "the triggers of all plugins are ready", func() bool {
		ready := 0
		for _, c := range get[[]struct{ Type, State string }](d, http.MethodGet, "/api/triggers") {
			if c.State == "ready" {
				ready++
			}
		}
		return ready == n
	})
	return time.Since(began)
}

// BenchmarkPluginStart measures how long a Dogwatch takes from its start until 20 plugins
// of third parties are configured: files that it sees for the first time, and ones that it knows.
func BenchmarkPluginStart(b *testing.B) {
	const plugins = 20
	env := putMany(b, shortDir(b), plugins)
	time.Sleep(3 * time.Second) // the checksum of a file that was written just now is not remembered
	m := medians{}
	for range b.N {
		i := install(b, env...)
		for _, unit := range []string{"ms/first-start", "ms/start", "ms/start"} {
			d := i.start()
			m.add(unit, float64(d.untilReady(plugins).Milliseconds()))
			d.stop()
		}
	}
	m.report(b)
}
