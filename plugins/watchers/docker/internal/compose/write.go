package compose

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The ends of the names of files beside a changed one.
const (
	backupSuffix  = ".back"     // of the copy that a user asks for, as WUD names it
	partialSuffix = ".dogwatch" // of a file that is being written
)

// Result is how a change was written.
type Result struct {
	// Backup is the copy of the file as it was; "" without one.
	Backup string
	// InPlace is true when the file could not be replaced by a new one, and was written
	// into instead: it is a mount of its own, has a second name, or its owner cannot be kept.
	InPlace bool
}

// Writable returns nil if the file of a change may be written, or an *Error that says why not.
func (c Change) Writable() error {
	f, err := os.OpenFile(c.File, os.O_WRONLY, 0)
	if err != nil {
		return writeError(c.File, err)
	}
	return f.Close()
}

// Apply writes a change, and a copy of the file before that if backup is true. The
// file keeps its owner and mode; a symbolic link stays one. After a crash the file
// is as it was or as it shall be, and Apply may be called again. Errors are of
// type *Error; the file is as it was then.
func (c Change) Apply(backup bool) (Result, error) {
	var result Result
	if c.Empty() {
		return result, nil
	}
	path, before, state, err := c.read()
	switch {
	case err != nil:
		return result, err
	case state == applied:
		return result, nil
	case state == unknown:
		return result, refuse(FileChanged, c.File, c.Line, "the file was changed since the plan was made: plan again")
	}
	if err := c.Writable(); err != nil {
		return result, err
	}
	if backup {
		result.Backup = path + backupSuffix
		if err := writeBeside(path, result.Backup, before); err != nil {
			return Result{}, refuse(FileReadonly, result.Backup, 0, "the backup cannot be written: %v", err)
		}
	}
	result.InPlace, err = write(path, before, c.after(before), c.Offset)
	if err != nil {
		return result, c.restore(path, before, err)
	}
	if after, err := os.ReadFile(path); err != nil || sum(after) != c.AfterSum {
		return result, c.restore(path, before, errors.New("the file holds something else after it was written"))
	}
	return result, nil
}

// Undo gives the file its old text back. It does nothing if the file has it already,
// so that it may be called after a crash.
func (c Change) Undo() error {
	if c.Empty() {
		return nil
	}
	path, before, state, err := c.read()
	switch {
	case err != nil:
		return err
	case state == pending:
		return nil
	case state == unknown:
		return refuse(FileChanged, c.File, c.Line, "the file was changed since the update: write %s instead of %s there", c.Old, c.New)
	}
	if _, err := write(path, c.after(before), before, c.Offset); err != nil {
		return writeError(c.File, err)
	}
	return nil
}

// state is what a file holds.
type state int

const (
	unknown state = iota // neither
	pending              // the old text
	applied              // the new text
)

// read returns the file that is meant behind symbolic links, what it held before the
// change, and what it holds now. It ends a writing in place that was interrupted.
func (c Change) read() (path string, before []byte, s state, err error) {
	path, err = filepath.EvalSymlinks(c.File)
	if err != nil {
		return "", nil, unknown, readError(c.File, err)
	}
	_ = os.Remove(partial(path)) // of a crash; where it cannot be removed, write does without it
	data, err := ReadFile(path)
	if err != nil {
		return "", nil, unknown, readError(c.File, err)
	}
	if sum(data) == c.BeforeSum {
		return path, data, pending, nil
	}
	if before, found := c.reverse(data); found {
		return path, before, applied, nil
	}
	// A shorter text was written in place, and the end not cut off yet.
	for _, surplus := range []int{len(c.Old) - len(c.New), len(c.New) - len(c.Old)} {
		if surplus <= 0 || surplus > len(data) {
			continue
		}
		whole := data[:len(data)-surplus]
		if sum(whole) == c.BeforeSum {
			return path, whole, pending, cut(path, len(whole))
		}
		if before, found := c.reverse(whole); found {
			return path, before, applied, cut(path, len(whole))
		}
	}
	return path, nil, unknown, nil
}

// reverse returns the file before the change, if data is the one after it.
func (c Change) reverse(data []byte) ([]byte, bool) {
	if sum(data) != c.AfterSum {
		return nil, false
	}
	back := Change{Offset: c.Offset, Old: c.New, New: c.Old}
	before := back.after(data)
	return before, sum(before) == c.BeforeSum
}

func (c Change) restore(path string, before []byte, cause error) error {
	if now, err := os.ReadFile(path); err == nil && sum(now) == c.BeforeSum {
		return writeError(c.File, cause)
	}
	if _, err := write(path, nil, before, 0); err != nil {
		return refuse(FileReadonly, c.File, c.Line, "the file could not be written (%v), nor written back (%v): write %s there by hand", cause, err, c.Old)
	}
	return writeError(c.File, cause)
}

// write replaces a file by a new one, or writes into it from an offset on where it cannot be replaced.
func write(path string, before, after []byte, offset int) (inPlace bool, err error) {
	if single(path) {
		switch err := writeBeside(path, path, after); {
		case err == nil:
			return false, nil
		case !replaceable(err):
			return false, err
		}
	}
	return true, writeInto(path, len(before), after, offset)
}

// replaceable reports whether an error of writeBeside means only that the file must
// be written in place: its directory, its owner or the mount prevents a new one.
func replaceable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrExist) || isMount(err)
}

func partial(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+partialSuffix)
}

// writeBeside writes data to a new file with the owner and mode of path, and then
// gives it its name.
func writeBeside(path, name string, data []byte) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	temporary := partial(path)
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary)
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = keepOwner(f, info)
	}
	if err == nil {
		err = f.Chmod(info.Mode()) // after the owner, which clears bits
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(temporary, name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// writeInto writes the end of a file that is to change, with one call.
func writeInto(path string, size int, after []byte, offset int) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(after[offset:], int64(offset)); err != nil {
		return err
	}
	if size != len(after) {
		if err := f.Truncate(int64(len(after))); err != nil {
			return err
		}
	}
	return f.Sync()
}

func cut(path string, size int) error {
	if err := os.Truncate(path, int64(size)); err != nil {
		return writeError(path, err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // it may be written and not read: the rename is made
	}
	defer d.Close()
	_ = d.Sync() // some file systems cannot
	return nil
}

func writeError(file string, err error) error {
	var coded *Error
	switch {
	case errors.As(err, &coded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return readError(file, err)
	case errors.Is(err, fs.ErrPermission), isReadonly(err):
		return refuse(FileReadonly, file, 0, "Dogwatch may not write the file: mount %s writable, for its user", filepath.Dir(file))
	}
	return refuse(FileReadonly, file, 0, "the file cannot be written: %v", err)
}
