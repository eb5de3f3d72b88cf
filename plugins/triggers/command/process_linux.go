package command

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// guarding is what the shell does that leads the process group of a command:
// its standard input ends when this process is dead, and then it kills the group.
const guarding = `trap '' TERM; read -r nothing; kill -9 0`

// runGroup runs cmd in a process group of its own, so that everything it
// starts can be ended with it: by SIGTERM when the context of cmd ends, and
// killed when cmd is over or when this process exits, however that happens.
func runGroup(cmd *exec.Cmd) error {
	guard := exec.Command(cmd.Path, "-c", guarding)
	guard.Env = []string{}
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Nothing is ever written to it; Wait closes it.
	if _, err := guard.StdinPipe(); err != nil {
		return fmt.Errorf("guard the command: %w", err)
	}
	if err := guard.Start(); err != nil {
		return err
	}
	group := guard.Process.Pid
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-group, syscall.SIGTERM); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
	err := cmd.Run()
	// The guard is not waited for until here, so the group's number is still this group's.
	_ = syscall.Kill(-group, syscall.SIGKILL)
	_ = guard.Wait() // it was killed
	return err
}
