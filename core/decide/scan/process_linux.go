package scan

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// runGroup runs cmd in a process group of its own, and ends with it all that it has
// started: by SIGTERM when the context of cmd ends, and killed when cmd is over. It is
// killed, too, when this process ends.
func runGroup(cmd *exec.Cmd) error {
	// The signal comes when the thread that started the process ends, not this process
	// (prctl(2), PR_SET_PDEATHSIG).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// As long as the process is not waited for, the number of its group is no other's.
	for {
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of it, if anything is
	return cmd.Wait()
}
