package plugintest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

type options struct {
	Word string `option:"word,required" help:"What to log"`
}

type logs struct {
	env  sdk.Env
	word string
}

func (l *logs) Run(_ context.Context, req trigger.Request) error {
	l.env.Log.Info(req.Title, "word", l.word)
	return nil
}

func logsType() trigger.Type {
	return trigger.Define("logs", "Logs", func(env sdk.Env, o options) (*logs, error) {
		env.Warn("just a test")
		return &logs{env, o.Word}, nil
	})
}

func TestTriggerServesConfiguredInstance(t *testing.T) {
	logs := plugintest.Trigger(t, logsType(), map[string]any{"word": "wau"})
	if len(logs.Warnings) != 1 {
		t.Errorf("got the warnings %q", logs.Warnings)
	}
	if lines := logs.Log.Lines(); lines != nil {
		t.Errorf("before anything happened the log has %q", lines)
	}
	if err := logs.Run(t.Context(), trigger.Request{Title: "hello"}); err != nil {
		t.Fatal(err)
	}
	if lines := logs.Log.Lines(); len(lines) != 1 || !strings.Contains(lines[0], `"@message":"hello"`) ||
		!strings.Contains(lines[0], `"word":"wau"`) {
		t.Errorf("the log is %q", lines)
	}
	if err := logs.Subscribe(t.Context(), nil); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("subscribe: got %v", err)
	}
	if err := logs.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := logs.Run(t.Context(), trigger.Request{}); err == nil {
		t.Error("a released instance runs")
	}
}

type yard struct{}

func (yard) List(context.Context) ([]watcher.Container, error) {
	return []watcher.Container{{ID: "1", Name: "nginx"}}, nil
}

func TestWatcherServesConfiguredInstance(t *testing.T) {
	typ := watcher.Define("yard", "A yard", func(sdk.Env, struct{}) (yard, error) { return yard{}, nil })
	w := plugintest.Watcher(t, typ, nil)
	if found, err := w.List(t.Context()); err != nil || len(found) != 1 || found[0].Name != "nginx" {
		t.Errorf("got %+v, %v", found, err)
	}
	if err := w.Watch(t.Context(), nil); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("watch: got %v", err)
	}
}

type shelf struct{ registry.Registry }

func (shelf) Hosts() []registry.Host { return []registry.Host{{Pattern: "shelf.example"}} }

func (shelf) Resolve(_ context.Context, repo registry.Repository, tag string) (string, error) {
	return repo.Name + ":" + tag, nil
}

func TestRegistryServesConfiguredInstance(t *testing.T) {
	typ := registry.Define("shelf", "A shelf", func(sdk.Env, struct{}) (shelf, error) { return shelf{}, nil })
	r := plugintest.Registry(t, typ, nil)
	if hosts := r.Hosts(); len(hosts) != 1 || hosts[0].Pattern != "shelf.example" {
		t.Errorf("got the hosts %v", hosts)
	}
	if got, err := r.Resolve(t.Context(), registry.Repository{Name: "a/b"}, "1"); err != nil || got != "a/b:1" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := r.Credentials(t.Context(), registry.Repository{}); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("credentials: got %v", err)
	}
}

func TestServersRespondAsNamed(t *testing.T) {
	get := func(ctx context.Context, url string) (*http.Response, string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/path", strings.NewReader("the body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Secret", "the header")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp, string(body), err
	}
	if resp, body, err := get(t.Context(), plugintest.Responding(t, 204)); err != nil || resp.StatusCode != 204 ||
		body != "" {
		t.Errorf("a success: got %v, %q, %v", resp, body, err)
	}
	resp, body, err := get(t.Context(), plugintest.Responding(t, 500))
	if err != nil || resp.StatusCode != 500 {
		t.Errorf("a failure: got %v, %v", resp, err)
	}
	for _, want := range []string{"/path", "the header", "the body"} {
		if !strings.Contains(body, want) {
			t.Errorf("the response %q does not repeat %q", body, want)
		}
	}
	resp, _, err = get(t.Context(), plugintest.Limiting(t, 90*time.Second))
	if err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "90" {
		t.Errorf("a limit: got %v, %v", resp, err)
	}
	if _, _, err := get(t.Context(), plugintest.Unreachable(t)); err == nil {
		t.Error("the unreachable URL responds")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, _, err := get(ctx, plugintest.Hanging(t, cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("the hanging server: got %v", err)
	}
}

// A plugin may remember the pause for as long as it lasts.
func TestLimitingKeepsAddressDuringPause(t *testing.T) {
	const after = time.Second
	var address string
	t.Run("limited", func(t *testing.T) { address = strings.TrimPrefix(plugintest.Limiting(t, after), "http://") })
	ended := time.Now()
	for {
		l, err := net.Listen("tcp", address)
		took := time.Since(ended)
		if err != nil && took < after+10*time.Second {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			t.Fatalf("the address is not free %s after the test: %v", took, err)
		}
		if l.Close(); took < after {
			t.Errorf("the address was given to another server %s after the test, the pause is %s", took, after)
		}
		return
	}
}
