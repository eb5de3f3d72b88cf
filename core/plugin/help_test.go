//go:build unix

package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/internal/wireplugin"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// raceOptions names the variable of the race detector's options. Without one, each plugin that is built with
// the detector waits for a second before it exits (https://go.dev/doc/articles/race_detector).
const raceOptions = "GORACE"

// TestMain lets this test binary stand for the plugins: go-plugin sets the
// cookie in every process it starts. The roles of other children have variables of their own.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(protocol.Handshake().MagicCookieKey) != "" && len(os.Args) > 1 && os.Args[1] == "exit":
		os.Exit(3)
	case os.Getenv(wireplugin.Variable) != "":
		os.Exit(wireplugin.Main())
	case os.Getenv(protocol.Handshake().MagicCookieKey) != "" && strings.HasPrefix(filepath.Base(os.Args[0]), "many"):
		sdkplugin.Serve(sdkplugin.Bundle{
			Version: "1.0.0", Triggers: []trigger.Type{trigger.Define(filepath.Base(os.Args[0]), "Acts", newAct)},
		})
	case os.Getenv(protocol.Handshake().MagicCookieKey) != "":
		sdkplugin.Serve(testBundle())
	case os.Getenv("TEST_HOST_DIR") != "":
		os.Exit(hostMain(os.Getenv("TEST_HOST_DIR")))
	default:
		own, _ := os.Executable() // which scripts of tests start: what PATH names, isolated plugins may start
		os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(own))
		os.Setenv(raceOptions, cmp.Or(os.Getenv(raceOptions), "atexit_sleep_ms=0"))
		os.Exit(m.Run())
	}
}

type options struct {
	Do    string `option:"do" help:"What to do when called"`
	Token string `option:"token,secret" help:"A secret"`
	Path  string `option:"path" help:"A file"`
}

func testBundle() sdkplugin.Bundle {
	return sdkplugin.Bundle{
		Version: "1.2.3",
		Watchers: []watcher.Type{
			watcher.Define("probe", "Describes its process", newProbe),
			watcher.Define("attributing", "Tells the labels of images", newProbe, watcher.AttributesLabels()),
		},
		Registries: []registry.Type{registry.Define("odd", "Has odd tags", func(sdk.Env, struct{}) (*odd, error) {
			return &odd{}, nil
		})},
		Triggers: []trigger.Type{trigger.Define("act", "Acts", newAct, kind.Needs(kind.CapCredentials))},
	}
}

type probe struct{ do string }

func newProbe(_ sdk.Env, o options) (*probe, error) {
	if o.Do == "refuse" {
		return nil, sdk.Invalid("do", "must not be refuse")
	}
	for path, waits := strings.CutPrefix(o.Do, "after "); waits; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			break
		}
	}
	return &probe{o.Do}, nil
}

// List returns one container that describes the process.
func (p *probe) List(ctx context.Context) ([]watcher.Container, error) {
	switch p.do {
	case "exit":
		os.Exit(4)
	case "exit leaving a child":
		// It has a session of its own, so it does not end with its group. The real
		// output is not what os.Stdout is in a plugin.
		left, stdout, stderr := exec.Command("sleep", "600"), os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
		left.Stdout, left.Stderr, left.SysProcAttr = stdout, stderr, &syscall.SysProcAttr{Setsid: true}
		if err := left.Start(); err != nil {
			return nil, err
		}
		fmt.Fprintln(stderr, "left behind", left.Process.Pid)
		os.Exit(4)
	case "disconnect":
		for fd := 3; fd < 100; fd++ {
			if _, err := syscall.Getsockname(fd); err == nil {
				_ = syscall.Close(fd)
			}
		}
		select {}
	case "panic":
		panic("as asked")
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "fail":
		return nil, sdk.WithKind(sdk.ErrUnauthorized, errors.New("as asked"))
	}
	if what, tries := strings.CutPrefix(p.do, "try "); tries {
		if err := try(what); err != nil {
			return nil, err
		}
	}
	return []watcher.Container{{
		ID: strconv.Itoa(os.Getpid()), Labels: map[string]string{"env": strings.Join(os.Environ(), "\n")},
	}}, nil
}

// odd is a registry whose tags are not all tags. Each host of which it was asked for a digest has a limit then.
type odd struct {
	mu     sync.Mutex
	limits []registry.Limit
}

func (o *odd) Limits() []registry.Limit {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.limits)
}

func (*odd) Hosts() []registry.Host { return nil }

func (*odd) Tags(context.Context, registry.Repository, string) (registry.TagList, error) {
	return registry.TagList{
		Tags: []string{"1.0", "1.1; id", "../x", "", "\u202e1.2", "1.3\n", "-rf", "latest", strings.Repeat("1", 129)},
	}, nil
}

func (o *odd) Resolve(_ context.Context, repo registry.Repository, tag string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := registry.Limit{Host: repo.Host, Limit: 100}
	if tag == "refused" {
		l.PausedUntil = sdk.TimeOf(time.Now().Add(time.Hour))
	}
	o.limits = append(o.limits, l)
	return "", sdk.ErrNotFound
}

func (*odd) Manifest(context.Context, registry.Repository, string, sdk.Platform) (registry.Manifest, error) {
	return registry.Manifest{}, sdk.ErrNotFound
}

type act struct{ do string }

func newAct(_ sdk.Env, o options) (*act, error) { return &act{o.Do}, nil }

func (a *act) Run(context.Context, trigger.Request) error {
	switch a.do {
	case "exit":
		os.Exit(4)
	case "wait":
		time.Sleep(50 * time.Millisecond)
	}
	if what, tries := strings.CutPrefix(a.do, "try "); tries {
		return try(what)
	}
	return nil
}

// Subscribe receives changes until one has a container, and exits then.
func (a *act) Subscribe(ctx context.Context, w trigger.StateStream) error {
	for {
		c, err := w.Next(ctx)
		if err != nil {
			return err
		}
		if len(c.Put) > 0 {
			os.Exit(4)
		}
	}
}

// memoryTrust is a TrustStore for tests.
type memoryTrust struct {
	mu   sync.Mutex
	sums map[string][]byte
}

func (m *memoryTrust) Checksum(_ context.Context, name string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum, has := m.sums[name]
	return sum, has, nil
}

func (m *memoryTrust) Trust(_ context.Context, name string, sum []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sums[name] = sum
	return nil
}

func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func testOptions(t testing.TB, args ...string) Options {
	return Options{
		Builtins: []Builtin{{Name: "watcher", Args: append([]string{"serve"}, args...), Types: testBundle().Types()}},
		RunDirs:  []string{shortDir(t)}, Trust: &memoryTrust{sums: map[string][]byte{}},
		Log: hclog.New(&hclog.LoggerOptions{Output: io.Discard}), Env: []string{raceOptions},
	}
}

func newHost(t testing.TB, opt Options) *Host {
	t.Helper()
	h, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	h.after = func(time.Duration) <-chan time.Time { return time.After(time.Millisecond) }
	h.turn = func(time.Duration) time.Duration { return time.Minute } // however busy the machine is
	t.Cleanup(h.Close)
	return h
}

// configureWatcher configures a probe and waits for the response.
func configureWatcher(t testing.TB, h *Host, id string, options map[string]any) (WatcherHandle, error) {
	t.Helper()
	s, err := configure(t, h, pluginclient.Instance{ID: id, Kind: kind.Watcher, Type: "probe", Options: options})
	return s.Watcher(id), err
}

// configureTrigger configures an act and waits for the response.
func configureTrigger(t testing.TB, h *Host, id string, options map[string]any) (TriggerHandle, error) {
	t.Helper()
	s, err := configure(t, h, pluginclient.Instance{ID: id, Kind: kind.Trigger, Type: "act", Options: options})
	return s.Trigger(id), err
}

func configure(t testing.TB, h *Host, spec pluginclient.Instance) (*Supervisor, error) {
	t.Helper()
	s, _, found := h.Find(spec.Kind, spec.Type)
	if !found {
		t.Fatalf("no bundle holds %s type %s", spec.Kind, spec.Type)
	}
	response := make(chan error, 16)
	s.Configure(spec, func(_ pluginclient.Configured, err error) {
		select {
		case response <- err:
		default:
		}
	})
	select {
	case err := <-response:
		return s, err
	case <-time.After(30 * time.Second):
		t.Fatal("no response to Configure")
		return nil, nil
	}
}

func pidOf(t testing.TB, i WatcherHandle) int {
	t.Helper()
	found, err := i.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(found[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for range 3000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
