// Package program copies executables.
package program

import (
	"errors"
	"io"
	"os"
)

// Copy copies an executable to a file that is not there yet, which everybody may read and run.
func Copy(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(0o755), out.Close()) // whatever the umask
}
