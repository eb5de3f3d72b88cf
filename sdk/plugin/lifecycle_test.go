package plugin_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/test/bufconn"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/pluginserver"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestDescribe(t *testing.T) {
	f := newFakes()
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	d, err := c.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := f.bundle()
	want := pluginclient.Description{
		Version: "1.2.3", SDKVersion: sdk.Version,
		Types: []kind.Type{b.Watchers[0].Type, b.Registries[0].Type, b.Triggers[0].Type},
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got %+v\nwant %+v", d, want)
	}
}

func TestConfigureReturnsWarningsAndHosts(t *testing.T) {
	f := newFakes()
	var seen sdk.Env
	f.create = func(env sdk.Env, _ fakeOptions) error {
		seen = env
		env.Warn("one")
		env.Warn("two")
		env.Log.Info("hello")
		return nil
	}
	log := &plugintest.Log{}
	c := inprocess.Serve(t, f.bundle(), log)
	got := configure(t, c, kind.Registry, "fakeregistry", "a")
	want := pluginclient.Configured{
		Warnings: []string{"one", "two"},
		Hosts:    []registry.Host{{Pattern: "*.example.org", URL: "https://api.example.org/v2"}, {Pattern: "*"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if seen.Instance != "registry.fakeregistry.main" || seen.Name != "main" || seen.UserAgent != "dogwatch/1.2.3" {
		t.Errorf("the environment is %+v", seen)
	}
	if lines := log.Lines(); len(lines) != 1 || !strings.Contains(lines[0], `"@module":"registry.fakeregistry.main"`) {
		t.Errorf("the log is %q", lines)
	}
	seen.Warn("too late for this response, and no part of another one")
	if got := configure(t, c, kind.Registry, "fakeregistry", "b"); len(got.Warnings) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestConfigureRejectsInvalidOptions(t *testing.T) {
	f := newFakes()
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	for name, i := range map[string]pluginclient.Instance{
		"unknown type":   {ID: "trigger.x.main", Kind: kind.Trigger, Type: "x"},
		"another kind":   {ID: "watcher.fake.main", Kind: kind.Watcher, Type: "fake"},
		"unknown option": {ID: mainTrigger, Kind: kind.Trigger, Type: "fake", Options: option.Values{"labl": "x"}},
		"not UTF-8":      {ID: mainTrigger, Kind: kind.Trigger, Type: "fake", Options: option.Values{"label": "\xff"}},
	} {
		var invalid *sdk.InvalidError
		if _, err := c.Configure(t.Context(), i); !errors.As(err, &invalid) || len(invalid.Fields) != 1 ||
			invalid.Fields[0].Field == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{}); !errors.Is(err,
		protocol.ErrUnknownInstance) || !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("an instance that was refused: got %v", err)
	}
}

func TestConfigureValidateOnlyKeepsNoInstance(t *testing.T) {
	f := newFakes()
	c, _ := f.serve(t)
	i := pluginclient.Instance{
		ID: mainTrigger, Kind: kind.Trigger, Type: "fake", Options: option.Values{"label": "trial"}, ValidateOnly: true,
	}
	if _, err := c.Configure(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	if label := <-f.closed; label != "trial" {
		t.Errorf("%q was closed", label)
	}
	f.run = wantLabel("first")
	if err := c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{}); err != nil {
		t.Error(err)
	}
}

// lamp is closed without a result, as many authors write it.
type lamp struct{ closed chan<- string }

func (lamp) Run(context.Context, trigger.Request) error { return nil }

func (l lamp) Close() { l.closed <- "lamp" }

func TestCloseMayHaveNoResult(t *testing.T) {
	closed := make(chan string, 1)
	define := trigger.Define("lamp", "Is closed", func(sdk.Env, struct{}) (lamp, error) { return lamp{closed}, nil })
	c := inprocess.Serve(t, plugin.Bundle{Triggers: []trigger.Type{define}}, io.Discard)
	if _, err := c.Configure(t.Context(), pluginclient.Instance{
		ID: "trigger.lamp.main", Kind: kind.Trigger, Type: "lamp",
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.Release(t.Context(), "trigger.lamp.main"); err != nil {
		t.Fatal(err)
	}
	if len(closed) != 1 {
		t.Error("it was not closed when it was released")
	}
}

func wantLabel(label string) func(context.Context, *fake, trigger.Request) error {
	return func(_ context.Context, f *fake, _ trigger.Request) error {
		if f.label != label {
			return errors.New("served by " + f.label)
		}
		return nil
	}
}

func TestConfigureFailureKeepsOldInstance(t *testing.T) {
	f := newFakes()
	c, _ := f.serve(t)
	f.create = func(sdk.Env, fakeOptions) error { return sdk.Invalid("label", "no more") }
	if _, err := c.Configure(t.Context(), pluginclient.Instance{
		ID: mainTrigger, Kind: kind.Trigger, Type: "fake",
	}); err == nil {
		t.Fatal("want an error")
	}
	f.run = wantLabel("first")
	if err := c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{}); err != nil {
		t.Error(err)
	}
	if len(f.closed) != 0 {
		t.Errorf("%q was closed", <-f.closed)
	}
}

// A replaced instance ends its calls, serves no new ones, and is closed once.
func TestReplaceWaitsForRunningCalls(t *testing.T) {
	f := newFakes()
	running, finish := make(chan string, 2), make(chan struct{})
	f.run = func(_ context.Context, i *fake, _ trigger.Request) error {
		running <- i.label
		<-finish
		return nil
	}
	c, _ := f.serve(t)
	ended := make(chan error, 2)
	run := func() { ended <- c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{}) }
	go run()
	<-running
	configure(t, c, kind.Trigger, "fake", "second")
	go run()
	if label := <-running; label != "second" {
		t.Errorf("after the replacement %q serves", label)
	}
	if len(f.closed) != 0 {
		t.Error("the old instance was closed during its call")
	}
	close(finish)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if label := <-f.closed; label != "first" {
		t.Errorf("%q was closed", label)
	}
	if err := c.Release(t.Context(), mainTrigger); err != nil {
		t.Fatal(err)
	}
	if label := <-f.closed; label != "second" || len(f.closed) != 0 {
		t.Errorf("%q was closed, %d more", label, len(f.closed))
	}
}

func TestReleaseWaitsForRunningCalls(t *testing.T) {
	f := newFakes()
	running, finish := make(chan struct{}), make(chan struct{})
	f.run = func(context.Context, *fake, trigger.Request) error { close(running); <-finish; return nil }
	c, _ := f.serve(t)
	ended := make(chan error, 1)
	go func() { ended <- c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{}) }()
	<-running

	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Release(impatient, mainTrigger); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	released := make(chan error, 1)
	go func() { released <- c.Release(t.Context(), mainTrigger) }()
	close(finish)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
	if err := c.Release(t.Context(), mainTrigger); err != nil {
		t.Errorf("releasing what is not there: %v", err)
	}
	if err := c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{}); !errors.Is(err, protocol.ErrUnknownInstance) {
		t.Errorf("a released instance: got %v", err)
	}
}

// Watching has no end of its own, so it must not keep an instance alive.
func TestWatchEndsWithItsInstance(t *testing.T) {
	f := newFakes()
	f.watch = func(ctx context.Context, emit func(watcher.Event)) error {
		emit(watcher.Event{Action: watcher.ActionChanged})
		<-ctx.Done()
		return ctx.Err()
	}
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	for _, end := range []func(){
		func() { configure(t, c, kind.Watcher, "fakewatcher", "second") },
		func() {
			if err := c.Release(t.Context(), "watcher.fakewatcher.main"); err != nil {
				t.Error(err)
			}
		},
	} {
		configure(t, c, kind.Watcher, "fakewatcher", "first")
		events, ended := make(chan watcher.Event), make(chan error, 1)
		go func() {
			ended <- c.Watcher("watcher.fakewatcher.main").Watch(t.Context(), func(e watcher.Event) { events <- e })
		}()
		<-events
		end()
		if err := <-ended; !errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, protocol.ErrGone) {
			t.Errorf("got %v", err)
		}
	}
}

func TestPanicEndsCallWithError(t *testing.T) {
	f := newFakes()
	f.run = func(context.Context, *fake, trigger.Request) error { panic("the panic value") }
	c, log := f.serve(t)
	err := c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{})
	if err == nil || sdk.Retryable(err) ||
		!strings.HasPrefix(err.Error(), "Trigger.Run panicked: the panic value (lifecycle_test.go:") {
		t.Errorf("got %v", err)
	}
	f.create = func(sdk.Env, fakeOptions) error { panic("another") }
	_, err = c.Configure(t.Context(), pluginclient.Instance{ID: mainTrigger, Kind: kind.Trigger, Type: "fake"})
	if err == nil || !strings.HasPrefix(err.Error(), "Component.Configure panicked: another (") {
		t.Errorf("got %v", err)
	}
	text := log.String()
	for _, want := range []string{`"@level":"error"`, `"call":"Trigger.Run"`, "the panic value", "lifecycle_test.go"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s: %s", want, text)
		}
	}
	// The panic did not leave the call counted: the instance can still be closed.
	if err := c.Release(t.Context(), mainTrigger); err != nil {
		t.Error(err)
	}
}

func TestCancelEndsCallInPlugin(t *testing.T) {
	f := newFakes()
	reached, ended := make(chan struct{}), make(chan error, 1)
	f.run = func(ctx context.Context, _ *fake, _ trigger.Request) error {
		close(reached)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}
	c, _ := f.serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	if err := c.Trigger(mainTrigger).Run(ctx, trigger.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("in the plugin: %v", err)
	}
}

func TestCallOfMissingAbilityIsUnsupported(t *testing.T) {
	type only struct{ fakeOptions }
	plain := watcher.Define("plain", "Has no events", func(sdk.Env, only) (plainWatcher, error) {
		return plainWatcher{}, nil
	})
	c := inprocess.Serve(t, plugin.Bundle{Watchers: []watcher.Type{plain}}, io.Discard)
	configure(t, c, kind.Watcher, "plain", "")
	if err := c.Watcher("watcher.plain.main").Watch(t.Context(), nil); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("events of a watcher without: %v", err)
	}
	if err := c.Trigger("watcher.plain.main").Run(t.Context(), trigger.Request{}); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("running a watcher: %v", err)
	}
}

type plainWatcher struct{}

func (plainWatcher) List(context.Context) ([]watcher.Container, error) { return nil, nil }

// A bundle that is stopped before it has begun to serve ends like any other.
func TestServerStopsBeforeServing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for range 5000 { // which of both comes first is up to the scheduler
		if err := pluginserver.Serve(ctx, bufconn.Listen(1), pluginserver.Bundle(newFakes().bundle()),
			hclog.NewNullLogger()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestServerRejectsDuplicateType(t *testing.T) {
	b := newFakes().bundle()
	b.Triggers = append(b.Triggers, b.Triggers[0])
	if err := pluginserver.Serve(t.Context(), nil, pluginserver.Bundle(b), nil); err == nil ||
		!strings.Contains(err.Error(), `trigger type "fake" twice`) {
		t.Errorf("got %v", err)
	}
}
