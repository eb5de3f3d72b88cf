package sandbox

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// denied are system calls that serve administrators, debuggers and engines, and ways
// around the rest.
func denied() []uint32 {
	return []uint32{
		// of others' processes
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
		unix.SYS_PIDFD_GETFD,
		// of file systems and name spaces
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
		unix.SYS_MOUNT_SETATTR,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
		// of the kernel
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
		unix.SYS_SYSLOG, unix.SYS_ACCT,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		// which do others' work without asking this filter
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		// of whose a file is, of which Landlock knows nothing
		unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_FILE_SETATTR,
	}
}

// attributes are the calls that change extended attributes of files, of which Landlock knows
// nothing either. They fail as on a file system that has none, which programs that copy files expect.
func attributes() []uint32 {
	return []uint32{
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	}
}

// unseen are the calls whose settings are in memory, which no filter reads. C libraries and
// Go use clone and openat where a kernel does not know these.
func unseen() []uint32 { return []uint32{unix.SYS_CLONE3, unix.SYS_OPENAT2} }

// spaces are the flags of clone(2) that make name spaces.
const spaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET

// moded is a call that gives a file its mode.
type moded struct {
	number uint32
	// mode is which of its arguments that is, and flags which says whether a file is made; 0 where it always counts.
	mode, flags int
	// path is true where it names a file by its path, of which it needs no right that Landlock knows.
	path bool
}

func modes() []moded {
	return append(legacyModes(),
		moded{number: unix.SYS_FCHMOD, mode: 1}, moded{number: unix.SYS_FCHMODAT, mode: 2, path: true},
		moded{number: unix.SYS_FCHMODAT2, mode: 2, path: true},
		moded{number: unix.SYS_MKNODAT, mode: 2}, moded{number: unix.SYS_OPENAT, mode: 3, flags: 2})
}

// setID are the bits of a mode that have a program run as the owner or the group of its file.
const setID = unix.S_ISUID | unix.S_ISGID

// making are the flags of open(2) with which its mode counts: O_CREAT and __O_TMPFILE.
const making = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// architectures are what the kernel calls those that Go builds for, and the Linux of Dogwatch.
// All have the low half of an argument first.
var architectures = map[string]uint32{
	"386": unix.AUDIT_ARCH_I386, "amd64": unix.AUDIT_ARCH_X86_64, "arm": unix.AUDIT_ARCH_ARM,
	"arm64": unix.AUDIT_ARCH_AARCH64,
}

// The places in the data of a filter, struct seccomp_data of seccomp(2).
const (
	numberAt   = 0
	archAt     = 4
	argumentAt = 16 // the first one
	// foreign is the first number of the calls of x32 on amd64.
	foreign = 0x40000000
)

// argument loads the low half of an argument of a call, the first being 0. The kernel
// takes requests, flags and modes from it alone.
func argument(n int) bpf.Instruction { return bpf.LoadAbsolute{Off: uint32(argumentAt + 8*n), Size: 4} }

func ends(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// filter makes the denied calls fail with EPERM. Calls of another architecture, whose
// numbers differ, fail all, so that a 32-bit call cannot do what a 64-bit one may not.
// keepModes refuses to change the mode of a file by its path.
func filter(arch uint32, keepModes bool) ([]bpf.RawInstruction, error) {
	refuse, pass := ends(unix.EPERM), bpf.Instruction(bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: archAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		refuse,
		bpf.LoadAbsolute{Off: numberAt, Size: 4},
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreign, SkipTrue: 1}, ends(unix.ENOSYS))
	}
	// of adds what decides about a call, and has to end with an answer.
	rule := func(number uint32, decides ...bpf.Instruction) {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: uint8(len(decides))})
		program = append(program, decides...)
	}
	for _, number := range append(denied(), legacyDenied()...) {
		rule(number, refuse)
	}
	for _, number := range attributes() {
		rule(number, ends(unix.EOPNOTSUPP))
	}
	for _, number := range unseen() {
		rule(number, ends(unix.ENOSYS))
	}
	rule(unix.SYS_CLONE, argument(0), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: spaces, SkipTrue: 1}, refuse, pass)
	// What puts characters or commands into a terminal that others read, see ioctl_tty(2) and ioctl_console(2).
	rule(unix.SYS_IOCTL, argument(1),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: tiocLinux, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.TIOCSETD, SkipTrue: 1}, refuse, pass)
	for _, call := range modes() {
		switch {
		case call.path && keepModes:
			rule(call.number, refuse)
		case call.flags > 0:
			rule(call.number, argument(call.mode), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: setID, SkipTrue: 3},
				argument(call.flags), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: making, SkipTrue: 1}, refuse, pass)
		default:
			rule(call.number, argument(call.mode), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: setID, SkipTrue: 1}, refuse, pass)
		}
	}
	return bpf.Assemble(append(program, pass))
}

// tiocLinux is TIOCLINUX of ioctl_console(2), with which a virtual console pastes its selection.
const tiocLinux = 0x541c

// filterCalls installs the filter in the calling thread. EINVAL means that there are no filters here.
func filterCalls(keepModes bool) error {
	arch, listed := architectures[runtime.GOARCH]
	if !listed {
		return unix.ENOSYS
	}
	raw, err := filter(arch, keepModes)
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return os.NewSyscallError("prctl seccomp", errno)
	}
	return nil
}
