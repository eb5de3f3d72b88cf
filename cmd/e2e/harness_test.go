package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/buildtest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// maxWait bounds every wait of these tests; nothing waits this long unless something is broken.
const maxWait = 60 * time.Second

// built compiles the program once per test binary, as it is shipped.
var built = sync.OnceValues(func() (string, error) {
	path, err := buildPath("dogwatch")
	if err != nil {
		return "", err
	}
	return path, buildtest.Dogwatch(path)
})

// filePlugin compiles the example of a third-party plugin, a module of its own.
var filePlugin = sync.OnceValues(func() (string, error) {
	return build(filepath.Join("..", "..", "examples", "trigger-file"), "trigger-file")
})

func build(dir, name string, flags ...string) (string, error) {
	path, err := buildPath(name)
	if err != nil {
		return "", err
	}
	return path, buildtest.Program(dir, path, flags...)
}

// buildPath returns where a program is to be built, which another user may run.
func buildPath(name string) (string, error) {
	out, err := os.MkdirTemp("", "dwbin")
	if err != nil {
		return "", err
	}
	cleanup.add(func() { os.RemoveAll(out) })
	return filepath.Join(out, name), os.Chmod(out, 0o755)
}

// cleanup ends and removes what outlives single tests.
var cleanup ends

type ends struct {
	mu  sync.Mutex
	all []func()
}

func (e *ends) add(end func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, end)
}

func TestMain(m *testing.M) {
	dockertest.Parallel()
	code := m.Run()
	for _, end := range cleanup.all {
		end()
	}
	os.Exit(code)
}

// shortDir makes a folder whose path leaves room for the names of sockets.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dw")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// openDir is a folder into which plugins write, which are other users where the tests run as root.
func openDir(t testing.TB) string {
	t.Helper()
	dir := shortDir(t)
	must(t, os.Chmod(dir, 0o777))
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// installation is a configured Dogwatch that can be started many times.
type installation struct {
	t     testing.TB
	store string
	env   []string
	user  uint32 // who runs it; 0 for who runs the tests
	// program is what runs; empty for that of this checkout.
	program string
}

func install(t testing.TB, env ...string) *installation {
	t.Helper()
	store := shortDir(t)
	return &installation{t: t, store: store, env: append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + store, "DOGWATCH_STORE_PATH=" + store,
		"DOGWATCH_SERVER_PORT=0", "DOGWATCH_SERVER_HOST=127.0.0.1", "DOGWATCH_LOG_FORMAT=json", "DOGWATCH_LOG_LEVEL=debug",
	}, env...)}
}

// daemon is a running dogwatch serve.
type daemon struct {
	t    testing.TB
	cmd  *exec.Cmd
	url  string
	done chan struct{}
	// addresses are where it listens: one, and another after each restart within the process.
	addresses chan string

	mu  sync.Mutex
	log bytes.Buffer
}

// start runs dogwatch serve until it listens.
func (i *installation) start() *daemon {
	i.t.Helper()
	path := i.program
	if path == "" {
		var err error
		path, err = built()
		must(i.t, err)
	}
	d := &daemon{t: i.t, cmd: exec.Command(path, "serve"), done: make(chan struct{}), addresses: make(chan string, 16)}
	d.cmd.Env, d.cmd.Dir, d.cmd.SysProcAttr = i.env, i.store, as(i.user)
	stderr, err := d.cmd.StderrPipe()
	must(i.t, err)
	must(i.t, d.cmd.Start())
	go d.read(stderr)
	i.t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		<-d.done
		if i.t.Failed() {
			d.mu.Lock()
			defer d.mu.Unlock()
			i.t.Logf("log of dogwatch:\n%s", tail(d.log.String(), 60))
		}
	})
	d.listens()
	return d
}

// listens waits until it listens, at the start or after a restart within the process.
func (d *daemon) listens() {
	d.t.Helper()
	select {
	case a := <-d.addresses:
		d.url = "http://" + a
	case <-d.done:
		d.t.Fatal("dogwatch ended before it listened")
	case <-time.After(maxWait):
		d.t.Fatal("dogwatch does not listen")
	}
}

// as makes a process run as a user; 0 changes nothing.
func as(user uint32) *syscall.SysProcAttr {
	if user == 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
}

func tail(text string, lines int) string {
	all := strings.Split(text, "\n")
	return strings.Join(all[max(len(all)-lines, 0):], "\n")
}

// read keeps the log and finds the addresses in it.
func (d *daemon) read(stderr io.Reader) {
	defer close(d.done)
	scanner := bufio.NewScanner(stderr)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line := scanner.Bytes()
		d.mu.Lock()
		d.log.Write(line)
		d.log.WriteByte('\n')
		d.mu.Unlock()
		var entry struct {
			Message string `json:"@message"`
			Address string `json:"address"`
		}
		if json.Unmarshal(line, &entry) == nil && entry.Message == "listening" {
			d.addresses <- entry.Address
		}
	}
	_ = d.cmd.Wait()
}

// stop ends dogwatch as a service manager does, and requires that it ends well.
func (d *daemon) stop() {
	d.t.Helper()
	must(d.t, d.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-d.done:
	case <-time.After(maxWait):
		d.t.Fatal("dogwatch does not stop")
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		d.t.Fatalf("dogwatch ended with code %d", code)
	}
}

func (d *daemon) request(method, path string, body string) (int, []byte) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(body))
	must(d.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	must(d.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(d.t, err)
	return resp.StatusCode, text
}

// get reads a JSON response.
func get[T any](d *daemon, method, path string) T {
	d.t.Helper()
	status, body := d.request(method, path, "")
	var v T
	if status/100 != 2 {
		d.t.Fatalf("%s %s: %d %s", method, path, status, body)
	}
	if err := json.Unmarshal(body, &v); err != nil {
		d.t.Fatalf("%s %s: %v in %s", method, path, err, body)
	}
	return v
}

func (d *daemon) containers() []sdk.Container {
	d.t.Helper()
	return get[[]sdk.Container](d, http.MethodGet, "/api/containers")
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	within(t, maxWait, what, is)
}

// within waits longer, or less long, for something to be so.
func within(t testing.TB, limit time.Duration, what string, is func() bool) {
	t.Helper()
	for range polls(limit) {
		if is() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// polls yields until the limit, each time a little later than before: what a test waits
// for needs the processor more than the test's requests do.
func polls(limit time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		began, pause := time.Now(), 20*time.Millisecond
		for waited := time.Duration(0); waited < limit; waited = time.Since(began) {
			if !yield(waited) {
				return
			}
			time.Sleep(pause)
			pause = min(pause+pause/4, 250*time.Millisecond)
		}
	}
}

// require skips a test when something is absent, and fails it when it must be there.
func require(t testing.TB, what, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		plugintest.Skip(t, what, err)
	}
}
