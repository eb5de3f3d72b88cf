package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkGalleryMemory runs the plugins of the gallery in one Dogwatch, each with a
// component, and measures what each occupies some seconds after it was configured.
func BenchmarkGalleryMemory(b *testing.B) {
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		b.Skip("this system does not tell how much memory processes have")
	}
	plugins, out := shortDir(b), b.TempDir()
	names := []string{"watcher-list", "registry-releases", "trigger-atom", "trigger-audit", "trigger-file", "trigger-gitea",
		"trigger-portainer", "trigger-signal", "trigger-systemd"}
	for _, name := range names {
		compiled, err := build(filepath.Join("..", "..", "examples", name), name)
		must(b, err)
		copyFile(b, compiled, filepath.Join(plugins, name))
	}
	must(b,
		os.WriteFile(filepath.Join(out, "list.json"),
			[]byte(`[{"name": "web", "image": "vendor.example.com/team/app:1.0.0"}]`), 0o600))
	m := medians{}
	for range b.N {
		d := install(b, "DOGWATCH_PLUGINS_DIR="+plugins, "DOGWATCH_WATCHER_LIST_MAIN_FILE="+filepath.Join(out, "list.json"),
			"DOGWATCH_REGISTRY_RELEASES_MAIN_HOST=vendor.example.com", "DOGWATCH_REGISTRY_RELEASES_MAIN_URL=http://127.0.0.1:1",
			"DOGWATCH_TRIGGER_ATOM_MAIN_PATH="+filepath.Join(out, "updates.atom"),
			"DOGWATCH_TRIGGER_AUDIT_MAIN_PATH="+filepath.Join(out, "audit"),
			"DOGWATCH_TRIGGER_FILE_MAIN_PATH="+filepath.Join(out, "lines"),
			"DOGWATCH_TRIGGER_GITEA_MAIN_URL=http://127.0.0.1:1", "DOGWATCH_TRIGGER_GITEA_MAIN_REPOSITORY=me/stacks",
			"DOGWATCH_TRIGGER_GITEA_MAIN_TOKEN=abc",
			"DOGWATCH_TRIGGER_PORTAINER_MAIN_URL=http://127.0.0.1:1", "DOGWATCH_TRIGGER_PORTAINER_MAIN_APIKEY=abc",
			"DOGWATCH_TRIGGER_SIGNAL_MAIN_URL=http://127.0.0.1:1", "DOGWATCH_TRIGGER_SIGNAL_MAIN_NUMBER=+4312345",
			"DOGWATCH_TRIGGER_SIGNAL_MAIN_RECIPIENTS=+4312346",
			"DOGWATCH_TRIGGER_SYSTEMD_MAIN_UNITS=web=web.service").start()
		type plugin struct {
			Name, State string
			PID         int
		}
		running := func() (all []plugin) {
			for _, p := range get[[]plugin](d, http.MethodGet, "/api/plugins") {
				if _, err := os.Stat(filepath.Join(plugins, p.Name)); err == nil && p.PID != 0 {
					all = append(all, p)
				}
			}
			return all
		}
		eventually(b, "all run", func() bool { return len(running()) == len(names) })
		time.Sleep(5 * time.Second)
		for _, p := range running() {
			used := anonymous(b, p.PID)
			if m.add("MB-anon/"+p.Name, used); used > maxPluginMemory {
				b.Errorf("%s uses %.1f MiB, more than %d", p.Name, used, maxPluginMemory)
			}
		}
		d.stop()
	}
	m.report(b)
}
