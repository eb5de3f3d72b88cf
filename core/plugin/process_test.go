//go:build unix

package plugin

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// hostMain is a host of its own that starts a plugin and a program that is none, tells their pids and waits to be killed.
func hostMain(dir string) int {
	h, err := New(Options{
		Builtins: []Builtin{{Name: "watcher", Args: []string{"serve"}, Types: testBundle().Types()}},
		RunDirs:  []string{dir}, Trust: &memoryTrust{}, Log: hclog.NewNullLogger(),
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	h.bundles[0].Configure(pluginclient.Instance{ID: "watcher.probe.a", Kind: kind.Watcher, Type: "probe"}, func(_ pluginclient.Configured, err error) {})
	found, err := h.bundles[0].Watcher("watcher.probe.a").List(context.Background())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	// A program that does not watch its parent, as one without the SDK does not.
	careless := exec.Command("sleep", "600")
	harden(careless)
	if err := careless.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(found[0].ID, careless.Process.Pid)
	select {}
}

func TestKilledHostLeavesNoOrphansAndItsSocketsAreRemovedLater(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a process with its parent")
	}
	dir := shortDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_HOST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line := make([]byte, 32)
	n, err := out.Read(line)
	must(t, err)
	pids := strings.Fields(string(line[:n]))
	if len(pids) != 2 {
		t.Fatalf("the host says %q", line[:n])
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		must(t, err)
		eventually(t, "process "+text+" is gone", func() bool { return !running(pid) })
	}
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
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
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
