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
	result := answers(t, arch, false)
	for _, number := range denied() {
		if got := result(arch, number, 0); got != refused {
			t.Errorf("call %d: %#x", number, got)
		}
	}
	for _, number := range []uint32{unix.SYS_READ, unix.SYS_EXECVE, unix.SYS_CONNECT, unix.SYS_SOCKET, unix.SYS_OPENAT,
		unix.SYS_FUTEX} {
		if got := result(arch, number, 0); got != allowed {
			t.Errorf("call %d: %#x", number, got)
		}
		if got := result(arch+1, number, 0); got != refused {
			t.Errorf("call %d of another architecture: %#x", number, got)
		}
	}
	for flags, want := range map[uint64]int{
		0: allowed, unix.CLONE_VM | unix.CLONE_VFORK: allowed, unix.CLONE_NEWUSER: refused,
		unix.CLONE_NEWNET | unix.CLONE_VM: refused, unix.CLONE_NEWCGROUP: refused,
	} {
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

const (
	allowed = unix.SECCOMP_RET_ALLOW
	refused = unix.SECCOMP_RET_ERRNO | int(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | int(unix.ENOSYS)
	lacking = unix.SECCOMP_RET_ERRNO | int(unix.EOPNOTSUPP)
)

// answers returns the filter as a function of the architecture, the number and the arguments of a call.
func answers(t *testing.T, arch uint32, keepModes bool) func(arch, number uint32, arguments ...uint64) int {
	t.Helper()
	raw, err := filter(arch, keepModes)
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
	return func(arch, number uint32, arguments ...uint64) int {
		data := make([]byte, 64) // struct seccomp_data, whose words this machine reads as big-endian ones
		binary.BigEndian.PutUint32(data[numberAt:], number)
		binary.BigEndian.PutUint32(data[archAt:], arch)
		for n, value := range arguments { // the low half first, as on all that have a filter
			binary.BigEndian.PutUint32(data[argumentAt+8*n:], uint32(value))
			binary.BigEndian.PutUint32(data[argumentAt+8*n+4:], uint32(value>>32))
		}
		got, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// TestFilterOfTerminalsAndModes: of calls that programs need, the filter refuses some arguments.
func TestFilterOfTerminalsAndModes(t *testing.T) {
	arch, listed := architectures[runtime.GOARCH]
	if !listed {
		t.Skipf("there is no filter for %s", runtime.GOARCH)
	}
	const high = 1 << 32 // of an argument of 32 bits the kernel does not look at it
	free, kept := answers(t, arch, false), answers(t, arch, true)
	for name, c := range map[string]struct {
		number    uint32
		arguments []uint64
		free      int
		kept      int
	}{
		"ioctl TCGETS":           {unix.SYS_IOCTL, []uint64{0, unix.TCGETS}, allowed, allowed},
		"ioctl TIOCSTI":          {unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, refused, refused},
		"ioctl TIOCSTI, high":    {unix.SYS_IOCTL, []uint64{0, high | unix.TIOCSTI}, refused, refused},
		"ioctl TIOCLINUX":        {unix.SYS_IOCTL, []uint64{0, 0x541c}, refused, refused},
		"ioctl TIOCSETD":         {unix.SYS_IOCTL, []uint64{0, unix.TIOCSETD}, refused, refused},
		"fchmod 755":             {unix.SYS_FCHMOD, []uint64{3, 0o755}, allowed, allowed},
		"fchmod 4755":            {unix.SYS_FCHMOD, []uint64{3, 0o4755}, refused, refused},
		"fchmod 2755":            {unix.SYS_FCHMOD, []uint64{3, 0o2755}, refused, refused},
		"fchmodat 600":           {unix.SYS_FCHMODAT, []uint64{3, 9, 0o600}, allowed, refused},
		"fchmodat 4755":          {unix.SYS_FCHMODAT, []uint64{3, 9, 0o4755}, refused, refused},
		"fchmodat2 1777":         {unix.SYS_FCHMODAT2, []uint64{3, 9, 0o1777}, allowed, refused},
		"fchmodat2 6755":         {unix.SYS_FCHMODAT2, []uint64{3, 9, 0o6755}, refused, refused},
		"openat to make":         {unix.SYS_OPENAT, []uint64{3, 9, unix.O_CREAT | unix.O_WRONLY, 0o755}, allowed, allowed},
		"openat to make 4755":    {unix.SYS_OPENAT, []uint64{3, 9, unix.O_CREAT | unix.O_WRONLY, 0o4755}, refused, refused},
		"openat to read":         {unix.SYS_OPENAT, []uint64{3, 9, unix.O_RDONLY, 0o4755}, allowed, allowed},
		"openat of a folder":     {unix.SYS_OPENAT, []uint64{3, 9, unix.O_DIRECTORY, 0o4755}, allowed, allowed},
		"openat without a name":  {unix.SYS_OPENAT, []uint64{3, 9, unix.O_TMPFILE | unix.O_RDWR, 0o4755}, refused, refused},
		"openat2":                {unix.SYS_OPENAT2, nil, unknown, unknown},
		"mknodat 600":            {unix.SYS_MKNODAT, []uint64{3, 9, unix.S_IFIFO | 0o600}, allowed, allowed},
		"mknodat 4755":           {unix.SYS_MKNODAT, []uint64{3, 9, unix.S_IFREG | 0o4755}, refused, refused},
		"fchown":                 {unix.SYS_FCHOWN, []uint64{3, 0, 0}, refused, refused},
		"fchownat":               {unix.SYS_FCHOWNAT, []uint64{3, 9, 0, 0, 0}, refused, refused},
		"fsetxattr":              {unix.SYS_FSETXATTR, nil, lacking, lacking},
		"setxattrat":             {unix.SYS_SETXATTRAT, nil, lacking, lacking},
		"removexattr":            {unix.SYS_REMOVEXATTR, nil, lacking, lacking},
		"getxattr":               {unix.SYS_GETXATTR, nil, allowed, allowed},
		"clone of a thread":      {unix.SYS_CLONE, []uint64{unix.CLONE_THREAD | unix.CLONE_VM}, allowed, allowed},
		"clone of a user's ones": {unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER}, refused, refused},
	} {
		if got, keeping := free(arch, c.number, c.arguments...), kept(arch, c.number, c.arguments...); got != c.free ||
			keeping != c.kept {
			t.Errorf("%s: %#x and %#x, want %#x and %#x", name, got, keeping, c.free, c.kept)
		}
	}
	for _, call := range legacyModes() {
		arguments := make([]uint64, 4)
		arguments[call.mode] = 0o4755
		if call.flags > 0 {
			arguments[call.flags] = unix.O_CREAT
		}
		if got := free(arch, call.number, arguments...); got != refused {
			t.Errorf("call %d with 4755: %#x", call.number, got)
		}
	}
	for _, number := range legacyDenied() {
		if got := free(arch, number); got != refused {
			t.Errorf("call %d: %#x", number, got)
		}
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
