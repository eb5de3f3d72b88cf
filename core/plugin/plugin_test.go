//go:build unix

package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestMain lets this test binary stand for the plugins: go-plugin sets the
// cookie in every process it starts. The roles of other children have variables of their own.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(sdkplugin.Handshake().MagicCookieKey) != "" && len(os.Args) > 1 && os.Args[1] == "dies":
		os.Exit(3)
	case os.Getenv(sdkplugin.Handshake().MagicCookieKey) != "":
		sdkplugin.Serve(testBundle())
	case os.Getenv("TEST_HOST_DIR") != "":
		os.Exit(hostMain(os.Getenv("TEST_HOST_DIR")))
	default:
		os.Exit(m.Run())
	}
}

type options struct {
	Do    string `option:"do" help:"What to do when called"`
	Token string `option:"token,secret" help:"A secret"`
}

func testBundle() sdkplugin.Bundle {
	return sdkplugin.Bundle{
		Version:  "1.2.3",
		Watchers: []watcher.Type{watcher.Define("probe", "Answers with facts about its process", newProbe)},
		Triggers: []trigger.Type{trigger.Define("act", "Acts", newAct, kind.Needs(kind.CapCredentials))},
	}
}

type probe struct{ do string }

func newProbe(_ sdk.Env, o options) (*probe, error) {
	if o.Do == "refuse" {
		return nil, sdk.Invalid("do", "must not be refuse")
	}
	return &probe{o.Do}, nil
}

// List answers with one container that tells about the process.
func (p *probe) List(ctx context.Context) ([]sdk.Container, error) {
	switch p.do {
	case "exit":
		os.Exit(4)
	case "panic":
		panic("as asked")
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "fail":
		return nil, sdk.WithKind(sdk.ErrUnauthorized, errors.New("as asked"))
	}
	return []sdk.Container{{ID: strconv.Itoa(os.Getpid()), Labels: map[string]string{"env": strings.Join(os.Environ(), "\n")}}}, nil
}

type act struct{ do string }

func newAct(_ sdk.Env, o options) (*act, error) { return &act{o.Do}, nil }

func (a *act) Run(context.Context, trigger.Request) error {
	if a.do == "exit" {
		os.Exit(4)
	}
	return nil
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
		RunDirs:  []string{shortDir(t)}, Trust: &memoryTrust{sums: map[string][]byte{}}, Log: hclog.New(&hclog.LoggerOptions{Output: io.Discard}),
	}
}

func newHost(t testing.TB, opt Options) *Host {
	t.Helper()
	h, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	h.after = func(time.Duration) <-chan time.Time { return time.After(time.Millisecond) }
	t.Cleanup(h.Close)
	return h
}

// configure configures an instance and waits for the answer.
func configure(t testing.TB, h *Host, id string, k kind.Kind, typ string, options map[string]any) (Instance, error) {
	t.Helper()
	s, _, found := h.Find(k, typ)
	if !found {
		t.Fatalf("no bundle holds %s type %s", k, typ)
	}
	answer := make(chan error, 16)
	s.Configure(sdkplugin.Instance{ID: id, Kind: k, Type: typ, Options: options}, func(_ sdkplugin.Configured, err error) {
		select {
		case answer <- err:
		default:
		}
	})
	select {
	case err := <-answer:
		return s.Instance(id), err
	case <-time.After(30 * time.Second):
		t.Fatal("no answer to Configure")
		return Instance{}, nil
	}
}

func pidOf(t testing.TB, i Instance) int {
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

func TestProcessStartsOnlyWhenNeeded(t *testing.T) {
	h := newHost(t, testOptions(t))
	if st := h.Bundles()[0]; st.State != Stopped || st.PID != 0 {
		t.Fatalf("a bundle without instances is %s with pid %d", st.State, st.PID)
	}
	i, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", nil)
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

func TestWrongOptionsNameTheField(t *testing.T) {
	h := newHost(t, testOptions(t))
	_, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", map[string]any{"do": "refuse"})
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "do" {
		t.Fatalf("error is %v, want one about do", err)
	}
}

func TestErrorsNameTheInstanceAndKeepTheirKind(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", map[string]any{"do": "fail"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.List(t.Context())
	if !errors.Is(err, sdk.ErrUnauthorized) || err.Error() != "watcher.probe.a: as asked" {
		t.Fatalf("error is %v", err)
	}
}

func TestPanicLeavesTheProcessAlive(t *testing.T) {
	h := newHost(t, testOptions(t))
	bad, err := configure(t, h, "watcher.probe.bad", kind.Watcher, "probe", map[string]any{"do": "panic"})
	if err != nil {
		t.Fatal(err)
	}
	good, err := configure(t, h, "watcher.probe.good", kind.Watcher, "probe", nil)
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

func TestKilledPluginIsStartedAgainAtOnceHoweverOften(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * maxCrashes {
		pid := pidOf(t, i)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if again := pidOf(t, i); again == pid {
			t.Fatal("a dead process answered")
		}
	}
	if st := h.Bundles()[0]; st.State != Running || st.Restarts != 3*maxCrashes {
		t.Fatalf("status is %+v", st)
	}
}

func TestCallsAreNotRepeatedWhenTheyMayHaveDoneSomething(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configure(t, h, "trigger.act.a", kind.Trigger, "act", map[string]any{"do": "exit"})
	if err != nil {
		t.Fatal(err)
	}
	err = i.Run(t.Context(), trigger.Request{})
	if !errors.Is(err, sdk.ErrUnavailable) || NotStarted(err) {
		t.Fatalf("error is %v; want unavailable, outcome unknown", err)
	}
	eventually(t, "one death counted", func() bool { return h.Bundles()[0].Restarts == 1 })
}

func TestCrashLoopEndsBrokenAndARestartMendsIt(t *testing.T) {
	h := newHost(t, testOptions(t, "dies"))
	h.opt.Builtins[0].Args = nil
	s := h.bundles[0]
	s.bundle.args = []string{"dies"}
	_, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", nil)
	if err == nil {
		t.Fatal("an instance of a dead plugin is configured")
	}
	eventually(t, "broken", func() bool { return s.Status().State == Broken })
	began := time.Now()
	_, err = s.Instance("watcher.probe.a").List(t.Context())
	if !errors.Is(err, sdk.ErrUnavailable) || !NotStarted(err) || time.Since(began) > 5*time.Second {
		t.Fatalf("a call to a broken plugin: %v", err)
	}
	s.mu.Lock()
	s.bundle.args = []string{"serve"}
	s.mu.Unlock()
	s.Restart()
	eventually(t, "running", func() bool { return s.Status().State == Running })
	pidOf(t, s.Instance("watcher.probe.a"))
}

func TestHungCallEndsWithItsContext(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", map[string]any{"do": "hang"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := i.List(ctx); err == nil {
		t.Fatal("a hung call answered")
	}
}

func TestPluginSeesOnlyThePassedEnvironment(t *testing.T) {
	t.Setenv("DOGWATCH_TRIGGER_SMTP_MAIN_PASS", "hunter2-secret")
	t.Setenv("MY_TOOL_HOME", "passed-on")
	t.Setenv("TZ", "Europe/Paris")
	opt := testOptions(t)
	opt.Env = []string{"MY_TOOL_HOME"}
	h := newHost(t, opt)
	i, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := i.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env := found[0].Labels["env"]
	for text, want := range map[string]bool{"hunter2-secret": false, "passed-on": true, "TZ=Europe/Paris": true, "GOGC=50": true} {
		if strings.Contains(env, text) != want {
			t.Errorf("the plugin sees %q: %v, want %v", text, !want, want)
		}
	}
}

// copyPlugin puts this executable into dir under a name, as an operator would.
func copyPlugin(t testing.TB, dir, name string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, body, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func thirdParty(t testing.TB) (Options, string) {
	opt := testOptions(t)
	opt.Builtins = nil
	opt.Dir = shortDir(t)
	return opt, copyPlugin(t, opt.Dir, "mine")
}

func TestThirdPartyIsTrustedOnFirstUseAndRefusedOnceItChanges(t *testing.T) {
	opt, path := thirdParty(t)
	h := newHost(t, opt)
	if err := h.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, _ := h.Bundle("mine")
	if st := s.Status(); st.State != Stopped || st.Version != "1.2.3" || len(st.Types) != 2 || st.SHA256 == "" {
		t.Fatalf("after discovery: %+v", st)
	}
	i, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", nil)
	if err != nil {
		t.Fatal(err)
	}
	pidOf(t, i)

	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := os.ReadFile(path)
	fmt.Fprintf(f, "%sswapped", body)
	f.Close()
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	s.Restart()
	eventually(t, "untrusted", func() bool { return s.Status().State == Untrusted })
	if reason := s.Status().Error; !strings.Contains(reason, "changed since it was trusted") || !strings.Contains(reason, "dogwatch plugin trust mine") {
		t.Fatalf("reason is %q", reason)
	}
	if _, err := i.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) {
		t.Fatalf("a call to an untrusted plugin: %v", err)
	}
	if err := h.Trust(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "running", func() bool { return s.Status().State == Running })
	pidOf(t, i)
}

func TestThirdPartyIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(t *testing.T, opt *Options, path string)
		state   State
		reason  string
	}{
		"writable by others":        {func(t *testing.T, _ *Options, path string) { must(t, os.Chmod(path, 0o777)) }, Untrusted, "can be changed by others"},
		"folder writable by others": {func(t *testing.T, opt *Options, _ string) { must(t, os.Chmod(opt.Dir, 0o777)) }, Untrusted, "can be changed by others"},
		"a link": {func(t *testing.T, _ *Options, path string) {
			must(t, os.Rename(path, path+"x"))
			must(t, os.Chmod(path+"x", 0o644))
			must(t, os.Symlink(path+"x", path))
		}, Untrusted, "not a regular file"},
		"not pinned":       {func(_ *testing.T, opt *Options, _ string) { opt.Pinned = true }, Untrusted, "plugins.checksums.mine"},
		"another checksum": {func(_ *testing.T, opt *Options, _ string) { opt.Checksums = map[string]string{"mine": "00ff"} }, Untrusted, "is not the one in plugins.checksums.mine"},
		"a type that is taken": {func(_ *testing.T, opt *Options, _ string) {
			opt.Builtins = []Builtin{{Name: "watcher", Args: []string{"serve"}, Types: testBundle().Types()}}
		}, Rejected, "which watcher already provides"},
		"no plugin": {func(t *testing.T, _ *Options, path string) {
			must(t, os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o755))
		}, Broken, "died 5 times in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			opt, path := thirdParty(t)
			c.arrange(t, &opt, path)
			h := newHost(t, opt)
			if err := h.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			s, found := h.Bundle("mine")
			if !found {
				t.Fatal("not found")
			}
			eventually(t, string(c.state), func() bool { return s.Status().State == c.state })
			if got := s.Status().Error; !strings.Contains(got, c.reason) {
				t.Fatalf("reason is %q, want %q in it", got, c.reason)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSensitiveCapabilitiesAreForBuiltinsAndTheGranted(t *testing.T) {
	for name, c := range map[string]struct {
		grants map[string][]string
		want   int
	}{"no grant": {nil, 1}, "granted": {map[string][]string{"mine": {"credentials"}}, 0}} {
		t.Run(name, func(t *testing.T) {
			opt, _ := thirdParty(t)
			opt.Grants = c.grants
			h := newHost(t, opt)
			must(t, h.Discover(t.Context()))
			s, typ, found := h.Find(kind.Trigger, "act")
			if !found || len(s.MissingGrants(typ)) != c.want {
				t.Fatalf("missing grants: %v (found %v)", s.MissingGrants(typ), found)
			}
		})
	}
}

// hostMain is a host of its own that starts a plugin, tells both pids and waits to be killed.
func hostMain(dir string) int {
	h, err := New(Options{
		Builtins: []Builtin{{Name: "watcher", Args: []string{"serve"}, Types: testBundle().Types()}},
		RunDirs:  []string{dir}, Trust: &memoryTrust{}, Log: hclog.NewNullLogger(),
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	h.bundles[0].Configure(sdkplugin.Instance{ID: "watcher.probe.a", Kind: kind.Watcher, Type: "probe"}, func(_ sdkplugin.Configured, err error) {})
	found, err := h.bundles[0].Instance("watcher.probe.a").List(context.Background())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(found[0].ID)
	select {}
}

func TestKilledHostLeavesNoOrphansAndItsSocketsAreRemovedLater(t *testing.T) {
	dir := shortDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_HOST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line := make([]byte, 32)
	n, err := out.Read(line)
	must(t, err)
	pid, err := strconv.Atoi(string(bytes.TrimSpace(line[:n])))
	must(t, err)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	eventually(t, "the plugin is gone", func() bool { return !running(pid) })
	left, _ := filepath.Glob(filepath.Join(dir, runDirPrefix+"*"))
	if len(left) != 1 {
		t.Fatalf("the killed host left %v", left)
	}
	opt := testOptions(t)
	opt.RunDirs = []string{dir}
	newHost(t, opt)
	if _, err := os.Stat(left[0]); !os.IsNotExist(err) {
		t.Fatalf("the folder of a dead host is still there: %v", err)
	}
}

// running reports whether a process exists and is no zombie.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return fields[0] != "Z"
}

func TestBackoff(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	var b backoff
	crash := func(after time.Duration) (time.Duration, bool) {
		at = at.Add(after)
		return b.next(death{at: at})
	}
	for n, limit := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		wait, again := crash(time.Minute)
		if !again || wait < limit/2 || wait > limit {
			t.Fatalf("crash %d: wait %s, again %v; want %s to %s", n+1, wait, again, limit/2, limit)
		}
	}
	if _, again := crash(time.Minute); again {
		t.Fatal("five crashes in a row are not broken")
	}
	b.reset()
	crash(0)
	if wait, _ := crash(quietTime + time.Second); wait > firstBackoff {
		t.Fatalf("after a quiet time the wait is %s", wait)
	}
	for name, c := range map[string]struct {
		end    death
		atOnce bool
	}{
		"killed from outside after work": {death{answered: true, outside: true}, true},
		"crashed after long work":        {death{answered: true, lived: youngAge}, true},
		"crashed young":                  {death{answered: true, lived: youngAge - 1}, false},
		"killed before it answered":      {death{outside: true, lived: youngAge}, false},
		"lived long but never answered":  {death{lived: time.Hour}, false},
	} {
		b.reset()
		c.end.at = at
		if wait, again := b.next(c.end); !again || (wait == 0) != c.atOnce {
			t.Errorf("%s: wait %s", name, wait)
		}
	}
}

func TestSocketsAreInThePrivateFolder(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", nil)
	must(t, err)
	pidOf(t, i)
	entries, err := os.ReadDir(h.runDir)
	must(t, err)
	sockets := 0
	for _, e := range entries {
		if e.Type()&os.ModeSocket != 0 && e.Name() != "probe" {
			sockets++
		}
	}
	info, err := os.Stat(h.runDir)
	must(t, err)
	if sockets == 0 || info.Mode().Perm() != 0o700 {
		t.Fatalf("%d sockets in %v, a folder of mode %v", sockets, entries, info.Mode())
	}
}

func TestPluginLogsKeepTheirNameAndLevel(t *testing.T) {
	var out bytes.Buffer
	root := hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info, DisableTime: true})
	b := bridge{root.Named("plugin.trigger"), root}
	b.Named("dogwatch").Warn("sent", "@module", "trigger.smtp.main", "timestamp", "2024", "to", "ana")
	b.Info("plain")
	b.Debug("not shown")
	if want := "[WARN]  trigger.smtp.main: sent: to=ana\n[INFO]  plugin.trigger: plain\n"; out.String() != want {
		t.Fatalf("logged %q, want %q", out.String(), want)
	}
}

// A silent plugin whose child holds its output open must not keep the host from stopping.
func TestSilentPluginDoesNotHoldTheHost(t *testing.T) {
	opt, path := thirdParty(t)
	must(t, os.WriteFile(path, []byte("#!/bin/sh\nsleep 600 &\nsleep 600\n"), 0o755))
	h, err := New(opt)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _ = h.Discover(ctx) }()
	eventually(t, "starting", func() bool { s, found := h.Bundle("mine"); return found && s.Status().State == Starting })
	cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		h.Close()
	}()
	select {
	case <-closed:
	case <-time.After(startTimeout - 2*time.Second):
		t.Fatal("the host waits for a plugin that says nothing")
	}
}

func TestSecretsInAPluginsErrorsAreBlanked(t *testing.T) {
	opt := testOptions(t)
	opt.Redact = func(text string) string { return strings.ReplaceAll(text, "asked", "***") }
	h := newHost(t, opt)
	i, err := configure(t, h, "watcher.probe.a", kind.Watcher, "probe", map[string]any{"do": "fail"})
	must(t, err)
	if _, err := i.List(t.Context()); err == nil || err.Error() != "watcher.probe.a: as ***" || !errors.Is(err, sdk.ErrUnauthorized) {
		t.Fatalf("error is %v", err)
	}
}
