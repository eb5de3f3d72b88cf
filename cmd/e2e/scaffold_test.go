package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

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

// TestNewPlugins has "plugin new" make a plugin of each kind. Each builds and
// passes its tests with the modules that are here, and together they do what
// Dogwatch is for: the watcher's container, the registry's newer tag, the trigger's message.
func TestNewPlugins(t *testing.T) {
	t.Parallel()
	program, err := built()
	must(t, err)
	source, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	work, plugins := t.TempDir(), shortDir(t)
	service, posted := newShelf(t)
	env := []string{"DOGWATCH_PLUGINS_DIR=" + plugins}
	for _, p := range scaffolded {
		t.Run(p.kind, func(t *testing.T) {
			inFolder(t, work, program, "plugin", "new", p.kind, p.name, "--sdk", source)
			id := p.kind + "-" + p.name
			dir := filepath.Join(work, id)
			if unformatted := inFolder(t, dir, "gofmt", "-l", "."); unformatted != "" {
				t.Errorf("gofmt would change %s", unformatted)
			}
			inFolder(t, dir, "go", "vet", "./...")
			inFolder(t, dir, "go", "test", "./...")
			inFolder(t, dir, "./build.sh")
			built := filepath.Join(dir, "plugins", id)
			info, err := os.Stat(built)
			must(t, err)
			if info.Size() > maxPluginSize {
				t.Errorf("%s has %.1f MB, more than %.1f", id, float64(info.Size())/1e6, maxPluginSize/1e6)
			}
			copyFile(t, built, filepath.Join(plugins, id))
		})
		for option, value := range p.options {
			if option == "URL" {
				value = service + value
			}
			env = append(env, strings.ToUpper("DOGWATCH_"+p.kind+"_"+p.name+"_MAIN_"+option)+"="+value)
		}
	}
	if t.Failed() {
		return
	}
	d := install(t, env...).start()
	eventually(t, "the trigger posts the update", func() bool { return posted.Load() != nil })
	for _, want := range []string{`"containers":["web"]`, "1.25.3", "1.26.0", `"test":false`} {
		if message := *posted.Load(); !strings.Contains(message, want) {
			t.Errorf("the message lacks %s: %s", want, message)
		}
	}
	t.Run("memory", func(t *testing.T) {
		type plugin struct {
			Name string
			PID  int
		}
		for _, p := range get[[]plugin](d, http.MethodGet, "/api/plugins") {
			if p.PID != 0 {
				t.Logf("%s: PSS %.1f MiB", p.Name, pss(t, p.PID))
			}
		}
	})
}

// TestNewPluginInPython makes a trigger in Python, builds it and has it deliver a sample.
func TestNewPluginInPython(t *testing.T) {
	t.Parallel()
	require(t, "python", "protoc")
	if output, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import grpc, google.protobuf").CombinedOutput(); err != nil {
		plugintest.Skip(t, "python", string(output))
	}
	program, err := built()
	must(t, err)
	source, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	service, posted := newShelf(t)
	dir := filepath.Join(shortDir(t), "lamp")
	inFolder(t, filepath.Dir(dir), program, "plugin", "new", "trigger", "bulb", "--lang", "python", "--dir", dir, "--sdk", source)
	inFolder(t, dir, "./build.sh")
	must(t, os.WriteFile(filepath.Join(dir, "dogwatch.yaml"), fmt.Appendf(nil, "plugins: {dir: plugins}\ntrigger: {bulb: {main: {url: %q}}}\n", service+"/hook"), 0o600))
	output := inFolder(t, dir, program, "--config", "dogwatch.yaml", "plugin", "test", "trigger.bulb.main")
	if message := posted.Load(); !strings.Contains(output, "trigger.bulb.main works") || message == nil || !strings.Contains(*message, "test-web") {
		t.Errorf("got %s; posted %v", output, message)
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
			fmt.Fprintf(w, `[{"id": "1", "name": "web", "image": "images.example.com/team/app:1.25.3", "digest": %q}]`, digest("1"))
		case "/feed/team/app.json":
			fmt.Fprintf(w, `{"tags": {"1.25.3": {"digest": %q, "config": %q}, "1.26.0": {"digest": %q, "config": %q}}}`, digest("1"), digest("2"), digest("3"), digest("4"))
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
// returns what it prints.
func inFolder(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output)
}

// maxPluginSize is the size in bytes that a stripped plugin may have.
const maxPluginSize = 15e6
