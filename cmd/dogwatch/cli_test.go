package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/buildtest"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

var update = flag.Bool("update", false, "rewrite golden files")

// binaries is the folder of the program under test, built once: plugins are
// this program started again, which a test binary cannot be.
var binaries string

func TestMain(m *testing.M) {
	dockertest.Parallel()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dogwatch-cli-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Tests run it as other users, too.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binaries = dir
	return m.Run()
}

// build makes the program, the names under which it is linked into the image, and two example plugins.
func build(dir string) error {
	if err := buildtest.Dogwatch(filepath.Join(dir, "dogwatch")); err != nil {
		return err
	}
	for _, example := range []string{"trigger-file", "watcher-list"} {
		if err := buildtest.Program(filepath.Join("../../examples", example), filepath.Join(dir, example)); err != nil {
			return err
		}
	}
	for _, name := range []string{"curl", "sh"} {
		if err := os.MkdirAll(filepath.Join(dir, "image"), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(dir, "dogwatch"), filepath.Join(dir, "image", name)); err != nil {
			return err
		}
	}
	return nil
}

// TestScripts runs the sessions in testdata/script against the built program.
// Beside the usual commands they have:
//
//	exits CODE ARG...   run dogwatch and want this exit code
//	homelab             start the engine and the registries of the demo and configure them
//	upgrade NAME TAG    install another version of a container of the homelab
//	break [hang]        make the engine of the homelab fail, or not answer
//	asked               wait until the broken engine was asked
//	receiver            start an HTTP server; what it receives is added to the file received
//	containerid NAME FILE CONTAINER  put the beginning of the id of a container in the output of check into a variable
//	for COMMAND ARG...  run a command with each of the arguments, all with the same good outcome
//	updates             start a Dogwatch that plans and updates a few containers
//	private             start a registry that shows nothing without a login and put its host into $PRIVATE
//	dockerlogin FILE PW write what docker login keeps of the private registry's user with a password
//	freeport            put a free port into $PORT
//	taken PORT          have somebody listen on a port, if nobody does
//	await URL           wait until an address answers
//	running URL         wait until every plugin process of a server runs
//	restarted URL NAME  start a plugin process of a server again and wait until it runs
//	post URL BODY       send JSON to an address
//	envfile NAME FILE   put the first line of a file into a variable
//	newer FILE          make a database what a newer version upgrades it to; its version before is put into $SCHEMA
//	documented PAGE TEXT FILE  write the commands of a page of docs that have the text to a file
//	tidy FROM TO        copy output without what differs between runs
func TestScripts(t *testing.T) {
	oldStore, err := filepath.Abs("../../core/store/testdata/v1.db")
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", binaries+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("BIN", binaries)
			e.Setenv("CHECKOUT", checkout)
			e.Setenv("OLDSTORE", oldStore)
			e.Setenv("DOGWATCH_STORE_PATH", filepath.Join(e.WorkDir, "store"))
			e.Values["scene"] = &scene{}
			e.Setenv("DOGWATCH_SERVER_PORT", "1") // where nothing listens, unless the script says otherwise
			// Where the tests run as root, plugins run as users of their own.
			return errors.Join(os.Chmod(filepath.Dir(e.WorkDir), 0o711), os.Chmod(e.WorkDir, 0o777))
		},
		// [shipped] stands before what only the program as it is shipped does.
		Condition: func(condition string) (bool, error) {
			if condition != "shipped" {
				return false, fmt.Errorf("there is no condition %q", condition)
			}
			return buildtest.Shipped(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"containerid": containerID,
			"for":         forEach,
			"exits":       exits,
			"homelab":     startHomelab,
			"upgrade":     upgrade,
			"updates":     startUpdates,
			"break":       breakEngine,
			"asked":       awaitRequest,
			"receiver":    startReceiver,
			"private":     startPrivate,
			"dockerlogin": dockerLogin,
			"freeport":    freePort,
			"taken":       takePort,
			"await":       await,
			"running":     awaitRunning,
			"restarted":   restarted,
			"post":        post,
			"envfile":     envFile,
			"newer":       newerStore,
			"documented":  documented,
			"tidy":        tidy,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG...")
	}
	err := ts.Exec("dogwatch", args[1:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s\n%s\n%s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// scene is what a script has started.
type scene struct {
	lab      *homelab
	requests int // how often the engine had been requested to list containers when it was broken
}

func startHomelab(ts *testscript.TestScript, _ bool, _ []string) {
	lab, err := openHomelab(nil)
	ts.Check(err)
	ts.Defer(func() { _ = lab.close() })
	for _, variable := range lab.environment() {
		name, value, _ := strings.Cut(variable, "=")
		switch name {
		case "DOGWATCH_WATCHER_DOCKER_HOMELAB_CRON":
			value = "0 0 1 1 *" // checks are made when the script asks for them
		case "DOGWATCH_TRIGGER_MOCK_DEMO":
			continue
		}
		ts.Setenv(name, value)
	}
	ts.Setenv("HOME_SITE", strings.TrimSuffix(lab.sites[homeSite].prefix, "/"))
	ts.Value("scene").(*scene).lab = lab
}

func upgrade(ts *testscript.TestScript, _ bool, args []string) {
	lab := ts.Value("scene").(*scene).lab
	for _, a := range lab.apps {
		if a.name == args[0] {
			ref, err := lab.pull(a, args[1])
			ts.Check(err)
			_, err = lab.engine.Recreate(a.name, ref)
			ts.Check(err)
			return
		}
	}
	ts.Fatalf("there is no container %s", args[0])
}

func breakEngine(ts *testscript.TestScript, _ bool, args []string) {
	w := ts.Value("scene").(*scene)
	fault := enginesim.Fault{Status: http.StatusInternalServerError}
	if len(args) > 0 {
		fault = enginesim.Fault{Hang: true}
	}
	w.lab.engine.Fail(enginesim.ListContainers, fault)
	w.requests = w.lab.engine.Requests(enginesim.ListContainers)
}

// awaitRequest waits until the engine has had a request since it was broken.
func awaitRequest(ts *testscript.TestScript, _ bool, _ []string) {
	w := ts.Value("scene").(*scene)
	for range 1000 {
		if w.lab.engine.Requests(enginesim.ListContainers) > w.requests {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("the engine was not asked")
}

// startReceiver puts the address of an HTTP server into $RECEIVER.
func startReceiver(ts *testscript.TestScript, _ bool, _ []string) {
	received, err := os.OpenFile(ts.MkAbs("received"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var line bytes.Buffer
		_, _ = io.Copy(&line, r.Body)
		line.WriteByte('\n')
		_, _ = received.Write(line.Bytes())
	}))
	ts.Defer(func() {
		server.Close()
		_ = received.Close()
	})
	ts.Setenv("RECEIVER", server.URL)
}

func containerID(ts *testscript.TestScript, _ bool, args []string) {
	var all []sdk.Container
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &all))
	for _, c := range all {
		if c.Name == args[2] {
			ts.Setenv(args[0], c.ID[:12])
			return
		}
	}
	ts.Fatalf("there is no container %s", args[2])
}

func forEach(ts *testscript.TestScript, _ bool, args []string) {
	first := ""
	for i, arg := range args[1:] {
		ts.Check(ts.Exec("dogwatch", args[0], arg))
		switch said := ts.ReadFile("stdout"); {
		case i == 0:
			first = said
		case said != first:
			ts.Fatalf("%s %s says\n%s\nand not\n%s", args[0], arg, said, first)
		}
	}
}

// startPrivate serves team/app to the user ann with the password s3cret.
func startPrivate(ts *testscript.TestScript, _ bool, _ []string) {
	r := registrysim.New(registrysim.Options{
		Auth: registrysim.Token, Users: map[string]string{"ann": "s3cret"}, Private: func(string) bool { return true },
	})
	r.Push("team/app", "1.0.0", "1.1.0")
	server := httptest.NewServer(r)
	ts.Defer(server.Close)
	ts.Setenv("PRIVATE", strings.TrimPrefix(server.URL, "http://"))
}

func dockerLogin(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	auth := base64.StdEncoding.EncodeToString([]byte("ann:" + args[1]))
	ts.Check(os.WriteFile(file, fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, ts.Getenv("PRIVATE"), auth), 0o600))
}

func newerStore(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	db, err := sql.Open("sqlite", path)
	ts.Check(err)
	var version int
	ts.Check(db.QueryRow("PRAGMA user_version").Scan(&version))
	saved := fmt.Sprintf("%s.v%d.bak", path, version)
	if err := os.Remove(saved); err != nil && !errors.Is(err, os.ErrNotExist) {
		ts.Check(err)
	}
	_, err = db.Exec(fmt.Sprintf("VACUUM INTO '%s'; PRAGMA user_version = %d; CREATE TABLE later (a)", saved, version+1))
	ts.Check(errors.Join(err, db.Close()))
	ts.Setenv("SCHEMA", strconv.Itoa(version))
}

func documented(ts *testscript.TestScript, _ bool, args []string) {
	page, err := os.ReadFile(filepath.Join(ts.Getenv("CHECKOUT"), "docs", args[0]))
	ts.Check(err)
	for i, block := range strings.Split(string(page), "```") {
		if commands, is := strings.CutPrefix(block, "sh\n"); i%2 == 1 && is && strings.Contains(commands, args[1]) {
			ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(commands), 0o600))
			return
		}
	}
	ts.Fatalf("docs/%s has no commands with %q", args[0], args[1])
}

func freePort(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv("PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

func takePort(ts *testscript.TestScript, _ bool, args []string) {
	if l, err := net.Listen("tcp", ":"+args[0]); err == nil {
		ts.Defer(func() { l.Close() })
	}
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	awaitThat(ts, args[0], func(ctx context.Context, c client) error {
		return c.call(ctx, http.MethodGet, "", nil)
	})
}

func awaitRunning(ts *testscript.TestScript, _ bool, args []string) {
	awaitThat(ts, args[0], func(ctx context.Context, c client) error {
		var all []plugin.Status
		if err := c.call(ctx, http.MethodGet, "/api/plugins", &all); err != nil {
			return err
		}
		for _, p := range all {
			if p.State != plugin.Running {
				return fmt.Errorf("plugin %s is %s", p.Name, p.State)
			}
		}
		return nil
	})
}

// restarted waits for another process, by its number.
func restarted(ts *testscript.TestScript, _ bool, args []string) {
	base, name := args[0], args[1]
	process := func(ctx context.Context, c client) (plugin.Status, error) {
		var all []plugin.Status
		err := c.call(ctx, http.MethodGet, "/api/plugins", &all)
		for _, p := range all {
			if p.Name == name {
				return p, err
			}
		}
		return plugin.Status{}, errors.Join(err, fmt.Errorf("there is no plugin %s", name))
	}
	c := client{base: base, http: localClient()}
	before, err := process(context.Background(), c)
	ts.Check(err)
	ts.Check(c.call(context.Background(), http.MethodPost, "/api/plugins/"+name+"/restart", nil))
	awaitThat(ts, base, func(ctx context.Context, c client) error {
		now, err := process(ctx, c)
		if err == nil && (now.PID == before.PID || now.State != plugin.Running) {
			err = fmt.Errorf("plugin %s is %s as process %d", name, now.State, now.PID)
		}
		return err
	})
}

func post(ts *testscript.TestScript, _ bool, args []string) {
	res, err := http.Post(args[0], "application/json", strings.NewReader(args[1]))
	ts.Check(err)
	body, _ := io.ReadAll(res.Body)
	ts.Check(res.Body.Close())
	if res.StatusCode >= 300 {
		ts.Fatalf("%s: %s", res.Status, body)
	}
}

// awaitThat tries a request of a server until it succeeds.
func awaitThat(ts *testscript.TestScript, base string, try func(context.Context, client) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	for {
		err := try(ctx, client{base: base, http: localClient()})
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("%s is not ready: %v", base, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// variable is what differs between two runs of the same script.
var variable = []struct {
	form *regexp.Regexp
	tidy string
}{
	{regexp.MustCompile(`localhost:\d+`), "localhost:PORT"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\d+ ms\b|\d+(\.\d)? s\b`), "TIME"},
	{regexp.MustCompile(`[\d.]+ [kMGT]B free`), "SPACE free"},
	{regexp.MustCompile(`go\d+\.\d+\S* \S+/\S+`), "GO OS/ARCH"},
	{regexp.MustCompile(`(?m)^commit .*\n`), ""},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "SHA256"},
	{regexp.MustCompile(`\b[0-9a-f]{12} → [0-9a-f]{12}\b`), "OLD-HASH → NEW-HASH"},
}

func envFile(ts *testscript.TestScript, _ bool, args []string) {
	line, _, _ := strings.Cut(ts.ReadFile(args[1]), "\n")
	ts.Setenv(args[0], line)
}

func tidy(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "WORK")
	text = strings.ReplaceAll(text, binaries, "BIN")
	for _, v := range variable {
		text = v.form.ReplaceAllString(text, v.tidy)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}
