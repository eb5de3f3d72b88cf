//go:build unix

package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// logBuffer keeps what a host logs.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// responds reports whether i responds, which must be by another process than before.
func responds(t *testing.T, i WatcherHandle, before int) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	found, err := i.List(ctx)
	if ctx.Err() != nil {
		t.Fatal("no process responds in time")
	}
	if err == nil && found[0].ID == strconv.Itoa(before) {
		t.Fatal("the old process responds")
	}
	return err == nil
}

// TestExitIsNoticedWhileAChildHoldsTheOutput: the end of a process is noticed, and
// the host can be closed, while a child that it left behind has its stdout and
// stderr open; what the process wrote last is logged.
func TestExitIsNoticedWhileAChildHoldsTheOutput(t *testing.T) {
	t.Parallel()
	var log logBuffer
	opt := testOptions(t)
	opt.Log = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Debug})
	h := newHost(t, opt)
	bad, err := configureWatcher(t, h, "watcher.probe.bad", map[string]any{"do": "exit leaving a child"})
	must(t, err)
	good, err := configureWatcher(t, h, "watcher.probe.good", nil)
	must(t, err)
	before := pidOf(t, good)
	ended := make(chan error, 1)
	go func() { _, err := bad.List(t.Context()); ended <- err }()
	select {
	case err := <-ended:
		if !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("error is %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the call does not end")
	}
	var left int
	eventually(t, "the last line of the process is logged", func() bool {
		_, text, _ := bytes.Cut([]byte(log.String()), []byte("left behind "))
		_, err := fmt.Sscan(string(text), &left)
		return err == nil
	})
	t.Cleanup(func() { _ = syscall.Kill(left, syscall.SIGKILL) })
	eventually(t, "another process responds", func() bool { return responds(t, good, before) })
	if !running(left) {
		t.Fatal("the child is gone, so this test shows nothing")
	}
	closed := make(chan struct{})
	go func() { h.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Fatal("the host does not close")
	}
}

// TestPluginWithoutConnectionIsReplaced: it is killed, though its process lives.
func TestPluginWithoutConnectionIsReplaced(t *testing.T) {
	h := newHost(t, testOptions(t))
	bad, err := configureWatcher(t, h, "watcher.probe.bad", map[string]any{"do": "disconnect"})
	must(t, err)
	good, err := configureWatcher(t, h, "watcher.probe.good", nil)
	must(t, err)
	before := pidOf(t, good)
	if _, err := bad.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("error is %v", err)
	}
	eventually(t, "another process responds", func() bool { return responds(t, good, before) })
	if running(before) {
		t.Error("it still runs")
	}
}

// TestExitCostsOneCall: calls that follow the one during which a plugin exited
// wait for the next process. One that is sent to the process that exited would count
// as lost, which for an action means that it is never done.
func TestExitCostsOneCall(t *testing.T) {
	h := newHost(t, testOptions(t))
	bad, err := configureTrigger(t, h, "trigger.act.bad", map[string]any{"do": "exit"})
	must(t, err)
	good, err := configureTrigger(t, h, "trigger.act.good", nil)
	must(t, err)
	for range 10 {
		must(t, good.Run(t.Context(), trigger.Request{}))
		if err := bad.Run(t.Context(), trigger.Request{}); !Exited(err) {
			t.Fatalf("error is %v", err)
		}
		if err := good.Run(t.Context(), trigger.Request{}); err != nil && !NotStarted(err) {
			t.Fatalf("the next call is lost, too: %v", err)
		}
		eventually(t, "the exit is handled", func() bool {
			now := h.bundles[0].Status().State
			return now == Running || now == Backoff
		})
		h.bundles[0].Restart() // or it is broken at the fifth exit
		eventually(t, "running", func() bool { return h.bundles[0].Status().State == Running })
	}
}

// TestRestartLosesNoRun: what a trigger does is finished before its process is
// replaced, and what comes next waits for the new one.
func TestRestartLosesNoRun(t *testing.T) {
	h := newHost(t, testOptions(t))
	slow, err := configureTrigger(t, h, "trigger.act.slow", map[string]any{"do": "wait"})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for ctx.Err() == nil {
				if err := slow.Run(t.Context(), trigger.Request{}); err != nil {
					t.Errorf("a run is lost: %v", err)
				}
			}
		})
	}
	for range 5 {
		before := h.bundles[0].Status().PID
		eventually(t, "it runs", func() bool { return h.bundles[0].Status().State == Running })
		h.bundles[0].Restart()
		eventually(t, "replaced", func() bool {
			now := h.bundles[0].Status()
			return now.State == Running && now.PID != before
		})
	}
	stop()
	callers.Wait()
}

// TestBySignal distinguishes what a user, a service manager or the kernel's memory
// killer does from the ways in which a program ends itself.
func TestBySignal(t *testing.T) {
	for script, want := range map[string]bool{
		"kill -KILL $$": true, "kill -TERM $$": true,
		"kill -SEGV $$": false, "kill -ABRT $$": false, "kill -INT $$": false, "kill -PIPE $$": false,
		"exit 0": false, "exit 2": false, "exit 137": false, "exit 143": false,
	} {
		cmd := exec.Command("sh", "-c", script)
		_ = cmd.Run()
		if got := bySignal(cmd.ProcessState); got != want {
			t.Errorf("%s: %v", script, got)
		}
	}
}
