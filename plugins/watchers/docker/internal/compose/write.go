package compose

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/dogwatch/dogwatch/internal/heldfile"
)

// backupSuffix ends the name of the copy that a user asks for, as WUD names it.
const backupSuffix = ".back"

// Result is how a change was written.
type Result struct {
	// Backup is the copy of the file as it was; "" without one.
	Backup string
	// InPlace is true when the file could not be replaced by a new one, and was written
	// into instead: it is a mount of its own, has a second name, or its owner cannot be kept.
	InPlace bool
}

// Prepared returns the change with the file that it is for, or an *Error that says why
// that may not be written. guard may be nil.
func (c Change) Prepared(guard heldfile.Guard) (Change, error) {
	f, err := heldfile.Open(c.File, guard)
	if err != nil {
		return c, writeError(c.File, err)
	}
	defer f.Close()
	if err := f.Writable(); err != nil {
		return c, writeError(c.File, err)
	}
	c.Real = f.Path()
	return c, nil
}

// Apply writes a change, and a copy of the file before that if backup is true. The
// file keeps its owner and mode; a symbolic link stays one. After a crash the file
// is as it was or as it shall be, and Apply may be called again. Errors are of
// type *Error; the file is as it was then. guard may be nil.
func (c Change) Apply(backup bool, guard heldfile.Guard) (Result, error) {
	var result Result
	if c.Empty() {
		return result, nil
	}
	f, before, state, err := c.open(guard)
	if err != nil {
		return result, err
	}
	defer f.Close()
	switch state {
	case applied:
		return result, nil
	case unknown:
		return result, refuse(FileChanged, c.File, c.Line, "the file was changed since the plan was made: plan again")
	}
	if err := f.Writable(); err != nil {
		return result, writeError(c.File, err)
	}
	if backup {
		result.Backup = f.Path() + backupSuffix
		if err := f.Copy(filepath.Base(result.Backup), before); err != nil {
			return Result{}, refuse(FileReadonly, result.Backup, 0, "the backup cannot be written: %v", err)
		}
	}
	if result.InPlace, err = f.Write(c.after(before), c.Offset); err == nil {
		err = c.verify(f)
	}
	if err != nil {
		return result, c.restore(f, before, err)
	}
	return result, nil
}

// verify returns nil if the file that the path leads to is the one that was written, and holds what it should.
func (c Change) verify(f *heldfile.File) error {
	if err := f.Check(); err != nil {
		return err
	}
	if after, err := f.Read(maxFile); err != nil || sum(after) != c.AfterSum {
		return errors.New("the file holds something else after it was written")
	}
	return nil
}

// Undo gives the file its old text back. It does nothing if the file has it already,
// so that it may be called after a crash. guard may be nil.
func (c Change) Undo(guard heldfile.Guard) error {
	if c.Empty() {
		return nil
	}
	f, before, state, err := c.open(guard)
	if err != nil {
		return err
	}
	defer f.Close()
	switch state {
	case pending:
		return nil
	case unknown:
		return refuse(FileChanged, c.File, c.Line,
			"the file was changed since the update: write %s instead of %s there", c.Old, c.New)
	}
	if _, err := f.Write(before, c.Offset); err != nil {
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

// open opens the file of the change, and returns what it held before the change, and
// what it holds now. It ends a writing that was interrupted. The caller closes the file.
func (c Change) open(guard heldfile.Guard) (f *heldfile.File, before []byte, s state, err error) {
	if f, err = heldfile.Open(c.File, guard); err != nil {
		return nil, nil, unknown, ReadError(c.File, fileError(c.File, err))
	}
	if c.Real != "" && f.Path() != c.Real {
		f.Close()
		return nil, nil, unknown, refuse(FileChanged, c.File, c.Line,
			"the path leads to %s, and led to %s when the plan was made: plan again", f.Path(), c.Real)
	}
	f.Tidy()
	if before, s, err = c.look(f); err != nil {
		f.Close()
		return nil, nil, unknown, err
	}
	return f, before, s, nil
}

func (c Change) look(f *heldfile.File) (before []byte, s state, err error) {
	data, err := f.Read(maxFile)
	if err != nil {
		return nil, unknown, ReadError(c.File, fileError(c.File, err))
	}
	if sum(data) == c.BeforeSum {
		return data, pending, nil
	}
	if before, found := c.reverse(data); found {
		return before, applied, nil
	}
	// A shorter text was written in place, and the end not cut off yet.
	for _, surplus := range []int{len(c.Old) - len(c.New), len(c.New) - len(c.Old)} {
		if surplus <= 0 || surplus > len(data) {
			continue
		}
		begin := data[:len(data)-surplus]
		if sum(begin) == c.BeforeSum {
			return begin, pending, c.cut(f, begin)
		}
		if before, found := c.reverse(begin); found {
			return before, applied, c.cut(f, begin)
		}
	}
	return nil, unknown, nil
}

// cut leaves what the file begins with.
func (c Change) cut(f *heldfile.File, data []byte) error {
	if err := f.Overwrite(data, len(data)); err != nil {
		return writeError(c.File, err)
	}
	return nil
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

// restore gives the file its old content back, wherever its directory is by now.
func (c Change) restore(f *heldfile.File, before []byte, cause error) error {
	if now, err := f.Read(maxFile); err == nil && sum(now) == c.BeforeSum {
		return writeError(c.File, cause)
	}
	if _, err := f.Write(before, 0); err != nil {
		return refuse(FileReadonly, c.File, c.Line,
			"the file could not be written (%v), nor written back (%v): write %s there by hand", cause, err, c.Old)
	}
	return writeError(c.File, cause)
}

func writeError(file string, err error) error {
	var coded *Error
	err = fileError(file, err)
	switch {
	case errors.As(err, &coded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return ReadError(file, err)
	case errors.Is(err, fs.ErrPermission), heldfile.IsReadonly(err):
		return refuse(FileReadonly, file, 0,
			"Dogwatch may not write the file: mount %s writable, for its user", filepath.Dir(file))
	}
	return refuse(FileReadonly, file, 0, "the file cannot be written: %v", err)
}
