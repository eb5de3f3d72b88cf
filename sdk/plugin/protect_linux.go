package plugin

import (
	"os"

	"golang.org/x/sys/unix"
)

// protectMemory keeps other processes of the same user from reading the
// environment and the memory of this one, and from attaching to it (proc(5),
// PR_SET_DUMPABLE). A process starts without this protection.
func protectMemory() error {
	return os.NewSyscallError("prctl dumpable", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
}
