package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Probe asks the kernel what it has.
func Probe() Support {
	var s Support
	var err error
	if s.Landlock, err = landlockVersion(); err != nil {
		s.NoLandlock = whyNoLandlock(err)
	}
	// A filter that is no address fails with EFAULT where there are filters.
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0)
	s.Seccomp = errno == unix.EFAULT || errno == unix.EACCES
	return s
}

// Enter restricts the calling thread, which must be locked to its goroutine and end with
// it, as Thread sees to. An error means that some of it may hold, and not all that
// the kernel can.
func Enter(r Rules) (Held, error) {
	var held Held
	// Without it neither works for users other than root.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return held, os.NewSyscallError("prctl no_new_privs", err)
	}
	if len(r.Read)+len(r.Write) > 0 {
		version, err := landlockVersion()
		if err == nil {
			err = restrictFiles(version, r.Read, r.Write)
		}
		switch {
		case err == nil:
			held.Files = version
		case unavailable(err):
			held.Lacks = append(held.Lacks, "files: "+whyNoLandlock(err))
		default:
			return held, fmt.Errorf("restrict files with Landlock: %w", err)
		}
	}
	if !r.KeepCapabilities && os.Geteuid() == 0 {
		if err := dropCapabilities(); err != nil {
			held.Lacks = append(held.Lacks, "rights of root: "+err.Error())
		} else {
			held.Capabilities = true
		}
	}
	switch err := filterCalls(r.KeepModes); {
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS):
		held.Lacks = append(held.Lacks, "system calls: kernel without seccomp filters")
	case unavailable(err):
		held.Lacks = append(held.Lacks, "system calls: the container engine forbids further seccomp filters")
	case err != nil:
		return held, fmt.Errorf("filter system calls: %w", err)
	default:
		held.Calls = true
	}
	return held, nil
}

// unavailable reports whether a kernel lacks a system call, or what runs the container forbids it.
func unavailable(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) ||
		errors.Is(err, unix.EACCES)
}

// Thread calls start on a thread of its own and returns its error; if that is nil
// the thread waits there until wait returns, and ends then. The kernel ends a
// program together with the thread that started it (prctl(2), PR_SET_PDEATHSIG).
func Thread(start func() error, wait func()) error {
	started := make(chan error)
	go onThread(func() {
		err := start()
		started <- err
		if err == nil {
			wait()
		}
	})
	return <-started
}

// onThread calls f on a thread that ends when f returns, and is not the first one, which cannot.
func onThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f() // the thread ends with this goroutine, since it is never unlocked
		return
	}
	other := make(chan struct{})
	go func() {
		runtime.LockOSThread() // not the first, which this function holds
		close(other)
		f()
	}()
	<-other
	runtime.UnlockOSThread()
}
