//go:build unix

package plugin

import (
	"os"
	"syscall"
)

func runnable(info os.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }

func ownedByUs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Uid == 0 || int(stat.Uid) == os.Geteuid()
}

// ownerOf returns the user and the group of a file.
func ownerOf(info os.FileInfo) (uid, gid uint32) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Uid, stat.Gid
	}
	return 0, 0
}
