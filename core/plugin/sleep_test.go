//go:build unix

package plugin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// sleeper is a host whose built-in bundles fall asleep soon: one with the triggers, another with the rest.
type sleeper struct {
	*Host
	mu  sync.Mutex
	saw []Status
}

func newSleeper(t *testing.T, after time.Duration) *sleeper {
	t.Helper()
	s, opt := &sleeper{}, testOptions(t)
	isTrigger := func(of kind.Type) bool { return of.Kind == kind.Trigger }
	types := opt.Builtins[0].Types
	i := slices.IndexFunc(types, isTrigger)
	triggers := Builtin{Name: "trigger", Args: opt.Builtins[0].Args, Types: types[i : i+1], Sleeps: true}
	opt.Builtins[0].Types, opt.Builtins[0].Sleeps = slices.DeleteFunc(slices.Clone(types), isTrigger), true
	opt.Builtins = append(opt.Builtins, triggers)
	opt.Sleep, opt.Changed = after, func(st Status) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.saw = append(s.saw, st)
	}
	s.Host = newHost(t, opt)
	return s
}

// states returns the states that Changed was told of a bundle so far; a woken one is "woken".
func (s *sleeper) states(bundle string) (all []State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.saw {
		if st.Woken {
			st.State = "woken"
		}
		if st.Name == bundle {
			all = append(all, st.State)
		}
	}
	return all
}

// slept waits until a bundle has fallen asleep n times.
func (s *sleeper) slept(t *testing.T, bundle string, n int) {
	t.Helper()
	eventually(t, bundle+" is asleep", func() bool {
		return len(slices.DeleteFunc(s.states(bundle), func(st State) bool { return st != Asleep })) >= n
	})
}

// pass has the bundle of watchers fall asleep and be woken ten times.
func (s *sleeper) pass(t *testing.T) {
	t.Helper()
	other, err := configureWatcher(t, s.Host, "watcher.probe.other", nil)
	must(t, err)
	for n := range 10 {
		s.slept(t, "watcher", n+1)
		pidOf(t, other)
	}
}

const soon = 20 * time.Millisecond

// TestBundleSleepsUntilItIsCalled: a process that nothing calls ends, and the first of many calls starts
// another one, which knows its instances; nobody is told that these are configured again.
func TestBundleSleepsUntilItIsCalled(t *testing.T) {
	h := newSleeper(t, soon)
	notified := make(chan error, 16)
	s, _, _ := h.Find(kind.Trigger, "act")
	s.Configure(pluginclient.Instance{ID: "trigger.act.a", Kind: kind.Trigger, Type: "act"},
		func(_ pluginclient.Configured, err error) { notified <- err })
	must(t, <-notified)
	h.slept(t, "trigger", 1)
	if st := s.Status(); st.State != Asleep || st.PID != 0 || st.Error != "" || s.proc != nil {
		t.Fatalf("asleep, it is %+v", st)
	}
	before := len(h.states("trigger"))
	h.pass(t)
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	var streams [8]changes
	for i := range streams {
		streams[i] = make(changes)
		calls.Go(func() { _ = s.Trigger("trigger.act.a").Subscribe(ctx, streams[i]) })
	}
	for _, stream := range streams {
		stream <- trigger.Change{All: true}
	}
	if got := h.states("trigger")[before:]; !slices.Equal(got, []State{"woken"}) {
		t.Errorf("when it was woken by %d calls, its states were %q", len(streams), got)
	}
	pid := s.Status().PID
	cancel()
	calls.Wait()
	h.slept(t, "trigger", 2)
	eventually(t, "its process is gone", func() bool { return !running(pid) })
	if st := s.Status(); st.Restarts != 0 || len(notified) != 0 {
		t.Errorf("%d restarts, %d notifications", st.Restarts, len(notified))
	}
}

// TestOpenStreamKeepsItsProcess while another bundle falls asleep again and again.
func TestOpenStreamKeepsItsProcess(t *testing.T) {
	h := newSleeper(t, soon)
	in, err := configureTrigger(t, h.Host, "trigger.act.a", nil)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	stream, ended := subscribed(ctx, t, in)
	pid := in.s.Status().PID
	h.pass(t)
	stream <- trigger.Change{All: true}
	if again := in.s.Status().PID; again != pid {
		t.Errorf("the process of a stream was %d, and is %d", pid, again)
	}
	cancel()
	<-ended
	h.slept(t, "trigger", 1)
}

// TestConfigureAndReleaseWhileAsleep: what is configured meanwhile wakes a bundle, and alone is told so;
// one that nothing uses any more is not asleep but not needed.
func TestConfigureAndReleaseWhileAsleep(t *testing.T) {
	h := newSleeper(t, soon)
	old, err := configureWatcher(t, h.Host, "watcher.probe.a", nil)
	must(t, err)
	h.slept(t, "watcher", 1)
	_, err = configureWatcher(t, h.Host, "watcher.probe.b", map[string]any{"do": "refuse"})
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) {
		t.Errorf("the instance that came is configured: %v", err)
	}
	h.slept(t, "watcher", 2)
	old.s.Release("watcher.probe.b")
	if st := old.s.Status().State; st != Asleep {
		t.Errorf("with an instance, it is %s", st)
	}
	old.s.Release("watcher.probe.a")
	if st := old.s.Status().State; st != Stopped {
		t.Errorf("without an instance, it is %s", st)
	}
}

// TestBundleThatCannotBeWoken fails its calls as one that has crashed, and is up again when a user restarts it.
func TestBundleThatCannotBeWoken(t *testing.T) {
	h := newSleeper(t, soon)
	w, err := configureWatcher(t, h.Host, "watcher.probe.a", nil)
	must(t, err)
	h.slept(t, "watcher", 1)
	w.s.mu.Lock()
	w.s.bundle.args = []string{"exit"}
	w.s.mu.Unlock()
	if _, err := w.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) || !NotStarted(err) {
		t.Errorf("the call that could not wake it: %v", err)
	}
	eventually(t, "broken", func() bool { return w.s.Status().State == Broken })
	w.s.mu.Lock()
	w.s.bundle.args = []string{"serve"}
	w.s.mu.Unlock()
	before := len(h.states("watcher"))
	w.s.Restart()
	eventually(t, "up", func() bool { return slices.Contains(h.states("watcher")[before:], Running) })
}

// TestKillAndCloseWhileWaking: the call that wakes a bundle is answered by the next process when the first is
// killed, and ends with the host.
func TestKillAndCloseWhileWaking(t *testing.T) {
	h := newSleeper(t, soon)
	gate := filepath.Join(t.TempDir(), "gate")
	must(t, os.WriteFile(gate, nil, 0o600))
	w, err := configureWatcher(t, h.Host, "watcher.probe.a", map[string]any{"do": "after " + gate})
	must(t, err)
	wake := func() (ended chan error, pid int) {
		must(t, os.Remove(gate))
		ended = make(chan error, 1)
		go func() {
			_, err := w.List(t.Context())
			ended <- err
		}()
		eventually(t, "a process configures the instance", func() bool { pid = w.s.Status().PID; return pid != 0 })
		return ended, pid
	}
	pidOf(t, w)
	h.slept(t, "watcher", 1)
	ended, pid := wake()
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	must(t, os.WriteFile(gate, nil, 0o600))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	h.slept(t, "watcher", 2)
	ended, _ = wake()
	h.Close()
	if err := <-ended; !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("the call ended with %v", err)
	}
}

// TestLimitsAreKeptDuringSleep: what hosts allow is known while the process is gone, without waking it, and of
// hosts that the next one has not asked.
func TestLimitsAreKeptDuringSleep(t *testing.T) {
	h := newSleeper(t, soon)
	s, err := configure(t, h.Host, pluginclient.Instance{ID: "registry.odd.a", Kind: kind.Registry, Type: "odd"})
	must(t, err)
	r := s.Registry("registry.odd.a")
	for n, host := range []string{"one.test", "two.test", "one.test"} {
		_, _ = r.Resolve(t.Context(), registry.Repository{Host: host, Name: "a"}, "1")
		h.slept(t, "watcher", n+1)
		var hosts []string
		limits, _ := r.Limits(t.Context())
		for _, l := range limits {
			hosts = append(hosts, l.Host)
		}
		if want := []string{"one.test", "two.test"}[:min(n+1, 2)]; !slices.Equal(hosts, want) {
			t.Errorf("after %d sleeps, limits of %q are known, want %q", n+1, hosts, want)
		}
		if st := s.Status().State; st != Asleep {
			t.Errorf("the question for limits left it %s", st)
		}
	}
}

// TestSleepWaits until nothing has called a process for long enough, apart from what asks for limits, and while
// a host of a registry wants no requests.
func TestSleepWaits(t *testing.T) {
	h := newSleeper(t, time.Hour)
	s, err := configure(t, h.Host, pluginclient.Instance{ID: "registry.odd.a", Kind: kind.Registry, Type: "odd"})
	must(t, err)
	r := s.Registry("registry.odd.a")
	falls := func(r retry) bool { // asleep an hour after its last call, and after one more just now
		s.mu.Lock()
		s.proc.used = time.Now().Add(-time.Hour)
		p := s.hold()
		s.mu.Unlock()
		if s.fallAsleep(t.Context(), p) <= 0 {
			t.Error("it falls asleep during a call")
		}
		s.letGo(p, r)
		return s.fallAsleep(t.Context(), p) <= 0
	}
	if falls(noRetry) {
		t.Error("it falls asleep right after a call")
	}
	_, _ = r.Resolve(t.Context(), registry.Repository{Host: "one.test", Name: "a"}, "refused")
	if falls(onlyAwake) {
		t.Error("it falls asleep while a host wants no requests")
	}
	s.Restart()
	_, _ = r.Resolve(t.Context(), registry.Repository{Host: "one.test", Name: "a"}, "1")
	if !falls(onlyAwake) {
		t.Error("what asks for limits keeps it awake")
	}
}
