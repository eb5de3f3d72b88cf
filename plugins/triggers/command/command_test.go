package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func needShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh")
	}
}

func running(cmd string) func(*testing.T) map[string]any {
	return func(*testing.T) map[string]any { return map[string]any{"cmd": cmd} }
}

func TestConformance(t *testing.T) {
	needShell(t)
	triggertest.Run(t, Type(), triggertest.Case{
		Options: running("cat > /dev/null; echo done"),
		Hanging: hanging,
		Failing: []triggertest.Failure{
			{Name: "exit code", Options: running("echo why >&2; exit 3")},
			{Name: "signal", Options: running("kill -9 $$")},
			{Name: "timeout", Options: func(*testing.T) map[string]any {
				return map[string]any{"cmd": "sleep 60", "timeout": "10ms"}
			}},
		},
		Invalid: []triggertest.Invalid{{Field: "shell", Set: map[string]any{"shell": "/nosuchshell"}}},
	})
}

// hanging shows that the command runs when it opens a named pipe.
func hanging(t *testing.T, reached func()) map[string]any {
	pipe := namedPipe(t)
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		f, err := os.Open(pipe)
		if err != nil {
			t.Error(err)
			return
		}
		reached()
		f.Close()
	}()
	t.Cleanup(func() { <-opened })
	return map[string]any{"cmd": "echo here > '" + pipe + "'; sleep 600"}
}

// run runs cmd once and returns what it logged.
func run(t *testing.T, ctx context.Context, options map[string]any, req trigger.Request) (string, error) {
	t.Helper()
	needShell(t)
	var log bytes.Buffer
	c, err := Type().New(sdk.Env{Log: hclog.New(&hclog.LoggerOptions{Output: &log, DisableTime: true})}, options)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Run(ctx, req)
	return log.String(), err
}

// The whole environment of a command, as it sees it.
func TestEnvironments(t *testing.T) {
	t.Setenv("DOGWATCH_SECRET", "s3cret")
	for name, req := range golden.Requests() {
		if name == "long" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := run(t, t.Context(), map[string]any{
				"cmd": "env -0 > '" + dir + "/env'; cat > '" + dir + "/stdin'",
			}, req); err != nil {
				t.Fatal(err)
			}
			var ours []string
			for _, variable := range strings.Split(read(t, dir+"/env"), "\x00") {
				name, _, _ := strings.Cut(variable, "=")
				if strings.HasPrefix(variable, "DOGWATCH") {
					t.Errorf("handed on: %s", variable)
				}
				if name != "_" && strings.ToLower(name) == name { // WUD's names have no capitals
					ours = append(ours, variable)
				}
			}
			slices.Sort(ours)
			golden.Check(t, name+".env", strings.Join(ours, "\n"))
			golden.Check(t, name+".stdin", read(t, dir+"/stdin")+"\n")
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEnvironmentSizeIsBounded(t *testing.T) {
	req := triggertest.Request("nginx")
	req.Containers[0].Labels["big"] = strings.Repeat("x", 200<<10)
	req.Body = strings.Repeat("y", 200<<10)
	out := filepath.Join(t.TempDir(), "size")
	log, err := run(t, t.Context(), map[string]any{
		"cmd": `echo "${name} ${labels_big-unset} ${container_json-unset} ${body-unset} $(wc -c)" > '` + out + "'",
	}, req)
	if err != nil {
		t.Fatal(err)
	}
	payload, _ := httpclient.EncodeJSON(req.Containers[0])
	if got := strings.Fields(read(t, out)); len(got) != 5 || got[0] != "nginx" || got[1] != "unset" ||
		got[2] != "unset" || got[3] != "unset" || got[4] != strconv.Itoa(len(payload)) {
		t.Errorf("the command saw %q, want %d bytes on standard input", got, len(payload))
	}
	if !strings.Contains(log, "body") || !strings.Contains(log, "labels_big") || !strings.Contains(log, "container_json") {
		t.Errorf("the log does not name what is dropped: %s", log)
	}
	// Many variables that fit one by one, but not together.
	for i := range 50 {
		req.Containers[0].Labels["label"+strconv.Itoa(i)] = strings.Repeat("z", 100<<10)
	}
	if _, err := run(t, t.Context(), map[string]any{"cmd": "exit 0"}, req); err != nil {
		t.Error(err)
	}
}

func TestChosenVariablesArePassed(t *testing.T) {
	needShell(t)
	t.Setenv("CHOSEN", "yes")
	t.Setenv("OTHER", "no")
	log, err := run(t, t.Context(), map[string]any{"cmd": `echo "$CHOSEN ${OTHER-unset}"`, "env": "CHOSEN, NOTHERE"},
		triggertest.Request("nginx"))
	if err != nil || !strings.Contains(log, `line="yes unset"`) {
		t.Errorf("%s, %v", log, err)
	}
	var warned string
	if _, err := Type().New(sdk.Env{Warn: func(m string) { warned += m }}, map[string]any{
		"cmd": "x", "env": "CHOSEN, NOTHERE",
	}); err != nil || !strings.Contains(warned, "NOTHERE") || strings.Contains(warned, "CHOSEN") {
		t.Errorf("warned %q, %v", warned, err)
	}
}

func TestOutputIsLogged(t *testing.T) {
	log, err := run(t, t.Context(), map[string]any{"cmd": "echo one; echo two >&2; printf three"},
		triggertest.Request("nginx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[INFO]  stdout: line=one", "[WARN]  stderr: line=two", "[INFO]  stdout: line=three"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in %s", want, log)
		}
	}
	log, err = run(t, t.Context(), map[string]any{"cmd": "yes | head -n 1000000"}, triggertest.Request("nginx"))
	if err != nil || len(log) > 40*maxOutput || !strings.Contains(log, "left out") {
		t.Errorf("%d bytes of log, %v", len(log), err)
	}
}

func TestFailures(t *testing.T) {
	t.Setenv("HOME", "/s3cret")
	tests := []struct{ cmd, timeout, want string }{
		{"echo first >&2; echo 'bad thing' >&2; echo >&2; exit 7", "60s", "exit code 7: bad thing"},
		{"exit 1", "0", "exit code 1"},
		{"kill -9 $$", "60s", "killed"},
		{"nosuchcommand", "60s", "exit code 127"},
		{"printf 'a\\033[31mb' >&2; exit 2", "60s", "exit code 2: a[31mb"},
		{"sleep 60", "20ms", "did not end within 20ms"},
	}
	for _, test := range tests {
		_, err := run(t, t.Context(), map[string]any{"cmd": test.cmd, "timeout": test.timeout}, triggertest.Request("nginx"))
		if err == nil || !strings.Contains(err.Error(), test.want) || sdk.Retryable(err) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %q", test.cmd, err, test.want)
		}
	}
}

func TestRunIsCancelled(t *testing.T) {
	needShell(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	options := hanging(t, cancel)
	if _, err := run(t, ctx, options, triggertest.Request("nginx")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

// Pipes show that processes have ended: reading one ends when no process holds its other end.
func TestProcessesAreEnded(t *testing.T) {
	needShell(t)
	if !groups {
		t.Skip("process groups are handled on Linux only")
	}
	tests := []struct{ name, cmd, timeout string }{
		{"after the end", "sleep 600 > /dev/null 2>&1 &", "60s"},
		{"after a failure", "sleep 600 > /dev/null 2>&1 & exit 1", "60s"},
		{"after the timeout", "sleep 600 & sleep 600", "20ms"},
		{"though it ignores SIGTERM", "trap '' TERM; (trap '' TERM; sleep 600) & while :; do sleep 1; done", "20ms"},
		{"though it holds the output", "sleep 600 &", "60s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pipe := namedPipe(t)
			ended := make(chan error, 1)
			go func() {
				f, err := os.Open(pipe)
				if err == nil {
					_, err = io.Copy(io.Discard, f)
					f.Close()
				}
				ended <- err
			}()
			// Every process of the command inherits the open pipe.
			_, _ = run(t, t.Context(), map[string]any{
				"cmd": "exec 9> '" + pipe + "'; " + test.cmd, "timeout": test.timeout,
			}, triggertest.Request("nginx"))
			// On a busy machine the shell may be ended before it opens the pipe, which the reader waits for.
			if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				w.Close()
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Error("a process is left")
			}
		})
	}
}

func TestLines(t *testing.T) {
	var got []string
	l := newLines(func(line string) { got = append(got, line) })
	for _, part := range []string{"a", "b\r\n\nc\xff", "\n", strings.Repeat("é", maxLine), "\n", "tail"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	l.end()
	want := []string{"ab", "", "c\uFFFD", strings.Repeat("é", maxLine/2), strings.Repeat("é", maxLine/2), "tail"}
	if strings.Join(got, "|") != strings.Join(want, "|") || l.last != "tail" {
		t.Errorf("%d lines %.200q, last %q", len(got), got, l.last)
	}
}
