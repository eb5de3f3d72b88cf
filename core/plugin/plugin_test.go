//go:build unix

package plugin

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func TestHostStartsProcessOnlyWhenNeeded(t *testing.T) {
	h := newHost(t, testOptions(t))
	if st := h.Bundles()[0]; st.State != Stopped || st.PID != 0 {
		t.Fatalf("a bundle without instances is %s with pid %d", st.State, st.PID)
	}
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
	if err != nil {
		t.Fatal(err)
	}
	pid := pidOf(t, i)
	if pid == os.Getpid() {
		t.Fatal("the plugin runs in the host's process")
	}
	if st := h.Bundles()[0]; st.State != Running || st.PID != pid {
		t.Fatalf("status is %+v, want running with pid %d", st, pid)
	}
}

func TestConfigureErrorNamesTheField(t *testing.T) {
	h := newHost(t, testOptions(t))
	_, err := configureWatcher(t, h, "watcher.probe.a", map[string]any{"do": "refuse"})
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "do" {
		t.Fatalf("error is %v, want one about do", err)
	}
}

// TestConfigureDuringStart: an instance that comes while a new process configures others is not forgotten.
func TestConfigureDuringStart(t *testing.T) {
	h := newHost(t, testOptions(t))
	s, _, _ := h.Find(kind.Watcher, "probe")
	gate := filepath.Join(t.TempDir(), "gate")
	first := make(chan error, 1)
	s.Configure(pluginclient.Instance{
		ID: "watcher.probe.slow", Kind: kind.Watcher, Type: "probe", Options: map[string]any{"do": "after " + gate},
	},
		func(_ pluginclient.Configured, err error) { first <- err })
	eventually(t, "the process configures the first instance", func() bool { return s.Status().PID != 0 })
	if state := s.Status().State; state != Starting {
		t.Fatalf("the plugin is %s", state)
	}
	if _, err := configureWatcher(t, h, "watcher.probe.late", nil); err != nil {
		t.Error(err)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestCallErrorNamesTheInstanceAndKeepsItsKind(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configureWatcher(t, h, "watcher.probe.a", map[string]any{"do": "fail"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.List(t.Context())
	if !errors.Is(err, sdk.ErrUnauthorized) || err.Error() != "watcher.probe.a: as asked" {
		t.Fatalf("error is %v", err)
	}
}

func TestPanicInCallKeepsTheProcess(t *testing.T) {
	h := newHost(t, testOptions(t))
	bad, err := configureWatcher(t, h, "watcher.probe.bad", map[string]any{"do": "panic"})
	if err != nil {
		t.Fatal(err)
	}
	good, err := configureWatcher(t, h, "watcher.probe.good", nil)
	if err != nil {
		t.Fatal(err)
	}
	before := pidOf(t, good)
	if _, err := bad.List(t.Context()); err == nil {
		t.Fatal("a panic is no error")
	}
	if after := pidOf(t, good); after != before {
		t.Fatalf("the process changed from %d to %d", before, after)
	}
}

func TestKilledPluginRestartsAtOnce(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			h := newHost(t, testOptions(t))
			i, err := configureWatcher(t, h, "watcher.probe.a", nil)
			must(t, err)
			for range 3 * maxCrashes {
				pid := pidOf(t, i)
				must(t, syscall.Kill(pid, signal))
				eventually(t, "it ends", func() bool { return !running(pid) })
				if again := pidOf(t, i); again == pid {
					t.Fatal("a process that was killed responded")
				}
			}
			if st := h.Bundles()[0]; st.State != Running || st.Restarts != 3*maxCrashes {
				t.Fatalf("status is %+v", st)
			}
		})
	}
}

func TestTriggerRunIsNotRetriedAfterExit(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "exit"})
	if err != nil {
		t.Fatal(err)
	}
	err = i.Run(t.Context(), trigger.Request{})
	if !errors.Is(err, sdk.ErrUnavailable) || NotStarted(err) {
		t.Fatalf("error is %v; want unavailable, outcome unknown", err)
	}
	eventually(t, "one exit counted", func() bool { return h.Bundles()[0].Restarts == 1 })
}

func TestCircuitBreakerOpensAndRestartClosesIt(t *testing.T) {
	h := newHost(t, testOptions(t, "exit"))
	h.opt.Builtins[0].Args = nil
	s := h.bundles[0]
	s.bundle.args = []string{"exit"}
	_, err := configureWatcher(t, h, "watcher.probe.a", nil)
	if err == nil {
		t.Fatal("an instance of a plugin that exits is configured")
	}
	eventually(t, "broken", func() bool { return s.Status().State == Broken })
	began := time.Now()
	_, err = s.Watcher("watcher.probe.a").List(t.Context())
	if !errors.Is(err, sdk.ErrUnavailable) || !NotStarted(err) || time.Since(began) > 5*time.Second {
		t.Fatalf("a call to a broken plugin: %v", err)
	}
	s.mu.Lock()
	s.bundle.args = []string{"serve"}
	s.mu.Unlock()
	s.Restart()
	eventually(t, "running", func() bool { return s.Status().State == Running })
	pidOf(t, s.Watcher("watcher.probe.a"))
}

func TestHangingCallEndsWithItsContext(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configureWatcher(t, h, "watcher.probe.a", map[string]any{"do": "hang"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := i.List(ctx); err == nil {
		t.Fatal("a hanging call returned no error")
	}
}

// TestDeadlineNoticedByThePluginFirst: a plugin knows the deadline of a call, and may give up a moment before the
// host's own timer fires: the error is that of the host all the same.
func TestDeadlineNoticedByThePluginFirst(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = i.call(t.Context(), "list", "", 20*time.Millisecond, noRetry,
		func(ctx context.Context, _ *pluginclient.Client) error {
			end, _ := ctx.Deadline()
			for time.Now().Before(end) {
			}
			return context.DeadlineExceeded
		})
	if !errors.Is(err, sdk.ErrUnavailable) || err.Error() != "watcher.probe.a: no answer within 20ms" {
		t.Errorf("error is %v", err)
	}
}

func TestTimeoutNamesTheRegistryHost(t *testing.T) {
	opt := testOptions(t)
	opt.RegistryTimeout = 50 * time.Millisecond
	h := newHost(t, opt)
	if _, err := configureWatcher(t, h, "watcher.probe.a", nil); err != nil {
		t.Fatal(err)
	}
	repo := registry.Repository{Host: "registry.example.org", Name: "team/app"}
	err := h.bundles[0].Registry("watcher.probe.a").about(t.Context(), "Tags", repo,
		func(ctx context.Context, _ *pluginclient.Client) error {
			<-ctx.Done()
			return ctx.Err()
		})
	if want := "watcher.probe.a: no answer of registry.example.org within 50ms"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %q", err, want)
	}
}

// TestCallErrorExplainsLoopbackInContainer: inside a container, 127.0.0.1 is not the machine that the user means.
func TestCallErrorExplainsLoopbackInContainer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	for _, inside := range []bool{true, false} {
		opt := testOptions(t)
		opt.Contained = inside
		i, err := configureWatcher(t, newHost(t, opt), "watcher.probe.a", nil)
		if err != nil {
			t.Fatal(err)
		}
		err = i.call(t.Context(), "List", "", time.Minute, noRetry, func(ctx context.Context, _ *pluginclient.Client) error {
			_, err := (&net.Dialer{}).DialContext(ctx, "tcp", closed)
			return err
		})
		if err == nil || strings.Contains(err.Error(), "127.0.0.1 means Dogwatch's own container") != inside {
			t.Errorf("contained %v: %v", inside, err)
		}
	}
}

func TestPluginSeesOnlyThePassedEnvironment(t *testing.T) {
	t.Setenv("DOGWATCH_TRIGGER_SMTP_MAIN_PASS", "hunter2-secret")
	t.Setenv("MY_TOOL_HOME", "passed-on")
	t.Setenv("TZ", "Europe/Paris")
	opt := testOptions(t)
	t.Setenv("AWS_PROFILE", "for-one-bundle")
	t.Setenv("AWS_OTHER", "for-no-bundle")
	opt.Env, opt.Builtins[0].Env = append(opt.Env, "MY_TOOL_HOME"), []string{"AWS_PROFILE"}
	opt.Vars = map[string][]string{"watcher": {"SETTING=of-the-host"}, "registry": {"SETTING=of-another"}}
	h := newHost(t, opt)
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := i.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env := found[0].Labels["env"]
	for text, want := range map[string]bool{"hunter2-secret": false, "passed-on": true, "for-one-bundle": true,
		"for-no-bundle": false, "SETTING=of-the-host": true, "of-another": false, "TZ=Europe/Paris": true,
		"GOGC=": false} {
		if strings.Contains(env, text) != want {
			t.Errorf("the plugin sees %q: %v, want %v", text, !want, want)
		}
	}
	if env := h.environment(bundle{name: "from-elsewhere"}, nil); !slices.Contains(env, "GOGC=40") {
		t.Errorf("a plugin that is not built in sees %q, and nothing makes its collector eager", env)
	}
}

func TestCallErrorIsRedacted(t *testing.T) {
	opt := testOptions(t)
	opt.Redact = func(text string) string { return strings.ReplaceAll(text, "asked", "***") }
	h := newHost(t, opt)
	i, err := configureWatcher(t, h, "watcher.probe.a", map[string]any{"do": "fail"})
	must(t, err)
	if _, err := i.List(t.Context()); err == nil || err.Error() != "watcher.probe.a: as ***" ||
		!errors.Is(err, sdk.ErrUnauthorized) {
		t.Fatalf("error is %v", err)
	}
}
