//go:build linux

package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/sandbox"
	"github.com/dogwatch/dogwatch/internal/sandbox/sandboxtest"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// try is what an isolated plugin tries, in its own process: words of an option, each with its argument.
func try(text string) error {
	what, at, _ := strings.Cut(text, " ")
	var err error
	switch what {
	case "read":
		_, err = os.ReadFile(at)
	case "write":
		err = os.WriteFile(at, []byte("x"), 0o600)
	case "own":
		var f *os.File
		if f, err = os.CreateTemp("", "x"); err == nil {
			err = f.Close()
		}
	case "fetch":
		var resp *http.Response
		if resp, err = http.Get(at); err == nil {
			err = resp.Body.Close()
		}
	case "start":
		err = exec.Command("/bin/sh", "-c", "exit 0").Run()
	case "ptrace":
		err = syscall.PtraceAttach(os.Getppid())
	case "mount":
		err = syscall.Mount("none", at, "tmpfs", 0, "")
	case "unshare":
		err = syscall.Unshare(syscall.CLONE_NEWUSER)
	case "space": // clone with a flag
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		err = cmd.Run()
	case "memory":
		var b [1]byte
		_, err = unix.ProcessVMReadv(os.Getppid(), []unix.Iovec{{Base: &b[0], Len: 1}},
			[]unix.RemoteIovec{{Base: 4096, Len: 1}}, 0)
	case "kill":
		err = syscall.Kill(os.Getppid(), 0)
	case "capabilities":
		var status []byte
		status, err = os.ReadFile("/proc/self/status")
		if err == nil && bytes.Contains(status, []byte("CapEff:\t000001ff")) {
			err = errors.New("it has all")
		}
	case "setid":
		err = leaveSetID(at)
	case "foreign":
		err = changeForeign(at)
	case "type":
		err = typeForHost()
	case "daemons":
		err = leaveDaemons(at)
	case "orphans":
		err = leaveOrphans()
	case "print":
		fmt.Println("said by fmt")
		fmt.Fprintln(os.Stderr, "said to stderr")
		log.Print("said by log")
		fmt.Print(strings.Repeat("x", maxPrinted+1), "\n")
	case "panic":
		panic("as asked")
	case "crash":
		go func() {
			for range 100 {
				go func() { select {} }() // their stacks follow that of the panic
			}
			panic("by a goroutine")
		}()
		select {}
	case "fill":
		err = fill(at)
	case "allocate":
		err = allocate()
	case "bomb":
		err = bomb()
	case "user":
		err = fmt.Errorf("it is user %d", os.Geteuid())
	default:
		err = errors.New("unknown: " + what)
	}
	return err
}

func requireKernel(t testing.TB) sandbox.Support {
	t.Helper()
	has := sandbox.Probe()
	if has.Landlock == 0 {
		plugintest.Skip(t, "landlock", has.NoLandlock)
	}
	if !has.Seccomp {
		plugintest.Skip(t, "seccomp", has)
	}
	return has
}

// openDir makes a folder that the plugin of a name may use, where it runs as a user of its own.
func openDir(t testing.TB, name string) string {
	t.Helper()
	dir := shortDir(t)
	if u := ownUser(name, mapped); os.Geteuid() == 0 && u != nil {
		must(t, os.Chown(dir, int(u.UID), int(u.GID)))
	}
	return dir
}

func TestIsolatedPluginReachesOnlyWhatItNeeds(t *testing.T) {
	has := requireKernel(t)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	opt, _ := thirdParty(t)
	private, granted, named := shortDir(t), openDir(t, "mine"), openDir(t, "mine")
	secret := filepath.Join(private, "shadow")
	must(t, os.WriteFile(secret, []byte("x"), 0o600))
	must(t, os.WriteFile(filepath.Join(opt.Dir, "other"), []byte("x"), 0o600))
	opt.Isolation = Isolation{
		Paths: map[string][]string{"mine": {granted}}, Private: []string{private, filepath.Join(private, "dogwatch.db")},
	}
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	tries := map[string]bool{
		"read " + secret: false, "write " + filepath.Join(private, "new"): false,
		"write " + filepath.Join(opt.Dir, "mine"): false,
		"ptrace": false, "mount " + private: false, "unshare": false, "space": false, "memory": false,
		"kill": has.Landlock < 7, "capabilities": true,
		"own": true, "start": true, "fetch " + server.URL: true, "read /etc/resolv.conf": true,
		"read /usr/share/zoneinfo/UTC": true, "read /proc/self/status": true,
		"write " + filepath.Join(granted, "x"): true, "write " + filepath.Join(named, "x.log"): true,
	}
	for text := range tries {
		_, err := configureTrigger(t, h, "trigger.act."+text, map[string]any{
			"do": "try " + text, "path": filepath.Join(named, "updates.log"),
		})
		must(t, err)
	}
	s, _ := h.Bundle("mine")
	for text, works := range tries {
		if _, err := os.Stat(strings.TrimPrefix(text, "read ")); errors.Is(err, os.ErrNotExist) &&
			strings.HasPrefix(text, "read ") {
			continue // not on this system
		}
		err := s.Trigger("trigger.act."+text).Run(t.Context(), trigger.Request{})
		if (err == nil) != works {
			t.Errorf("%s: %v", text, err)
		}
		if strings.HasPrefix(text, "read "+private) && !strings.Contains(fmt.Sprint(err), "add mine=/path to plugins.paths") {
			t.Errorf("%s: no remedy in %v", text, err)
		}
	}
	st := s.Status().Isolation
	sockets := strings.Contains(fmt.Sprint(st.Lacks), "connections to sockets in the file system")
	if st == nil || len(st.Lacks) > 2 || sockets != (has.Landlock < sandbox.UnixSockets && os.Geteuid() != 0) ||
		!slices.Contains(st.Holds, "system calls (seccomp)") || !slices.Contains(st.Paths, granted) ||
		!slices.Contains(st.Paths, named) {
		t.Errorf("the status says %+v", st)
	}
	if want := fmt.Sprintf("files (Landlock, version %d)", has.Landlock); !slices.Contains(st.Holds, want) {
		t.Errorf("it holds %q, want %q in it", st.Holds, want)
	}
}

// TestInstanceThatNeedsMoreGetsAnotherProcess: what a later instance names is opened for it.
func TestInstanceThatNeedsMoreGetsAnotherProcess(t *testing.T) {
	requireKernel(t)
	opt, _ := thirdParty(t)
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	s, _ := h.Bundle("mine")
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(openDir(t, "mine"), "log")
		i, err := configureTrigger(t, h, "trigger.act."+name, map[string]any{"do": "try write " + path, "path": path})
		must(t, err)
		must(t, i.Run(t.Context(), trigger.Request{}))
	}
	if st := s.Status().Isolation; len(st.Paths) != 3 {
		t.Errorf("the status says %+v", st)
	}
}

func TestIsolationAsAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		plugintest.Skip(t, "root", "only root can start a program as another user")
	}
	opt, _ := thirdParty(t)
	must(t, os.Chmod(opt.Dir, 0o755))
	must(t, os.Chmod(opt.RunDirs[0], 0o755))
	opt.Isolation.User = &User{UID: 65534, GID: 65534}
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try user"})
	must(t, err)
	if err := i.Run(t.Context(), trigger.Request{}); err == nil || !strings.Contains(err.Error(), "it is user 65534") {
		t.Error(err)
	}
	own, err := configureTrigger(t, h, "trigger.act.b", map[string]any{"do": "try own"})
	must(t, err)
	must(t, own.Run(t.Context(), trigger.Request{}))
}

func TestWhoIsIsolated(t *testing.T) {
	watches := []pluginclient.Instance{{Kind: kind.Watcher}}
	own, err := os.Executable()
	must(t, err)
	mine := bundle{name: "mine", path: own}
	for name, test := range map[string]struct {
		iso    Isolation
		grants string
		bundle bundle
		specs  []pluginclient.Instance
		files  bool
		why    string
	}{
		"third party":      {bundle: mine, files: true},
		"watcher":          {bundle: mine, specs: watches, files: true},
		"engine":           {bundle: mine, grants: kind.CapEngine, why: "it is granted the engine"},
		"watcher, engine":  {bundle: mine, specs: watches, grants: kind.CapEngine, why: "it is granted the engine"},
		"watcher, files":   {bundle: mine, specs: watches, grants: kind.CapFiles},
		"credentials":      {bundle: mine, grants: kind.CapCredentials, files: true},
		"off":              {bundle: mine, iso: Isolation{Off: true}, why: "plugins.isolated is false"},
		"built-in trigger": {bundle: bundle{name: "trigger", builtin: true}},
	} {
		opt := testOptions(t)
		opt.Isolation = test.iso
		opt.Grants = func() map[string][]string { return map[string][]string{"mine": {test.grants}} }
		c, err := newHost(t, opt).confine(test.bundle, test.specs)
		must(t, err)
		why := ""
		if c != nil {
			why = c.free
		}
		if (c != nil && len(c.rules.Read) > 0) != test.files || !strings.HasPrefix(why, test.why) ||
			(why == "") != (test.why == "") {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestOptionPaths(t *testing.T) {
	opt := testOptions(t)
	dir := resolved(shortDir(t))
	must(t, os.MkdirAll(filepath.Join(dir, "store", "logs"), 0o755))
	for _, name := range []string{"store/dogwatch.db", "store/there.log", "store/logs/x"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	opt.Isolation.Private = []string{filepath.Join(dir, "store"), filepath.Join(dir, "store", "dogwatch.db")}
	h := newHost(t, opt)
	for value, want := range map[string]string{
		"": "", "relative": "", "https://example.org/x": "", "/etc": "", "/etc/shadow-that-is-not-there": "", "/": "",
		"/no/such/folder/x": "", "/proc/1/mem/x": "",
		dir: "", dir + "/store": "", dir + "/store/dogwatch.db": "", dir + "/store/new.log": dir + "/store/new.log",
		dir + "/new.log": dir + "/new.log", dir + "/store/there.log": dir + "/store/there.log",
		dir + "/store/logs": dir + "/store/logs", dir + "/store/logs/x": dir + "/store/logs",
		dir + "/store/logs/new": dir + "/store/logs", "/dev/null": "/dev/null",
		"unix://" + dir + "/store/logs/x": dir + "/store/logs",
	} {
		opened := func(value any) string {
			var all []string
			for _, path := range namedPaths(pluginclient.Instance{Options: map[string]any{"a": value, "n": 3}}) {
				all = append(all, h.opens(path))
			}
			return strings.Join(all, " ")
		}
		if got, list := opened(value), opened([]string{value}); got != want || list != want {
			t.Errorf("%q: got %q and of a list %q, want %q", value, got, list, want)
		}
	}
}

func TestInterpreter(t *testing.T) {
	dir := resolved(shortDir(t))
	must(t, os.MkdirAll(filepath.Join(dir, "v1", "bin"), 0o755))
	program := filepath.Join(dir, "v1", "bin", "lang")
	must(t, os.WriteFile(program, nil, 0o755))
	for first, want := range map[string]string{
		"#!" + program: filepath.Join(dir, "v1"), "#!/usr/bin/env -S A=b " + program: filepath.Join(dir, "v1"),
		"#! " + program + " -u": filepath.Join(dir, "v1"),
		"#!/no/such":            "", "#!": "", "\x7fELF": "", "#!/usr/bin/env": "",
	} {
		script := filepath.Join(dir, "script")
		must(t, os.WriteFile(script, []byte(first+"\n"), 0o755))
		if got := interpreter(script); want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", first, got, want)
		}
	}
}

// TestReplacedSystemFileIsNoticed: a rule is about a file, not about its name.
func TestReplacedSystemFileIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resolv.conf")
	must(t, os.WriteFile(path, nil, 0o600))
	info, err := os.Stat(path)
	must(t, err)
	c := &confinement{seen: []seenFile{{path: path, info: info}}, held: sandbox.Held{Files: 1}}
	if c.outdated() {
		t.Error("it is the same file")
	}
	rotated := &confinement{held: c.held}
	rotated.see(path, path)
	must(t, os.WriteFile(path+".new", nil, 0o600))
	must(t, os.Rename(path+".new", path))
	if !c.outdated() || (*confinement)(nil).outdated() {
		t.Error("another file has its name")
	}
	must(t, os.Remove(path))
	if c.outdated() || !rotated.outdated() {
		t.Error("a file of an option has gone, or one of the system has")
	}
	rotated.seen = nil
	if rotated.see(path, path); rotated.outdated() {
		t.Error("the file was not made")
	}
	later := &confinement{seen: []seenFile{{path: path}}, held: c.held}
	if !later.outdated() {
		t.Error("a file has come")
	}
}

// withoutLandlock makes a run of this test binary the child of TestPluginRunsWithoutLandlock.
const withoutLandlock = "DOGWATCH_TEST_WITHOUT_LANDLOCK"

// TestPluginRunsWithoutLandlock: where the kernel lacks it, or an engine forbids it, a
// plugin does its work, keeps the other limits, and its status says what does not hold.
func TestPluginRunsWithoutLandlock(t *testing.T) {
	if says := os.Getenv(withoutLandlock); says != "" {
		runsWithoutLandlock(t, says)
		return
	}
	own, err := os.Executable()
	must(t, err)
	for errno, says := range map[unix.Errno]string{
		unix.ENOSYS: "kernel without Landlock", unix.EOPNOTSUPP: "the kernel was started without Landlock",
		unix.EPERM: "the container engine forbids Landlock",
	} {
		cmd := exec.Command(own, "-test.run=^TestPluginRunsWithoutLandlock$")
		cmd.Env = append(os.Environ(), withoutLandlock+"="+says)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		done := make(chan struct{})
		err := sandbox.Thread(func() error {
			if err := sandboxtest.Forbid(errno, sandboxtest.Landlock()...); err != nil {
				return err
			}
			return cmd.Start()
		}, func() { <-done })
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		}
		must(t, err)
		err = cmd.Wait()
		close(done)
		if err != nil || !bytes.Contains(output.Bytes(), []byte("PASS")) {
			t.Errorf("%v: %v: %s", errno, err, output.Bytes())
		}
	}
}

func runsWithoutLandlock(t *testing.T, says string) {
	opt, _ := thirdParty(t)
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	for text, works := range map[string]bool{
		"try own": true, "try start": true, "try ptrace": false, "try mount /": false,
	} {
		i, err := configureTrigger(t, h, "trigger.act."+text, map[string]any{"do": text})
		must(t, err)
		if err := i.Run(t.Context(), trigger.Request{}); (err == nil) != works {
			t.Errorf("%s: %v", text, err)
		}
	}
	s, _ := h.Bundle("mine")
	st := s.Status().Isolation
	if st == nil || !slices.Contains(st.Holds, "system calls (seccomp)") ||
		strings.Contains(st.String(), "Landlock, version") ||
		!strings.Contains(st.String(), "not restricted: files: not available: "+says) {
		t.Errorf("the status says %v", st)
	}
}
