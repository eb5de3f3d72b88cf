package plugin_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// hostUntilKilled launches the actors, says so on stdout, and waits.
func hostUntilKilled() {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVar+"=plugin")
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "alive")}
	if _, _, err := launch(cmd, io.Discard, io.Discard); err != nil {
		panic(err)
	}
	fmt.Println("launched")
	select {}
}

// A plugin whose host was killed with SIGKILL exits by itself.
func TestPluginExitsWithKilledHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot inherit the pipe there")
	}
	// The plugin holds the writing end until it exits; so does the host.
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	host := command(t, "host")
	host.ExtraFiles = []*os.File{held}
	said, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("launched"))
	if _, err := io.ReadFull(said, line); err != nil {
		t.Fatalf("the host did not launch its plugin: %v", err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := alive.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := alive.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the plugin outlives its host: %v", err)
	}
	_ = host.Wait() // it was killed
}
