//go:build 386 || amd64 || arm

package sandbox

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// legacyDenied are what denied has, of calls that later architectures lack.
func legacyDenied() []uint32 {
	all := []uint32{unix.SYS_CHOWN, unix.SYS_LCHOWN}
	if runtime.GOARCH != "amd64" {
		all = append(all, 198, 207, 212) // lchown32, fchown32 and chown32, on 386 and arm
	}
	return all
}

// legacyModes are what modes has, of calls that later architectures lack.
func legacyModes() []moded {
	return []moded{
		{number: unix.SYS_CHMOD, mode: 1, path: true}, {number: unix.SYS_CREAT, mode: 1}, {number: unix.SYS_MKNOD, mode: 1},
		{number: unix.SYS_OPEN, mode: 2, flags: 1},
	}
}
