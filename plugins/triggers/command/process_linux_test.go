package command

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const groups = true

func namedPipe(t *testing.T) string {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	return pipe
}

// A plugin that is killed takes its commands with it, and what they have started.
func TestCommandEndsWithItsParent(t *testing.T) {
	needShell(t)
	if cmd := os.Getenv("COMMAND_TEST_CHILD"); cmd != "" {
		c, err := Type().New(sdk.Env{Log: hclog.NewNullLogger()}, map[string]any{"cmd": cmd})
		if err != nil {
			t.Fatal(err)
		}
		t.Fatal(c.Run(t.Context(), triggertest.Request("nginx")))
	}
	for name, cmd := range map[string]string{
		"simple":   "exec sleep 600",
		"compound": "sleep 600; true",
		"nested":   "sh -c 'sleep 600; true' & sleep 600 & wait",
	} {
		t.Run(name, func(t *testing.T) {
			pipe := namedPipe(t)
			child := exec.Command(os.Args[0], "-test.run=^TestCommandEndsWithItsParent$")
			child.Env = append(os.Environ(), "COMMAND_TEST_CHILD=exec 9> '"+pipe+"'; echo running >&9; "+cmd)
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(pipe)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := io.ReadFull(f, make([]byte, len("running\n"))); err != nil {
				t.Fatal(err)
			}
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // it was killed
			// The pipe ends when no process of the command is left.
			if err := f.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, f); err != nil {
				t.Errorf("a process is left: %v", err)
			}
		})
	}
}
