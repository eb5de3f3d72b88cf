package watchertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/kittest"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

type yardOptions struct {
	URL   *url.URL `option:"url,required" help:"Where the yard is"`
	Token string   `option:"token,secret" help:"What opens it"`
}

// yard is a watcher of a server of its own invention.
type yard struct {
	o    yardOptions
	flaw flaw
	n    int
}

// flaw changes how a yard works.
type flaw struct {
	list  func(y *yard, c *watcher.Container)
	watch func(ctx context.Context, emit func(watcher.Event)) error
	log   func(req watcher.LogRequest) (watcher.Log, error)
}

func (y *yard) List(ctx context.Context) ([]watcher.Container, error) {
	if _, err := y.get(ctx, "/list"); err != nil {
		return nil, err
	}
	c := watcher.Container{
		ID: "1", Name: "nginx", Status: "running",
		Image: watcher.Image{Host: "docker.io", Name: "library/nginx", Tag: "1.25.3"},
	}
	if y.flaw.list != nil {
		y.flaw.list(y, &c)
	}
	return []watcher.Container{c, {ID: "2", Name: "odd", Error: "no image"}}, nil
}

func (y *yard) get(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, y.o.URL.String()+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", sdk.WithKind(sdk.ErrUnavailable, errors.New("the yard is out of reach"))
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return string(b), err
}

// ReadLog returns one line of each container.
func (y *yard) ReadLog(_ context.Context, req watcher.LogRequest) (watcher.Log, error) {
	if y.flaw.log != nil {
		return y.flaw.log(req)
	}
	if req.ContainerID != "1" && req.ContainerID != "2" {
		return watcher.Log{}, sdk.WithKind(sdk.ErrNotFound, errors.New("there is no such container"))
	}
	return watcher.Log{Lines: []watcher.LogLine{{At: sdk.TimeOf(time.Unix(1, 0)), Text: "wuff"}}}, nil
}

// quiet is a yard that only lists.
type quiet struct{ y *yard }

func (q quiet) List(ctx context.Context) ([]watcher.Container, error) { return q.y.List(ctx) }

// barking is a yard that emits events.
type barking struct{ *yard }

func (b barking) Watch(ctx context.Context, emit func(watcher.Event)) error {
	if b.flaw.watch != nil {
		return b.flaw.watch(ctx, emit)
	}
	for {
		action, err := b.get(ctx, "/next")
		if err != nil {
			return err
		}
		emit(watcher.Event{ContainerID: "1", Action: action, Status: "running", At: sdk.TimeOf(time.Unix(1, 0))})
	}
}

// keeper is the server of a yard; change makes it bark once.
func keeper(t *testing.T, action string) (address string, change func()) {
	barks := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/next" {
			return
		}
		select {
		case <-barks:
			_, _ = io.WriteString(w, action)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() {
		select {
		case barks <- struct{}{}:
		case <-t.Context().Done():
		}
	}
}

func options(address string) map[string]any {
	return map[string]any{"url": address, "token": "t0ps3cret"}
}

func yardCase() Case {
	return Case{
		Working: func(t *testing.T) Engine {
			address, change := keeper(t, watcher.ActionChanged)
			return Engine{Options: options(address), Containers: 2, Change: change}
		},
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: []Failure{{Name: "unreachable", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
			return options(plugintest.Unreachable(t))
		}}},
		timeout: 2 * time.Second,
	}
}

func define(f flaw) watcher.Type {
	return watcher.Define("yard", "A yard of containers", func(_ sdk.Env, o yardOptions) (barking, error) {
		return barking{&yard{o: o, flaw: f}}, nil
	})
}

func TestRunPassesValidType(t *testing.T) { Run(t, define(flaw{}), yardCase()) }

func TestRunPassesValidTypeWithoutEvents(t *testing.T) {
	typ := watcher.Define("yard", "A silent yard", func(_ sdk.Env, o yardOptions) (quiet, error) {
		return quiet{&yard{o: o}}, nil
	})
	Run(t, typ, yardCase())
}

func TestRunFailsInvalidTypes(t *testing.T) {
	list := func(want string, change func(*yard, *watcher.Container)) kittest.Bad {
		return kittest.Bad{
			Check: "list", Want: want, Run: func(t *testing.T) { Run(t, define(flaw{list: change}), yardCase()) },
		}
	}
	watch := func(part, want string, f func(context.Context, func(watcher.Event)) error) kittest.Bad {
		return kittest.Bad{
			Check: "watch/" + part, Want: want, Run: func(t *testing.T) { Run(t, define(flaw{watch: f}), yardCase()) },
		}
	}
	log := func(want string, lines func(req watcher.LogRequest) (watcher.Log, error)) kittest.Bad {
		return kittest.Bad{Check: "log", Want: want, Run: func(t *testing.T) {
			Run(t, define(flaw{log: func(req watcher.LogRequest) (watcher.Log, error) {
				if req.ContainerID == "no such container" {
					return watcher.Log{}, sdk.ErrNotFound
				}
				return lines(req)
			}}), yardCase())
		}}
	}
	kittest.MustFail(t, map[string]kittest.Bad{
		"too many lines": log("has 4 lines, and 3 were asked for", func(req watcher.LogRequest) (watcher.Log, error) {
			return watcher.Log{Lines: make([]watcher.LogLine, req.Lines+1)}, nil
		}),
		"escape sequences": log("with control characters", func(watcher.LogRequest) (watcher.Log, error) {
			return watcher.Log{Lines: []watcher.LogLine{{Text: "\x1b[31mred"}}}, nil
		}),
		"lines of none": log("although its driver", func(watcher.LogRequest) (watcher.Log, error) {
			return watcher.Log{UnreadableDriver: "none", Lines: make([]watcher.LogLine, 1)}, nil
		}),
		"no log": log("the log of container nginx", func(watcher.LogRequest) (watcher.Log, error) {
			return watcher.Log{}, sdk.ErrUnavailable
		}),
		"log of nothing": {Check: "log", Want: "want an sdk.ErrNotFound", Run: func(t *testing.T) {
			Run(t, define(flaw{log: func(watcher.LogRequest) (watcher.Log, error) { return watcher.Log{}, nil }}), yardCase())
		}},
		"no id":         list(`the id "" is empty`, func(_ *yard, c *watcher.Container) { c.ID = "" }),
		"one id twice":  list(`the id "2" is empty or stands for two`, func(_ *yard, c *watcher.Container) { c.ID = "2" }),
		"slash in name": list(`has the name "/nginx"`, func(_ *yard, c *watcher.Container) { c.Name = "/nginx" }),
		"no status":     list("has no status", func(_ *yard, c *watcher.Container) { c.Status = "" }),
		"no image":      list("incomplete image", func(_ *yard, c *watcher.Container) { c.Image.Name = "" }),
		"no tag":        list("incomplete image", func(_ *yard, c *watcher.Container) { c.Image.Tag = "" }),
		"unknown label": list(`ImageLabels has "b", which is none`, func(_ *yard, c *watcher.Container) {
			c.Labels, c.ImageLabels = map[string]string{"a": "1"}, []string{"a", "b"}
		}),
		"unsorted labels": list("ImageLabels are not sorted", func(_ *yard, c *watcher.Container) {
			c.Labels, c.ImageLabels = map[string]string{"a": "1", "b": "1"}, []string{"b", "a"}
		}),
		"one label twice": list("or have one twice", func(_ *yard, c *watcher.Container) {
			c.Labels, c.ImageLabels = map[string]string{"a": "1"}, []string{"a", "a"}
		}),
		"not the same": list("finds something else", func(y *yard, c *watcher.Container) {
			y.n++
			c.Labels = map[string]string{"n": string(rune('a' + y.n))}
		}),
		"wrong number": {Check: "list", Want: "found 2 containers, want 3", Run: func(t *testing.T) {
			c := yardCase()
			working := c.Working
			c.Working = func(t *testing.T) Engine { e := working(t); e.Containers++; return e }
			Run(t, define(flaw{}), c)
		}},
		"silent": watch("cancel", "the event was not emitted", func(ctx context.Context, _ func(watcher.Event)) error {
			<-ctx.Done()
			return ctx.Err()
		}),
		"gives up": watch("cancel", "Watch returned instead", func(context.Context, func(watcher.Event)) error {
			return sdk.ErrUnavailable
		}),
		"deaf": watch("cancel", "Watch goes on in the plugin", func(_ context.Context, emit func(watcher.Event)) error {
			emit(watcher.Event{Action: watcher.ActionChanged})
			select {}
		}),
		"no action": watch("cancel", "has no action", func(ctx context.Context, emit func(watcher.Event)) error {
			emit(watcher.Event{})
			<-ctx.Done()
			return ctx.Err()
		}),
		"no way to make an event": {Check: "watch/cancel", Want: "Engine.Change", Run: func(t *testing.T) {
			c := yardCase()
			c.Working = func(t *testing.T) Engine {
				address, _ := keeper(t, watcher.ActionChanged)
				return Engine{Options: options(address), Containers: 2}
			}
			Run(t, define(flaw{}), c)
		}},
	})
}
