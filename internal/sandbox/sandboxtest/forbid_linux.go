// Package sandboxtest lets tests run as on other kernels, and in containers of engines
// that forbid more.
package sandboxtest

import (
	"errors"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Landlock are the system calls of Landlock.
func Landlock() []uint32 {
	return []uint32{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF}
}

// Filters is the system call that installs filters of system calls: of prctl(2), Forbid
// forbids only that.
const Filters = unix.SYS_PRCTL

// Forbid has system calls fail with an error number in the calling thread, and in all
// programs that it starts, as kernels without them do, and engines that forbid them. The
// thread has to end afterwards. The error wraps errors.ErrUnsupported where there are no filters.
func Forbid(errno unix.Errno, calls ...uint32) error {
	arch, listed := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !listed {
		return errors.ErrUnsupported
	}
	// The places of the number, the architecture and the first argument in struct seccomp_data of seccomp(2).
	const numberAt, archAt, argumentAt = 0, 4, 16
	fail, pass := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}, bpf.RetConstant{
		Val: unix.SECCOMP_RET_ALLOW,
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: archAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1}, pass,
		bpf.LoadAbsolute{Off: numberAt, Size: 4},
	}
	for _, n := range calls {
		if n == Filters {
			program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: n, SkipTrue: 4},
				bpf.LoadAbsolute{Off: argumentAt, Size: 4},
				bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.PR_SET_SECCOMP, SkipTrue: 1}, fail, pass)
			continue
		}
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: n, SkipTrue: 1}, fail)
	}
	raw, err := bpf.Assemble(append(program, pass))
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl no_new_privs", err)
	}
	filter := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if _, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return errors.Join(errors.ErrUnsupported, os.NewSyscallError("prctl seccomp", errno))
	}
	return nil
}
