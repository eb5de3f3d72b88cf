package sandbox

import (
	"encoding/binary"
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
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
		// of file systems and name spaces
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
		// of the kernel
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_ACCT,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		// which do others' work without asking this filter
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	}
}

// spaces are the flags of clone(2) that make name spaces.
const spaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// architectures are what the kernel calls those that Go builds for, and the Linux of Dogwatch.
var architectures = map[string]uint32{
	"386": unix.AUDIT_ARCH_I386, "amd64": unix.AUDIT_ARCH_X86_64, "arm": unix.AUDIT_ARCH_ARM, "arm64": unix.AUDIT_ARCH_AARCH64,
}

// The places in the data of a filter, struct seccomp_data of seccomp(2).
const (
	numberAt   = 0
	archAt     = 4
	argumentAt = 16 // the first one
	// foreign is the first number of the calls of x32 on amd64.
	foreign = 0x40000000
)

// filter makes the denied calls fail with EPERM. Calls of another architecture, whose
// numbers differ, fail all, so that a 32-bit call cannot do what a 64-bit one may not.
func filter(arch uint32) ([]bpf.RawInstruction, error) {
	refuse, unknown := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}, bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	low := uint32(argumentAt)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // big endian
		low += 4
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: archAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		refuse,
		bpf.LoadAbsolute{Off: numberAt, Size: 4},
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreign, SkipTrue: 1}, unknown)
	}
	for _, number := range denied() {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: 1}, refuse)
	}
	program = append(program,
		// Its flags are in memory, which no filter sees. C libraries use clone where there is no clone3.
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1}, unknown,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE, SkipTrue: 3},
		bpf.LoadAbsolute{Off: low, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: spaces, SkipTrue: 1}, refuse,
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	)
	return bpf.Assemble(program)
}

// filterCalls installs the filter in the calling thread. EINVAL means that there are no filters here.
func filterCalls() error {
	arch, listed := architectures[runtime.GOARCH]
	if !listed {
		return unix.ENOSYS
	}
	raw, err := filter(arch)
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return os.NewSyscallError("prctl seccomp", errno)
	}
	return nil
}
