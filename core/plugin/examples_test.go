//go:build unix

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// TestExamplesInOtherLanguages runs the plugins of examples that are not Go, as they are built.
func TestExamplesInOtherLanguages(t *testing.T) {
	for lang, typ := range map[string]string{"node": "lamp", "python": "lantern"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			name := "trigger-" + lang
			body, err := os.ReadFile(filepath.Join("..", "..", "examples", name, "plugins", name))
			if errors.Is(err, os.ErrNotExist) {
				plugintest.Skip(t, lang, "examples/"+name+" is not built")
			}
			must(t, err)
			testExample(t, name, typ, body)
		})
	}
}

func testExample(t *testing.T, name, typ string, body []byte) {
	var log logBuffer
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, shortDir(t)
	opt.Log = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Debug, JSONFormat: true})
	must(t, os.WriteFile(filepath.Join(opt.Dir, name), body, 0o755))
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	s, described, found := h.Find(kind.Trigger, typ)
	if !found {
		t.Fatalf("not found: %s", h.Unusable())
	}
	if len(described.Options) != 2 || !described.Options[0].Required || !described.Options[1].Secret ||
		described.Options[0].Help == "" {
		t.Errorf("its options are %+v", described.Options)
	}
	posted, waiting, gaveUp := make(chan map[string]string, 10), make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		text, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/refuse":
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, "wrong: "+auth)
		case "/hang":
			close(waiting)
			<-r.Context().Done()
			close(gaveUp)
		default:
			update := map[string]string{"auth": auth}
			_ = json.Unmarshal(text, &update)
			posted <- update
		}
	}))
	t.Cleanup(server.Close)
	set := func(id, url string) error {
		_, err := configure(t, h, pluginclient.Instance{
			ID: id, Kind: kind.Trigger, Type: typ, Options: map[string]any{"url": url, "token": "hunter2-secret"},
		})
		return err
	}

	var invalid *sdk.InvalidError
	if err := set("trigger.x.bad", "ftp://hunter2-secret/"); !errors.As(err, &invalid) ||
		invalid.Fields[0].Field != "url" || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a wrong option: %v", err)
	}
	must(t, set("trigger.x.main", server.URL+"/ok"))
	must(t, set("trigger.x.refused", server.URL+"/refuse"))
	must(t, set("trigger.x.hang", server.URL+"/hang"))
	req := trigger.Request{
		Delivery:   "d1",
		Containers: []sdk.Container{{Name: "nginx", UpdateKind: sdk.UpdateKind{LocalValue: "1.0", RemoteValue: "1.1"}}},
	}

	must(t, s.Trigger("trigger.x.main").Run(t.Context(), req))
	if got := <-posted; got["auth"] != "Bearer hunter2-secret" || got["name"] != "nginx" || got["from"] != "1.0" ||
		got["to"] != "1.1" || got["id"] != "d1" {
		t.Errorf("posted %v", got)
	}
	if err := s.Trigger("trigger.x.refused").Run(t.Context(), req); !errors.Is(err, sdk.ErrUnauthorized) ||
		!strings.Contains(err.Error(), "wrong: Bearer ***") {
		t.Errorf("refused: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Trigger("trigger.x.hang").Run(ctx, req) }()
	<-waiting
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	select {
	case <-gaveUp: // and the work in the plugin ends
	case <-time.After(20 * time.Second):
		t.Error("its request goes on after the call is cancelled")
	}
	eventually(t, "its line is logged", func() bool { return strings.Contains(log.String(), `"@message":"the `) })
	if text := log.String(); strings.Contains(text, "hunter2") ||
		!strings.Contains(text, `"@module":"trigger.x.main"`) || !strings.Contains(text, `"container":"nginx"`) {
		t.Errorf("the log is %s", text)
	}

	pid := s.Status().PID
	h.Close()
	if running(pid) {
		t.Error("it still runs")
	}
	if strings.Contains(log.String(), "failed to exit gracefully") {
		t.Error("it had to be killed")
	}
}

// TestHelpersByHand starts the plugins of examples that are not Go by hand: they say what they
// are. Started by a host, they do not hand its key on.
func TestHelpersByHand(t *testing.T) {
	for lang, helper := range map[string]string{
		"node": "../../sdk/node/index.js", "python": "../../sdk/python/dogwatch_plugin/__init__.py",
	} {
		t.Run(lang, func(t *testing.T) {
			text, err := os.ReadFile(helper)
			must(t, err)
			if removed := map[string]string{
				"node": "delete process.env.DOGWATCH_PLUGIN_KEY", "python": `os.environ.pop("DOGWATCH_PLUGIN_KEY")`,
			}[lang]; !strings.Contains(string(text), removed) {
				t.Errorf("%s leaves the key in the environment", helper)
			}
			name := "trigger-" + lang
			path := filepath.Join("..", "..", "examples", name, "plugins", name)
			if _, err := os.Stat(path); err != nil {
				plugintest.Skip(t, lang, "examples/"+name+" is not built")
			}
			output, err := exec.CommandContext(t.Context(), path).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 ||
				!strings.Contains(string(output), "This is a Dogwatch plugin, version 1.0.0") {
				t.Errorf("it ended with %v and said %s", err, output)
			}
		})
	}
}
