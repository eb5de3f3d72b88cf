package plugin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dogwatch/dogwatch/internal/unprivileged"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// daemons are ways in which a program leaves another behind, with its number in a file.
var daemons = []string{
	`sleep 600 & echo $! > %s`,
	`setsid sh -c 'echo $$ > %s; exec sleep 600' &`,
	`env -i setsid sh -c 'echo $$ > %s; exec sleep 600' &`,
	`env -i PLUGIN_UNIX_SOCKET_DIR=/tmp setsid sh -c 'setsid sh -c "echo \$\$ > %s; exec sleep 600" &'`,
	`d=$TMPDIR/dogwatch-run-1-x/AAAAAAAAAAAAA; mkdir -p $d; env -i PLUGIN_UNIX_SOCKET_DIR=$d setsid sh -c 'echo $$ > %s; exec sleep 600' &`,
}

// leaveDaemons has daemons started, as a plugin, by programs that end at once.
func leaveDaemons(dir string) error {
	var own [2]*os.File // the real ones, which the daemons have open, too
	for i := range own {
		fd, err := unix.Dup(i + 1)
		if err != nil {
			return err
		}
		own[i] = os.NewFile(uintptr(fd), "")
		defer own[i].Close()
	}
	for n, how := range daemons {
		cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf(how, filepath.Join(dir, strconv.Itoa(n))))
		cmd.Stdout, cmd.Stderr = own[0], own[1]
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	for n := range daemons {
		for began := time.Now(); ; time.Sleep(time.Millisecond) {
			if text, _ := os.ReadFile(filepath.Join(dir, strconv.Itoa(n))); len(text) > 1 {
				break
			}
			if time.Since(began) > 10*time.Second {
				return fmt.Errorf("daemon %d has not started", n)
			}
		}
	}
	return nil
}

// withoutGroups makes a host one that has no control groups.
func withoutGroups(t *testing.T, h *Host) {
	t.Helper()
	must(t, adopt())
	h.groups = func() *groups { return &groups{why: "as the test says"} }
}

// TestPluginEndsWithAllItsProcesses: however a plugin leaves processes behind, and however it ends,
// none of them outlives it, with control groups and without.
func TestPluginEndsWithAllItsProcesses(t *testing.T) {
	unprivileged.Also(t, ordinary)
	ends := map[string]func(*Host, *Supervisor){
		"exits":      func(_ *Host, s *Supervisor) { _ = unix.Kill(s.Status().PID, unix.SIGKILL) },
		"restarted":  func(_ *Host, s *Supervisor) { s.Restart() },
		"is removed": func(h *Host, s *Supervisor) { h.remove(s) },
		"host stops": func(h *Host, _ *Supervisor) { h.Close() },
	}
	for name, end := range ends {
		for _, c := range []struct {
			name   string
			iso    Isolation
			groups bool
		}{
			{"own user", Isolation{}, false}, {"user of Dogwatch", Isolation{User: &User{}}, false},
			{"another user", Isolation{User: &User{UID: 65534, GID: 65534}}, false}, {"control group", Isolation{}, true},
		} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				opt, _ := thirdParty(t)
				opt.Isolation = c.iso
				h := newHost(t, opt)
				if !c.groups {
					withoutGroups(t, h)
				} else if h.groups().dir == "" {
					plugintest.Skip(t, "cgroup", h.groups().why)
				}
				must(t, h.Discover(t.Context()))
				dir := shortDir(t)
				must(t, os.Chmod(dir, 0o777))
				i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{
					"do": "try daemons " + dir, "path": filepath.Join(dir, "x"),
				})
				must(t, err)
				must(t, i.Run(t.Context(), trigger.Request{}))
				s, _ := h.Bundle("mine")
				end(h, s)
				for n, how := range daemons {
					text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
					must(t, err)
					pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
					must(t, err)
					eventually(t, how, func() bool { return !running(pid) })
				}
			})
		}
	}
}

// TestOneEndsAlone: what a plugin left behind goes on when another one ends, or another process of the same.
func TestOneEndsAlone(t *testing.T) {
	unprivileged.Also(t, ordinary)
	opt, path := thirdParty(t)
	must(t, os.Link(path, filepath.Join(opt.Dir, "many1")))
	h := newHost(t, opt)
	withoutGroups(t, h)
	must(t, h.Discover(t.Context()))
	dir := shortDir(t)
	must(t, os.Chmod(dir, 0o777))
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{
		"do": "try daemons " + dir, "path": filepath.Join(dir, "x"),
	})
	must(t, err)
	must(t, i.Run(t.Context(), trigger.Request{}))
	other, _ := h.Bundle("many1")
	before := other.Status().Since
	other.Restart()
	eventually(t, "restarted", func() bool { st := other.Status(); return st.State == Stopped && st.Since != before })
	again, err := h.Try(t.Context(), filepath.Join(opt.Dir, "mine"), nil) // as the same user, where it has its own
	must(t, err)
	again.Close()
	for n := range 2 { // the others hide whose they are
		text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
		must(t, err)
		if pid, _ := strconv.Atoi(strings.TrimSpace(string(text))); !running(pid) {
			t.Errorf("%s has ended", daemons[n])
		}
	}
}

// TestOrphansAreCollected: what a plugin's programs leave behind, and what has ended, does not stay in
// the table of processes.
func TestOrphansAreCollected(t *testing.T) {
	opt, _ := thirdParty(t)
	h := newHost(t, opt)
	withoutGroups(t, h)
	must(t, h.Discover(t.Context()))
	own, err := unix.Getsid(0)
	must(t, err)
	ended := func() (pids []int) {
		for _, e := range entries() {
			if e.parent == os.Getpid() && e.zombie && e.session != own {
				pids = append(pids, e.pid)
			}
		}
		return pids
	}
	others := ended() // of other tests, which their hosts collect a minute after their end if those go on
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try orphans"})
	must(t, err)
	must(t, i.Run(t.Context(), trigger.Request{}))
	eventually(t, "no orphan is left", func() bool {
		return !slices.ContainsFunc(ended(), func(pid int) bool { return !slices.Contains(others, pid) })
	})
}

// TestTemporaryFilesAreLimited: a plugin that fills its temporary folder is ended and says why, also
// when it hides what it wrote.
func TestTemporaryFilesAreLimited(t *testing.T) {
	t.Parallel()
	unprivileged.Also(t, ordinary)
	for _, how := range []string{"fill", "fill removed", "fill closed"} {
		if how == "fill removed" && os.Geteuid() != 0 {
			continue // the SDK keeps others of its user from seeing what it has open
		}
		var log logBuffer
		opt, _ := thirdParty(t)
		opt.Isolation.User = &User{} // which sees the files that are removed
		opt.Isolation.Limits = func(string) Limits { return Limits{Temp: 8 << 20} }
		h := loggedHost(t, opt, &log)
		must(t, h.Discover(t.Context()))
		i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try " + how})
		must(t, err)
		if how == "fill" { // while others make more room than it takes
			other := filepath.Join(shortDir(t), "other")
			f, err := os.Create(other)
			must(t, err)
			must(t, unix.Fallocate(int(f.Fd()), 0, 0, 256<<20))
			must(t, f.Close())
			go func() { _ = os.Remove(other) }()
		}
		if err := i.Run(t.Context(), trigger.Request{}); err == nil {
			t.Errorf("%s: it went on", how)
		}
		eventually(t, "it says why", func() bool {
			return strings.Contains(log.String(), "in its temporary folder, and may have 8 MB (plugins.limits): it was ended")
		})
	}
}

// TestBombIsBounded: a plugin that starts programs in sessions of their own without end is ended with them all.
func TestBombIsBounded(t *testing.T) {
	var log logBuffer
	opt, _ := thirdParty(t)
	opt.Isolation.Limits = func(string) Limits { return Limits{Processes: 100} }
	h := loggedHost(t, opt, &log)
	withoutGroups(t, h)
	must(t, h.Discover(t.Context()))
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try bomb"})
	must(t, err)
	if err := i.Run(t.Context(), trigger.Request{}); err == nil {
		t.Error("it went on")
	}
	eventually(t, "it says why", func() bool {
		return strings.Contains(log.String(), "processes, and may have 100 (plugins.limits)")
	})
	eventually(t, "nothing of it is left", func() bool {
		out, _ := exec.Command("pgrep", "-fx", "sleep 617").Output()
		return len(out) == 0
	})
}

// hostWithGroups returns a host whose control groups have a controller.
func hostWithGroups(t *testing.T, controller string, limits Limits, log *logBuffer) *Host {
	t.Helper()
	opt, _ := thirdParty(t)
	opt.Isolation.Limits = func(string) Limits { return limits }
	h := loggedHost(t, opt, log)
	if g := h.groups(); !slices.Contains(g.has, controller) {
		plugintest.Skip(t, "cgroup", g.why)
	}
	must(t, h.Discover(t.Context()))
	return h
}

// TestMemoryIsLimited: a plugin that needs more memory than it may is ended by the kernel, and says why.
func TestMemoryIsLimited(t *testing.T) {
	var log logBuffer
	h := hostWithGroups(t, "memory", DefaultLimits(), &log)
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try allocate"})
	must(t, err)
	if err := i.Run(t.Context(), trigger.Request{}); err == nil {
		t.Error("it has a gigabyte")
	}
	eventually(t, "it says why", func() bool {
		return strings.Contains(log.String(), "it needed more memory than 256 MB (plugins.limits): the kernel ended it")
	})
	s, _ := h.Bundle("mine")
	if st := s.Status().Isolation; !slices.Contains(st.Limits, "memory 256 MB") {
		t.Errorf("the status says %v", st)
	}
}

// TestBombIsBoundedByItsGroup: where a control group counts, the kernel refuses what is too many.
func TestBombIsBoundedByItsGroup(t *testing.T) {
	var log logBuffer
	h := hostWithGroups(t, "pids", Limits{Processes: 100, CPU: 0.5}, &log)
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try bomb"})
	must(t, err)
	most := 0
	done := make(chan struct{})
	go func() { defer close(done); _ = i.Run(t.Context(), trigger.Request{}) }()
	eventually(t, "it says that it is full", func() bool {
		out, _ := exec.Command("pgrep", "-fcx", "sleep 617").Output()
		n, _ := strconv.Atoi(strings.TrimSpace(string(out)))
		most = max(most, n)
		return strings.Contains(log.String(), "can start no further process or thread")
	})
	if most > 100 {
		t.Errorf("it had %d programs", most)
	}
	s, _ := h.Bundle("mine")
	h.remove(s)
	<-done
	if out, _ := exec.Command("pgrep", "-fx", "sleep 617").Output(); len(out) > 0 {
		t.Errorf("left: %s", out)
	}
}
