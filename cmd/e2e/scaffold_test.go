package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dogwatch/dogwatch/internal/buildtest"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// scaffolded are the plugins that TestNewPlugins makes, with the options of their
// one component.
var scaffolded = []struct {
	kind, name string
	options    map[string]string
}{
	{"watcher", "shelf", map[string]string{"URL": "/list.json"}},
	{"registry", "feed", map[string]string{"HOST": "images.example.com", "URL": "/feed"}},
	{"trigger", "lamp", map[string]string{"URL": "/hook"}},
}

// TestNewPlugins has "plugin new" make a plugin of each kind in each language. Each builds,
// passes its tests and the conformance kit with what is here, and those of a language do
// together what Dogwatch is for: the watcher's container, the registry's newer tag, the trigger's message.
func TestNewPlugins(t *testing.T) {
	t.Parallel()
	program, err := built()
	must(t, err)
	source, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	for language, l := range map[string]struct {
		prepare func(t *testing.T, dir string)
		flags   []string
		build   [][]string
	}{
		"go": {nil, []string{"--sdk", source}, goCommands()},
		"node": {func(t *testing.T, dir string) {
			modules := filepath.Join(source, "examples", "trigger-node", "node_modules")
			if _, err := os.Stat(modules); err != nil {
				plugintest.Skip(t, "node", "the modules of examples/trigger-node are not installed")
			}
			must(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
		}, []string{"--lang", "node"}, [][]string{{"./build.sh"}, {"npm", "test"}}},
		"python": {func(t *testing.T, _ string) {
			if output, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c",
				"import grpc, google.protobuf").CombinedOutput(); err != nil {
				plugintest.Skip(t, "python", string(output))
			}
		}, []string{"--lang", "python"}, [][]string{{"./build.sh"}, {"./test.sh"}}},
	} {
		t.Run(language, func(t *testing.T) {
			work, plugins := t.TempDir(), shortDir(t)
			for _, p := range scaffolded {
				id := p.kind + "-" + p.name
				dir := filepath.Join(work, id)
				inFolder(t, work, program, append([]string{"plugin", "new", p.kind, p.name}, l.flags...)...)
				if l.prepare != nil {
					l.prepare(t, dir)
				}
				for _, command := range l.build {
					inFolder(t, dir, command[0], command[1:]...)
				}
				inFolder(t, dir, program, "plugin", "verify", "plugins/"+id)
				copyFile(t, filepath.Join(dir, "plugins", id), filepath.Join(plugins, id))
			}
			if language == "go" {
				goPluginsFit(t, work)
			}
			if language != "go" || buildtest.Shipped() {
				trigger := filepath.Join(work, "trigger-lamp")
				inFolder(t, trigger, "./build.sh", "1.2.3")
				if index, err := os.ReadFile(filepath.Join(trigger, "dist", "oci", "index.json")); err != nil ||
					!strings.Contains(string(index), "1.2.3") {
					t.Errorf("the release is %s, %v", index, err)
				}
			}
			d := configureAll(t, plugins)
			if language == "go" {
				goPluginsUseLittle(t, d)
			}
		})
	}
}

// goCommands returns what tests and builds a plugin in Go: in the CI its script, whose flags compile the SDK and all
// that it needs once more. Elsewhere what go test has compiled is linked.
func goCommands() [][]string {
	if buildtest.Shipped() {
		return [][]string{{"go", "test", "./..."}, {"./build.sh"}}
	}
	return [][]string{{"go", "test", "-vet=off", "./..."}, {"go", "build", "-ldflags", "-s -w", "-o", "plugins/", "."}}
}

// goPluginsFit looks at the source of plugins in Go, and at how large they are.
func goPluginsFit(t *testing.T, work string) {
	for _, p := range scaffolded {
		id := p.kind + "-" + p.name
		dir := filepath.Join(work, id)
		if unformatted := inFolder(t, dir, "gofmt", "-l", "."); unformatted != "" {
			t.Errorf("gofmt would change %s", unformatted)
		}
		info, err := os.Stat(filepath.Join(dir, "plugins", id))
		must(t, err)
		if buildtest.Shipped() && info.Size() > maxPluginSize {
			t.Errorf("%s has %.2f MiB, more than %d", id, float64(info.Size())/(1<<20), maxPluginSize>>20)
		}
	}
}

// configureAll has Dogwatch find an update with the plugins in a folder, and deliver it.
func configureAll(t *testing.T, plugins string) *daemon {
	service, posted := newShelf(t)
	env := []string{"DOGWATCH_PLUGINS_DIR=" + plugins}
	for _, p := range scaffolded {
		for option, value := range p.options {
			if option == "URL" {
				value = service + value
			}
			env = append(env, strings.ToUpper("DOGWATCH_"+p.kind+"_"+p.name+"_MAIN_"+option)+"="+value)
		}
	}
	d := install(t, env...).start()
	eventually(t, "the trigger posts the update", func() bool { return posted.Load() != nil })
	for _, want := range []string{`["web"]`, "1.25.3", "1.26.0"} {
		if message := *posted.Load(); !strings.Contains(message, want) {
			t.Errorf("the message lacks %s: %s", want, message)
		}
	}
	return d
}

// goPluginsUseLittle looks at the memory that plugins in Go have when they are idle.
func goPluginsUseLittle(t *testing.T, d *daemon) {
	type plugin struct {
		Name    string
		Builtin bool
		PID     int
	}
	for _, p := range get[[]plugin](d, http.MethodGet, "/api/plugins") {
		if p.Builtin {
			continue
		}
		var used float64
		eventually(t, fmt.Sprintf("%s uses at most %d MiB", p.Name, maxPluginMemory), func() bool {
			used = anonymous(t, p.PID)
			return used <= maxPluginMemory
		})
		t.Logf("%s: %.1f MiB of anonymous memory", p.Name, used)
	}
}

// newShelf is the service behind the plugins: a list with a container, a feed with a
// newer tag than it runs, and a hook. posted is the last message to the hook.
func newShelf(t *testing.T) (url string, posted *atomic.Pointer[string]) {
	posted = &atomic.Pointer[string]{}
	digest := func(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/list.json":
			fmt.Fprintf(w, `[{"id": "1", "name": "web", "image": "images.example.com/team/app:1.25.3", "digest": %q}]`,
				digest("1"))
		case "/feed/team/app.json":
			fmt.Fprintf(w, `{"tags": {"1.25.3": {"digest": %q, "config": %q}, "1.26.0": {"digest": %q, "config": %q}}}`,
				digest("1"), digest("2"), digest("3"), digest("4"))
		case "/hook":
			text, _ := io.ReadAll(r.Body)
			message := string(text)
			posted.Store(&message)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, posted
}

// inFolder runs a command in a folder, with the modules of this machine alone, and
// returns what it prints. In the CI, tests are built with the flags of the plugins' scripts,
// which compile the SDK and all that it needs no second time.
func inFolder(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	program, err := built()
	must(t, err)
	flags := "GOFLAGS=-mod=readonly"
	if buildtest.Shipped() {
		flags += " -trimpath"
	}
	cmd.Dir, cmd.Env = dir,
		append(os.Environ(), "GOPROXY=off", flags, "CGO_ENABLED=0", "GOWORK=off", "DOGWATCH="+program,
			"PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output)
}

// maxPluginSize is the size in bytes that a stripped plugin in Go may have.
const maxPluginSize = 14 << 20

// maxPluginMemory is how much memory in MiB (anonymous) a plugin in Go may have when it is idle.
const maxPluginMemory = 12
