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
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
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

func TestServe(t *testing.T) {
	typ := logsType().Type
	c, log := plugintest.Serve(t, plugin.Bundle{Triggers: []trigger.Type{logsType()}})
	if lines := log.Lines(); lines != nil {
		t.Errorf("before anything happened the log has %q", lines)
	}
	if id := plugintest.ID(typ, "main"); id != "trigger.logs.main" {
		t.Errorf("the id is %q", id)
	}
	if got := plugintest.Configure(t, c, typ, "main", map[string]any{"word": "wau"}); len(got.Warnings) != 1 {
		t.Errorf("got %+v", got)
	}
	if err := c.Trigger("trigger.logs.main").Run(t.Context(), trigger.Request{Title: "hello"}); err != nil {
		t.Fatal(err)
	}
	if lines := log.Lines(); len(lines) != 1 || !strings.Contains(lines[0], `"@message":"hello"`) || !strings.Contains(lines[0], `"word":"wau"`) {
		t.Errorf("the log is %q", lines)
	}
	for _, raw := range []map[string]any{nil, {"word": "x", "wrod": "y"}} {
		var invalid *sdk.InvalidError
		if _, err := plugintest.Try(t.Context(), c, typ, "main", raw); !errors.As(err, &invalid) {
			t.Errorf("%v: got %v", raw, err)
		}
	}
}

func TestServers(t *testing.T) {
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
	if resp, body, err := get(t.Context(), plugintest.Answering(t, 204)); err != nil || resp.StatusCode != 204 || body != "" {
		t.Errorf("a success: got %v, %q, %v", resp, body, err)
	}
	resp, body, err := get(t.Context(), plugintest.Answering(t, 500))
	if err != nil || resp.StatusCode != 500 {
		t.Errorf("a failure: got %v, %v", resp, err)
	}
	for _, want := range []string{"/path", "the header", "the body"} {
		if !strings.Contains(body, want) {
			t.Errorf("the answer %q does not repeat %q", body, want)
		}
	}
	resp, _, err = get(t.Context(), plugintest.Limiting(t, 90*time.Second))
	if err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "90" {
		t.Errorf("a limit: got %v, %v", resp, err)
	}
	if _, _, err := get(t.Context(), plugintest.Unreachable(t)); err == nil {
		t.Error("the unreachable answers")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, _, err := get(ctx, plugintest.Hanging(t, cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("the hanging server: got %v", err)
	}
}

// TestLimitingKeepsItsAddress for as long as somebody may remember its pause.
func TestLimitingKeepsItsAddress(t *testing.T) {
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
