package plugin

import (
	"os"
	"syscall"
	"time"
)

// contentOf returns what is in a file, and whether that can be known here.
func contentOf(info os.FileInfo) (content, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return content{}, false
	}
	return content{
		device: uint64(stat.Dev), inode: stat.Ino, size: stat.Size,
		modified: time.Duration(stat.Mtim.Nano()), changed: time.Duration(stat.Ctim.Nano()),
	}, true
}
