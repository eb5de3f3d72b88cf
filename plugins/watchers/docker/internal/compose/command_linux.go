package compose

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runGroup runs a command in a process group of its own, which is killed as a whole,
// and with Dogwatch: nothing goes on changing containers that are being recovered.
func runGroup(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// The signal comes when the thread ends that started the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
