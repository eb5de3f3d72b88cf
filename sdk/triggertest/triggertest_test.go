package triggertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/kittest"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// postOptions are those of a trigger that posts to a URL.
type postOptions struct {
	URL   *url.URL `option:"url,required" help:"Where to post to"`
	Topic string   `option:"topic" default:"updates" help:"What to post to"`
	Level int      `option:"level" default:"3" min:"1" max:"5" help:"How loud"`
	Token string   `option:"token,secret" help:"Access token"`
}

// post is well-behaved unless its fields say otherwise.
type post struct {
	env sdk.Env
	o   postOptions
	run func(context.Context, *post, trigger.Request) error
	end func()
}

func (p *post) Close() error {
	if p.end != nil {
		p.end()
	}
	return nil
}

func (p *post) Run(ctx context.Context, req trigger.Request) error {
	if p.run != nil {
		return p.run(ctx, p, req)
	}
	return p.send(ctx, req)
}

func (p *post) send(ctx context.Context, req trigger.Request) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.o.URL.String(), strings.NewReader(req.Title+req.Body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+p.o.Token)
	resp, err := http.DefaultClient.Do(r)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return sdk.WithKind(sdk.ErrUnavailable, errors.New("cannot post"))
	}
	defer resp.Body.Close()
	err = fmt.Errorf("posting was answered with %d", resp.StatusCode)
	switch {
	case resp.StatusCode < 300:
		return nil
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return sdk.WithKind(sdk.ErrUnauthorized, err)
	case resp.StatusCode == http.StatusNotFound:
		return sdk.WithKind(sdk.ErrNotFound, err)
	case resp.StatusCode == http.StatusTooManyRequests:
		after, _ := time.ParseDuration(resp.Header.Get("Retry-After") + "s")
		return sdk.RateLimited(after, err)
	case resp.StatusCode >= 500:
		return sdk.WithKind(sdk.ErrUnavailable, err)
	}
	return sdk.Invalid("", "%v", err)
}

// define makes a type of post whose instances are changed by change.
func define(change func(*post), settings ...kind.Setting) trigger.Type {
	return trigger.Define("post", "Posts to a URL", func(env sdk.Env, o postOptions) (*post, error) {
		if strings.Contains(o.Topic, "/") {
			return nil, sdk.Invalid("topic", "must have no slash")
		}
		p := &post{env: env, o: o}
		change(p)
		return p, nil
	}, settings...)
}

func unchanged(*post) {}

func options(url string) map[string]any {
	return map[string]any{"url": url, "token": "t0ps3cret"}
}

func postCase() Case {
	return Case{
		Options: func(t *testing.T) map[string]any { return options(plugintest.Responding(t, http.StatusOK)) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: HTTPFailures(options),
		Invalid: []Invalid{{Field: "topic", Set: map[string]any{"topic": "a/b"}}},
		timeout: 2 * time.Second,
	}
}

func TestRunPassesValidType(t *testing.T) {
	c := postCase()
	adapted := 0
	c.Adapt = func(_ *testing.T, req trigger.Request) trigger.Request { adapted++; return req }
	Run(t, define(unchanged), c)
	LeaksNothing(t, define(unchanged), options(plugintest.Responding(t, http.StatusTeapot)))
	if adapted == 0 {
		t.Error("the requests were not adapted")
	}
}

func TestRunFailsInvalidTypes(t *testing.T) {
	bad := func(check, want string, run func(context.Context, *post, trigger.Request) error) kittest.Bad {
		return kittest.Bad{Check: check, Want: want, Run: func(t *testing.T) {
			Run(t, define(func(p *post) { p.run = run }), postCase())
		}}
	}
	var races int
	kittest.MustFail(t, map[string]kittest.Bad{
		"error shows a secret": bad("secrets/500", `the error of run shows the secret option "token"`,
			func(ctx context.Context, p *post, req trigger.Request) error {
				if err := p.send(ctx, req); err != nil {
					return fmt.Errorf("with %s: %w", p.o.Token, err)
				}
				return nil
			}),
		"error shows a header": bad("secrets/500", `the error of run shows the secret option "token"`,
			func(ctx context.Context, p *post, req trigger.Request) error {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.o.URL.String(), nil)
				if err != nil {
					return err
				}
				r.SetBasicAuth("user", p.o.Token)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					return p.send(ctx, req)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if err == nil && len(body) > 0 {
					return fmt.Errorf("the server says %q", bytes.TrimSpace(body))
				}
				return err
			}),
		"log shows a secret": bad("simple/update", `the log shows the secret option "token"`,
			func(ctx context.Context, p *post, req trigger.Request) error {
				p.env.Log.Debug("posting", "options", p.o)
				return p.send(ctx, req)
			}),
		"progress shows a secret": bad("simple/update", `the progress shows the secret option "token"`,
			func(ctx context.Context, p *post, req trigger.Request) error {
				req.Report(trigger.Progress{Message: "logging in with " + p.o.Token})
				return p.send(ctx, req)
			}),
		"panic": bad("fields/empty", "a call panicked", func(ctx context.Context, p *post, req trigger.Request) error {
			return p.send(ctx, trigger.Request{Title: string(req.Title[0])})
		}),
		"every failure the same": bad("errors/401", "want an error of kind \"unauthorized\"",
			func(ctx context.Context, p *post, req trigger.Request) error {
				if err := p.send(ctx, req); err != nil {
					return errors.New(err.Error())
				}
				return nil
			}),
		"failure unnoticed": bad("errors/500", "run succeeded",
			func(ctx context.Context, p *post, req trigger.Request) error {
				_ = p.send(ctx, req)
				return ctx.Err()
			}),
		"no delay": bad("errors/rate_limit", "*sdk.RateLimitedError after 7s",
			func(ctx context.Context, p *post, req trigger.Request) error {
				err := p.send(ctx, req)
				var limited *sdk.RateLimitedError
				if errors.As(err, &limited) {
					return sdk.RateLimited(0, limited.Err)
				}
				return err
			}),
		"ignores its context": bad("cancel/run", "the call goes on in the plugin",
			func(ctx context.Context, p *post, req trigger.Request) error {
				return p.send(context.WithoutCancel(ctx), req)
			}),
		"one at a time": bad("concurrent", "busy", func() func(context.Context, *post, trigger.Request) error {
			var busy sync.Mutex
			overlapping := make(chan struct{}, 1)
			return func(ctx context.Context, p *post, req trigger.Request) error {
				if !busy.TryLock() {
					select {
					case overlapping <- struct{}{}:
					default:
					}
					return errors.New("busy")
				}
				defer busy.Unlock()
				races++
				return p.send(ctx, req)
			}
		}()),
		"goroutine left behind": {Check: "release", Want: "goroutines are left", Run: func(t *testing.T) {
			Run(t, define(func(p *post) { go func() { select {} }() }), postCase())
		}},
		"no second instance": {Check: "replace", Want: "configure again", Run: func(t *testing.T) {
			n := 0
			typ := trigger.Define("post", "Posts to a URL", func(env sdk.Env, o postOptions) (*post, error) {
				if n++; n > 1 {
					return nil, sdk.Invalid("url", "in use")
				}
				return &post{env: env, o: o}, nil
			})
			Run(t, typ, Case{
				Options: postCase().Options,
				Skip: []string{"options", "release", "concurrent", "cancel", "errors", "secrets", "simple", "batch",
					"fields", "subscribe"},
			})
		}},
		"mistake accepted": {Check: "options", Want: `want an *sdk.InvalidError about "topic"`, Run: func(t *testing.T) {
			typ := trigger.Define("post", "Posts to a URL", func(env sdk.Env, o postOptions) (*post, error) {
				return &post{env: env, o: o}, nil
			})
			Run(t, typ, postCase())
		}},
		"mistake shows a secret": {Check: "options", Want: `the error of configure shows the secret option "token"`,
			Run: func(t *testing.T) {
				typ := trigger.Define("post", "Posts to a URL", func(env sdk.Env, o postOptions) (*post, error) {
					if strings.Contains(o.Topic, "/") {
						return nil, sdk.Invalid("topic", "wrong in %+v", o)
					}
					return &post{env: env, o: o}, nil
				})
				Run(t, typ, postCase())
			}},
		"warning shows a secret": {Check: "replace", Want: `the warning shows the secret option "token"`,
			Run: func(t *testing.T) {
				Run(t, define(func(p *post) { p.env.Warn("odd token " + p.o.Token) }), postCase())
			}},
		"no Hanging": {Check: "cancel", Want: `list "cancel" in Skip`, Run: func(t *testing.T) {
			c := postCase()
			c.Hanging = nil
			Run(t, define(unchanged), c)
		}},
		"no Failing": {Check: "errors", Want: `list "errors" in Skip`, Run: func(t *testing.T) {
			c := postCase()
			c.Failing = nil
			Run(t, define(unchanged), c)
		}},
		"misspelt skip": {Want: `Skip names "cancle", which is no check`, Run: func(t *testing.T) {
			c := postCase()
			c.Skip = []string{"cancle"}
			t.Run("", func(t *testing.T) { Run(t, define(unchanged), c) })
		}},
		"short secret": {Check: "replace", Want: `give the secret option "token" a recognisable value`,
			Run: func(t *testing.T) {
				c := postCase()
				c.Options = func(t *testing.T) map[string]any {
					return map[string]any{"url": plugintest.Responding(t, http.StatusOK), "token": "x"}
				}
				Run(t, define(unchanged), c)
			}},
	})
}

func TestSkippedChecksDoNotRun(t *testing.T) {
	c := postCase()
	c.Skip = []string{"simple/test", "errors/404"}
	Run(t, define(func(p *post) {
		p.run = func(ctx context.Context, p *post, req trigger.Request) error {
			if req.Test {
				return errors.New("a test message")
			}
			if err := p.send(ctx, req); !errors.Is(err, sdk.ErrNotFound) {
				return err
			}
			return errors.New("of no kind")
		}
	}), c)
}

func TestRequestIsDeterministic(t *testing.T) {
	one, batch := Request("nginx"), Request("nginx", "redis")
	if one.Batch || !batch.Batch || len(batch.Containers) != 2 || batch.Containers[1].Name != "redis" {
		t.Errorf("got %+v and %+v", one, batch)
	}
	if a, b := fmt.Sprintf("%+v", Request("nginx").Title), one.Title; a != b {
		t.Errorf("%q, then %q", b, a)
	}
}
