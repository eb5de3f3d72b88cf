//go:build !linux

package plugin

import (
	"os"
	"os/exec"
)

// harden has nothing to add here: the plugin itself notices that its host is gone.
func harden(*exec.Cmd, *confinement) {}

// killGroup ends the process; what it started is on its own here.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// Harden restricts this process where the system can; this one cannot.
func Harden() error { return nil }

// awaitExit has no way to wait without collecting here: cmd.Wait does.
func awaitExit(*exec.Cmd) bool { return false }

func bySignal(state *os.ProcessState) bool { return state.ExitCode() == -1 }

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p != nil
}

// cannotSwitch says why programs cannot be started as another user.
func cannotSwitch() string { return "only Linux has it" }

func mapped(uint32) bool { return false }
