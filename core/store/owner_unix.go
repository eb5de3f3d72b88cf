//go:build unix

package store

import (
	"os"
	"syscall"
)

// ownerOf returns whose a file is, if it is there and that can be told.
func ownerOf(path string) (owner, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return owner{}, false
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return owner{}, false
	}
	return owner{int(stat.Uid), int(stat.Gid)}, true
}
