package plugin

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// harden makes the kernel end the process with its host, and gives it a session of its own:
// the terminal of the host is not its terminal, so that it can neither write into what is typed
// there nor be interrupted from there before the host can stop it. It runs as the user of its confinement.
func harden(cmd *exec.Cmd, c *confinement) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	if c != nil && c.user != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.user.UID, Gid: c.user.GID}
	}
}

// killGroup ends the process and all that it started.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Harden restricts this process: others of the same user, plugins among them,
// can no longer read its environment and memory or attach to it (proc(5),
// PR_SET_DUMPABLE). It and every process it will start make no core dumps, which
// would hold secrets, and get no new privileges through set-user-id programs.
func Harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl dumpable", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return os.NewSyscallError("setrlimit core", err)
	}
	// The flag belongs to a thread, and a child may be started from any of them.
	_, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	if errno != 0 && errno != syscall.ENOTSUP { // ENOTSUP: a build with cgo cannot reach all threads
		return os.NewSyscallError("prctl no_new_privs", errno)
	}
	return nil
}

// awaitExit waits until the process has ended and reports whether it did. Until
// it is collected by cmd.Wait, no other process or group can have its number.
func awaitExit(cmd *exec.Cmd) bool {
	for {
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err == nil
		}
	}
}

func bySignal(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM)
}

func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

// switching are the capabilities that root needs to run programs as other users, and to deal
// with their files and processes.
func switching() map[string]uint32 {
	return map[string]uint32{
		"SETUID": unix.CAP_SETUID, "SETGID": unix.CAP_SETGID, "CHOWN": unix.CAP_CHOWN,
		"DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "KILL": unix.CAP_KILL,
	}
}

// cannotSwitch says why this process of root cannot start programs as another user; "" when it can.
func cannotSwitch() string {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return os.NewSyscallError("capget", err).Error()
	}
	var missing []string
	for name, capability := range switching() {
		if data[0].Effective&(1<<capability) == 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	slices.Sort(missing)
	return "Dogwatch is root without the capabilities " + strings.Join(missing, ", ")
}

// mapped reports whether a user and a group of a number exist in this user name space (user_namespaces(7)).
func mapped(id uint32) bool {
	for _, file := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		if !slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool {
			var inside, outside, count uint32
			n, _ := fmt.Sscan(line, &inside, &outside, &count)
			return n == 3 && id >= inside && id-inside < count
		}) {
			return false
		}
	}
	return true
}
