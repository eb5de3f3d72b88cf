// Package backup writes what Dogwatch knows to one file, and puts it back: the store, with logins, tokens and what was
// decided, and the folder of plugins, with what is known of each. The configuration is not part of it.
//
// The file is a tar archive, compressed with gzip (RFC 1952): first what is in it, then the store, then the plugins.
package backup

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/store"
)

const (
	contentsName = "dogwatch-backup.json"
	storeName    = "dogwatch.db"
	pluginsName  = "plugins"
	// format is raised when an earlier Dogwatch could not restore the file any more.
	format = 1
)

// Contents are what a backup says of itself, before what is in it.
type Contents struct {
	Format int `json:"format"`
	// Version is that of the Dogwatch that wrote it.
	Version string    `json:"version"`
	At      time.Time `json:"at"`
	Plugins []string  `json:"plugins"`
}

// Installation is what is backed up or restored.
type Installation struct {
	// Store is the path of its store.
	Store string
	// Plugins is the folder of its plugins; "" if it has none.
	Plugins string
	Version string
	Now     func() time.Time
}

// Write writes a backup of an installation that may be running. A folder for temporary files has room for the store.
func (i Installation) Write(ctx context.Context, out io.Writer, temporary string) (Contents, error) {
	c := Contents{Format: format, Version: i.Version, At: i.Now().UTC().Truncate(time.Second)}
	reader, err := store.Read(ctx, i.Store)
	if err != nil {
		return c, err
	}
	defer reader.Close()
	dir, err := os.MkdirTemp(temporary, ".dogwatch-backup-")
	if err != nil {
		return c, fmt.Errorf("make a folder for the copy of the store: %w", err)
	}
	defer os.RemoveAll(dir)
	snapshot := filepath.Join(dir, storeName)
	if err := reader.Backup(ctx, snapshot); err != nil {
		return c, err
	}
	plugins, release, err := i.lockPlugins(ctx)
	if err != nil {
		return c, err
	}
	defer release()
	files, err := pluginFiles(plugins)
	if err != nil {
		return c, fmt.Errorf("read the folder of plugins: %w", err)
	}
	for _, name := range files {
		if !strings.HasPrefix(name, ".") {
			c.Plugins = append(c.Plugins, name)
		}
	}
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	doc, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	header := &tar.Header{Name: contentsName, Mode: 0o600, Size: int64(len(doc)), ModTime: c.At}
	err = archive.WriteHeader(header)
	if err == nil {
		_, err = archive.Write(doc)
	}
	err = cmp.Or(err, add(ctx, archive, os.DirFS(dir), storeName, storeName))
	for _, name := range files {
		err = cmp.Or(err, add(ctx, archive, plugins, name, path.Join(pluginsName, name)))
	}
	err = cmp.Or(err, archive.Close(), compressed.Close())
	if err != nil {
		return c, fmt.Errorf("write the backup: %w", err)
	}
	return c, nil
}

// lockPlugins returns the folder of plugins, if there is one, which no other process changes until release is called.
func (i Installation) lockPlugins(ctx context.Context) (plugins fs.FS, release func(), err error) {
	if i.Plugins == "" {
		return nil, func() {}, nil
	}
	if _, err := os.Stat(i.Plugins); errors.Is(err, fs.ErrNotExist) {
		return nil, func() {}, nil
	}
	folder, err := install.Open(ctx, i.Plugins)
	if err != nil {
		return nil, nil, err
	}
	return os.DirFS(i.Plugins), func() { folder.Close() }, nil
}

// pluginFiles returns the regular files of the folder of plugins, those of links to such ones included: plugins,
// earlier versions of them, and what is known of each.
func pluginFiles(plugins fs.FS) (names []string, err error) {
	if plugins == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(plugins, ".")
	for _, e := range entries {
		info, err := fs.Stat(plugins, e.Name())
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && e.Name() != install.LockFile {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// add writes a file to an archive.
func add(ctx context.Context, archive *tar.Writer, from fs.FS, name, as string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Name: as, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, f)
	return err
}
