//go:build unix

package doctor

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// free returns how many bytes we may still write below a folder.
func free(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

// mayWrite returns why a file or folder cannot be written by this process.
func mayWrite(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
}

// whoWeAre names the user of this process.
func whoWeAre() string {
	return fmt.Sprintf("dogwatch runs as user %d, group %d", os.Geteuid(), os.Getegid())
}
