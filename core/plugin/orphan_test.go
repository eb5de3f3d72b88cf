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

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// hostMain is a host of its own that starts a plugin and a program that is none, prints their pids and waits to be
// killed.
func hostMain(dir string) int {
	h, err := New(Options{
		Builtins: []Builtin{{Name: "watcher", Args: []string{"serve"}, Types: testBundle().Types()}},
		RunDirs:  []string{dir}, Trust: &memoryTrust{}, Log: hclog.NewNullLogger(),
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	h.bundles[0].Configure(pluginclient.Instance{ID: "watcher.probe.a", Kind: kind.Watcher, Type: "probe"},
		func(_ pluginclient.Configured, err error) {})
	found, err := h.bundles[0].Watcher("watcher.probe.a").List(context.Background())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	// A program that does not watch its parent, as one without the SDK does not.
	plain := exec.Command("sleep", "600")
	harden(plain, nil)
	if err := plain.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(found[0].ID, plain.Process.Pid)
	select {}
}

func TestKilledHostLeavesNoOrphansAndItsRunDirIsRemoved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a process with its parent")
	}
	dir := shortDir(t)
	must(t, os.Chmod(dir, 0o711)) // where root's host finds a folder that plugins reach
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
		t.Fatalf("the folder of a killed host is still there: %v", err)
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
