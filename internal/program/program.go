// Package program copies executables.
package program

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Copy copies an executable to a file that is not there yet, which everybody may read and run, at once too: no process
// is forked meanwhile, as it would have the file open for writing until it runs its own program, and the kernel runs no
// file that somebody writes (ETXTBSY; golang.org/issue/22315).
func Copy(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(0o755), out.Close()) // whatever the umask
}
