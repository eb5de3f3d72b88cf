package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/store"
)

// ErrNoBackup marks a file that is no backup, or not a whole one.
var ErrNoBackup = errors.New("this is no whole backup of dogwatch")

const (
	restoring = ".restoring"
	before    = ".before-restore-"
	// keptAt is the form of the time in the name of what is kept: two restores within a second keep theirs apart.
	keptAt = "20060102T150405.000Z"
)

// Restored is what a restore did.
type Restored struct {
	Contents
	// KeptStore is where the store is that was there before, KeptPlugins the folder of the plugins; "" if there was none.
	KeptStore, KeptPlugins string
}

// Restore puts a backup in the place of an installation, once all of it was read and found to be whole. What was there
// is kept beside it. It refuses with store.ErrLocked while Dogwatch is running, and nothing has changed when it fails.
func (i Installation) Restore(ctx context.Context, in io.Reader) (r Restored, err error) {
	if err := os.MkdirAll(filepath.Dir(i.Store), 0o700); err != nil {
		return r, fmt.Errorf("make the folder of the store: %w", err)
	}
	lock, err := store.Acquire(i.Store)
	if err != nil {
		return r, err
	}
	defer lock.Release()
	staged := i.Store + restoring
	defer os.Remove(staged)
	plugins, err := i.openPlugins(ctx)
	if err != nil {
		return r, err
	}
	defer plugins.close()
	if r.Contents, err = extract(ctx, in, staged, plugins); err != nil {
		return r, err
	}
	if _, err := store.Verify(ctx, staged); err != nil {
		return r, fmt.Errorf("the store of the backup: %w", err)
	}
	suffix := i.Now().UTC().Format(keptAt)
	moved, err := plugins.swap(before + suffix)
	if err != nil {
		return r, fmt.Errorf("replace the plugins: %w", errors.Join(err, plugins.undo(moved)))
	}
	if moved.kept != "" {
		r.KeptPlugins = filepath.Join(i.Plugins, moved.kept)
	}
	_, missing := os.Stat(i.Store)
	kept := i.Store + before + suffix
	if err := store.Replace(ctx, i.Store, staged, kept); err != nil {
		return r, errors.Join(err, plugins.undo(moved))
	}
	if missing == nil {
		r.KeptStore = kept
	}
	return r, nil
}

// extract reads a whole backup, and writes its store to a file and its plugins to where they wait.
func extract(ctx context.Context, in io.Reader, staged string, plugins *folder) (c Contents, err error) {
	compressed, err := gzip.NewReader(in)
	if err != nil {
		return c, noBackup(err)
	}
	archive := tar.NewReader(compressed)
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		header, err := archive.Next()
		if errors.Is(err, io.EOF) && n >= 2 {
			break
		}
		if err != nil {
			return c, noBackup(err)
		}
		plugin, isPlugin := strings.CutPrefix(header.Name, pluginsName+"/")
		switch {
		case header.Typeflag != tar.TypeReg:
			return c, fmt.Errorf("%w: %q in it is no file", ErrNoBackup, header.Name)
		case n == 0 && header.Name == contentsName:
			err = json.NewDecoder(io.LimitReader(archive, 1<<20)).Decode(&c)
			if err == nil && c.Format > format {
				return c, fmt.Errorf("the backup was written by dogwatch %s, which is newer: restore it with that one", c.Version)
			}
			err = noBackup(err)
		case n == 1 && header.Name == storeName:
			err = writeNew(os.OpenFile(staged, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600))(archive)
		case n > 1 && isPlugin && filepath.IsLocal(plugin) && filepath.Base(plugin) == plugin:
			err = plugins.stage(ctx, plugin, header.FileInfo().Mode().Perm(), archive)
		default:
			return c, fmt.Errorf("%w: it has %q", ErrNoBackup, header.Name)
		}
		if err != nil {
			return c, err
		}
	}
	_, err = io.Copy(io.Discard, compressed) // its checksum is at the end
	return c, noBackup(err)
}

func noBackup(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends too early", ErrNoBackup)
	}
	return fmt.Errorf("%w: %w", ErrNoBackup, err)
}

// writeNew returns what writes an opened file for good.
func writeNew(f *os.File, err error) func(io.Reader) error {
	return func(from io.Reader) error {
		if err != nil {
			return err
		}
		_, err := io.Copy(f, from)
		err = errors.Join(err, f.Sync(), f.Close())
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return noBackup(io.ErrUnexpectedEOF)
		}
		return err
	}
}

// folder is that of the plugins while it is restored. Its root is nil as long as there is none.
type folder struct {
	dir  string
	root *os.Root
	lock *install.Folder
}

// openPlugins keeps other processes from changing the folder of the plugins, if there is one.
func (i Installation) openPlugins(ctx context.Context) (*folder, error) {
	f := &folder{dir: i.Plugins}
	if _, err := os.Stat(f.dir); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	return f, f.open(ctx)
}

// open makes the folder if need be.
func (f *folder) open(ctx context.Context) (err error) {
	if f.lock, err = install.Open(ctx, f.dir); err != nil {
		return err
	}
	if f.root, err = os.OpenRoot(f.dir); err == nil {
		err = errors.Join(f.root.RemoveAll(restoring), f.root.Mkdir(restoring, 0o700))
	}
	if err != nil {
		f.close()
		return fmt.Errorf("open the folder of plugins: %w", err)
	}
	return nil
}

func (f *folder) close() {
	if f.root != nil {
		_ = f.root.RemoveAll(restoring)
		f.root.Close()
	}
	if f.lock != nil {
		f.lock.Close()
	}
	f.root, f.lock = nil, nil
}

// stage writes a plugin of the backup to where it waits.
func (f *folder) stage(ctx context.Context, name string, mode fs.FileMode, from io.Reader) error {
	if f.dir == "" {
		return fmt.Errorf("the backup has the plugin %s: set plugins.dir to the folder where plugins are to be", name)
	}
	if f.root == nil {
		if err := f.open(ctx); err != nil {
			return err
		}
	}
	name = filepath.Join(restoring, name)
	if err := writeNew(f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode))(from); err != nil {
		return err
	}
	return f.root.Chmod(name, mode) // whatever the umask
}

// moved are files that changed their places in the folder of plugins.
type moved struct {
	kept          string // the folder of those that were there before
	before, after []string
}

// swap moves the files of the folder away, and those that wait to their place.
func (f *folder) swap(kept string) (m moved, err error) {
	if f.root == nil {
		return m, nil
	}
	move := func(from, to string, done *[]string) error {
		entries, err := fs.ReadDir(f.root.FS(), from)
		for _, e := range entries {
			if e.IsDir() || e.Name() == install.LockFile {
				continue
			}
			if to != "." && m.kept == "" {
				if err := f.root.Mkdir(to, 0o700); err != nil {
					return err
				}
				m.kept = to
			}
			if err := f.root.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
			*done = append(*done, e.Name())
		}
		return err
	}
	if err := move(".", kept, &m.before); err != nil {
		return m, err
	}
	return m, move(restoring, ".", &m.after)
}

// undo puts back what swap has moved.
func (f *folder) undo(m moved) (err error) {
	for _, name := range m.after {
		err = errors.Join(err, f.root.Remove(name))
	}
	for _, name := range m.before {
		err = errors.Join(err, f.root.Rename(filepath.Join(m.kept, name), name))
	}
	if m.kept != "" {
		err = errors.Join(err, f.root.Remove(m.kept))
	}
	return err
}
