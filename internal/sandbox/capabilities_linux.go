package sandbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// kept are the capabilities that are left to a program of root: to become another user, and
// to use ports and packets as programs in containers may. Of files it has its own.
const kept = 1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_NET_BIND_SERVICE |
	1<<unix.CAP_NET_RAW

// dropCapabilities bounds what programs that this thread starts can get. The thread keeps its own.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return os.NewSyscallError("capget", err)
	}
	if data[0].Permitted&^uint32(kept) == 0 && data[1].Permitted == 0 {
		return nil // a root with no more than that, as in a container; it may not be allowed to drop any
	}
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if kept&(1<<c) != 0 {
			continue
		}
		// EINVAL: later than this kernel
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return os.NewSyscallError("prctl capbset_drop", err)
		}
	}
	data[0].Inheritable &= kept
	data[1].Inheritable = 0 // none of these is kept
	return os.NewSyscallError("capset", unix.Capset(&header, &data[0]))
}
