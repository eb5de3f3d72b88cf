package sandbox

import (
	"encoding/binary"
	"runtime"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilterResults runs the filter as the kernel does, with system calls that are not made.
func TestFilterResults(t *testing.T) {
	arch, listed := architectures[runtime.GOARCH]
	if !listed {
		t.Skipf("there is no filter for %s", runtime.GOARCH)
	}
	raw, err := filter(arch)
	if err != nil {
		t.Fatal(err)
	}
	program, whole := bpf.Disassemble(raw)
	if !whole {
		t.Fatal("the filter has unknown instructions")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	result := func(arch, number, flags uint32) int {
		data := make([]byte, 64) // struct seccomp_data, whose words this machine reads as big-endian ones
		binary.BigEndian.PutUint32(data[numberAt:], number)
		binary.BigEndian.PutUint32(data[archAt:], arch)
		binary.BigEndian.PutUint32(data[argumentAt:], flags)
		got, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	const (
		allowed = unix.SECCOMP_RET_ALLOW
		refused = unix.SECCOMP_RET_ERRNO | int(unix.EPERM)
		unknown = unix.SECCOMP_RET_ERRNO | int(unix.ENOSYS)
	)
	for _, number := range denied() {
		if got := result(arch, number, 0); got != refused {
			t.Errorf("call %d: %#x", number, got)
		}
	}
	for _, number := range []uint32{unix.SYS_READ, unix.SYS_EXECVE, unix.SYS_CONNECT, unix.SYS_SOCKET, unix.SYS_OPENAT, unix.SYS_FUTEX} {
		if got := result(arch, number, 0); got != allowed {
			t.Errorf("call %d: %#x", number, got)
		}
		if got := result(arch+1, number, 0); got != refused {
			t.Errorf("call %d of another architecture: %#x", number, got)
		}
	}
	for flags, want := range map[uint32]int{0: allowed, unix.CLONE_VM | unix.CLONE_VFORK: allowed, unix.CLONE_NEWUSER: refused, unix.CLONE_NEWNET | unix.CLONE_VM: refused, unix.CLONE_NEWCGROUP: refused} {
		if got := result(arch, unix.SYS_CLONE, flags); got != want {
			t.Errorf("clone with %#x: %#x, want %#x", flags, got, want)
		}
	}
	if got := result(arch, unix.SYS_CLONE3, 0); got != unknown {
		t.Errorf("clone3: %#x", got)
	}
	if got := result(arch, foreign|unix.SYS_PTRACE, 0); arch == unix.AUDIT_ARCH_X86_64 && got != unknown {
		t.Errorf("a call of x32: %#x", got)
	}
}

func TestKnownRights(t *testing.T) {
	for version, want := range map[int]uint64{
		1: 0x1fff, 2: 0x3fff, 3: 0x7fff, 4: 0x7fff, 5: 0xffff, 8: 0xffff, 9: 0x1ffff, 99: 0x1ffff,
	} {
		if got := known(version); got != want {
			t.Errorf("version %d: %#x, want %#x", version, got, want)
		}
	}
}

// TestThreadEndsAlone: what one thread may not do, others still may.
func TestThreadEndsAlone(t *testing.T) {
	mode := func() int {
		mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return mode
	}
	if mode() != 0 {
		t.Skip("this process has a filter already")
	}
	done := make(chan struct{})
	err := Thread(func() error {
		_, err := Enter(Rules{KeepCapabilities: true})
		return err
	}, func() { <-done })
	close(done)
	if err != nil {
		t.Fatal(err)
	}
	if now := mode(); now != 0 {
		t.Errorf("this thread has seccomp mode %d", now)
	}
}
