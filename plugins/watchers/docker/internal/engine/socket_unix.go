//go:build unix

package engine

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// owner returns the user and the group of a file.
func owner(info fs.FileInfo) (uid, gid int, known bool) {
	s, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}

// ourUser names the user of this process, which is that of dogwatch.
func ourUser() string {
	return fmt.Sprintf("dogwatch runs as user %d, group %d", os.Geteuid(), os.Getegid())
}
