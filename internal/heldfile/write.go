package heldfile

import (
	"errors"
	"io/fs"
	"os"
)

// Writable returns nil if the file may be written, or the error of package os.
func (f *File) Writable() error {
	w, err := f.same(os.O_WRONLY)
	if err != nil {
		return err
	}
	return w.Close()
}

// Write gives the file another content. It is a new file with the owner and mode of the
// old one, and takes its name, so that a reader or a crash finds one of the two. inPlace
// is true when that could not be and the file was written into instead, from offset on:
// it is a mount of its own, has a second name, or its owner cannot be kept.
func (f *File) Write(data []byte, offset int) (inPlace bool, err error) {
	if single(f.info) {
		switch err := f.replace(data); {
		case err == nil:
			return false, nil
		case !replaceable(err):
			return false, err
		}
	}
	return true, f.Overwrite(data, offset)
}

// replaceable reports whether an error means only that the file must be written in
// place: its directory, its owner or the mount prevents a new one.
func replaceable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrExist) || isMount(err)
}

// Overwrite writes data from offset on into the file, with one call, and cuts off what is behind it.
func (f *File) Overwrite(data []byte, offset int) (err error) {
	w, err := f.same(os.O_WRONLY)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if _, err := w.WriteAt(data[offset:], int64(offset)); err != nil {
		return err
	}
	info, err := w.Stat()
	if err != nil {
		return err
	}
	if info.Size() != int64(len(data)) {
		if err := w.Truncate(int64(len(data))); err != nil {
			return err
		}
	}
	return w.Sync()
}

// Copy writes data to a file of another name in the directory, with the owner and mode of
// this one. What has that name is replaced.
func (f *File) Copy(name string, data []byte) error {
	w, err := f.beside(data)
	if err != nil {
		return err
	}
	defer w.Close()
	if err = f.rename(w, name); err != nil {
		f.Tidy()
	}
	return err
}

// Create writes data to a new file in the directory. The error is fs.ErrExist if there is one of that name.
func (f *File) Create(name string, data []byte, mode fs.FileMode) error {
	w, err := f.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return errors.Join(err, w.Sync(), w.Close())
}

// Tidy removes what a Write or Copy left that was killed.
func (f *File) Tidy() { _ = f.dir.Remove(f.partial()) } // where it cannot be removed, Write does without it

func (f *File) partial() string { return "." + f.name() + ".dogwatch" }

// replace gives the name of the file to a new one, which f is then.
func (f *File) replace(data []byte) error {
	w, err := f.beside(data)
	if err != nil {
		return err
	}
	info, err := w.Stat()
	if err == nil {
		err = f.named()
	}
	if err == nil {
		err = f.rename(w, f.name())
	}
	if err != nil {
		f.Tidy()
		w.Close()
		return err
	}
	f.file.Close()
	f.file, f.info = w, info
	return nil
}

// beside writes data to a new file under the name of a partial one. The caller gives it its name, and closes it.
func (f *File) beside(data []byte) (w *os.File, err error) {
	f.Tidy()
	if w, err = f.dir.OpenFile(f.partial(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	if err == nil {
		err = keepOwner(w, f.info)
	}
	if err == nil {
		err = w.Chmod(f.info.Mode()) // after the owner, which clears bits
	}
	if err == nil {
		err = w.Sync()
	}
	if err != nil {
		w.Close()
		f.Tidy()
		return nil, err
	}
	return w, nil
}

// rename gives the partial file its name, if it is still the one that was written.
func (f *File) rename(w *os.File, name string) error {
	written, err := w.Stat()
	if err != nil {
		return err
	}
	now, err := f.dir.Lstat(f.partial())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, written) {
		return ErrChanged
	}
	if err == nil {
		err = f.dir.Rename(f.partial(), name)
	}
	if err != nil {
		return err
	}
	if d, err := f.dir.Open("."); err == nil {
		_ = d.Sync() // some file systems cannot
		d.Close()
	}
	return nil
}
