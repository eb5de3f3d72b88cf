package plugin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// findBundles lists the programs directly inside dir, sorted by name: executable files, and those
// that only lack the permission, so that the user is notified. Hidden files are
// passed over; a folder that does not exist holds none.
func findBundles(dir string) ([]bundle, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read plugins.dir: %w", err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = !e.IsDir()
	}
	var found []bundle
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(dir, e.Name())
		if err != nil || strings.HasPrefix(e.Name(), ".") || e.IsDir() || !runnable(info) && !lacksPermission(path, info) {
			continue
		}
		found = append(found, bundle{
			name: strings.TrimSuffix(e.Name(), ".exe"), path: path, copyOf: original(e.Name(), names),
		})
	}
	return found, nil
}

// same reports whether another bundle of the folder is this one: that of the same
// name that counts as the same, as a copy or not.
func (b bundle) same(other bundle) bool {
	return b.name == other.name && b.path == other.path && b.copyOf == other.copyOf
}

// file is an entry of the folder of plugins: what shows that it became another one.
type file struct {
	name string
	info fs.FileInfo
}

func (f file) same(other file) bool {
	return f.name == other.name && f.info.Size() == other.info.Size() && f.info.ModTime().Equal(other.info.ModTime()) &&
		f.info.Mode() == other.info.Mode() && os.SameFile(f.info, other.info)
}

// list reads the folder of plugins, sorted by name. One that does not exist is empty.
func list(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read plugins.dir: %w", err)
	}
	var all []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it is gone again
			all = append(all, file{e.Name(), info})
		}
	}
	return all, nil
}

// changedFile reports whether the file of a bundle is another one now than before.
func changedFile(b bundle, before, now []file) bool {
	in := func(all []file) int {
		return slices.IndexFunc(all, func(f file) bool { return f.name == filepath.Base(b.path) })
	}
	i, j := in(before), in(now)
	return i < 0 || j < 0 || !before[i].same(now[j])
}

// original returns the file of which name is a copy, as lamp.bak or lamp~ is of lamp; "" when there is none.
func original(name string, names map[string]bool) string {
	for i := len(name) - 1; i > 0; i-- {
		if (name[i] == '.' || name[i] == '~') && names[name[:i]] {
			return name[:i]
		}
	}
	return ""
}

// usable refuses files that are in the folder and do not count as plugins.
func usable(b bundle) error {
	info, err := os.Lstat(b.path)
	if err != nil {
		return nil // what follows says so
	}
	if b.copyOf != "" {
		if _, err := os.Lstat(filepath.Join(filepath.Dir(b.path), b.copyOf)); err == nil {
			return &rejectedError{fmt.Errorf("it counts as a copy of %s, since it has that name and an extension, and is not started: move it out of plugins.dir, or give it another name", b.copyOf)}
		}
	}
	if info.Mode().IsRegular() && !runnable(info) {
		return &rejectedError{fmt.Errorf("its file is not executable: run chmod +x %s, and then dogwatch plugin restart %s", b.path, b.name)}
	}
	return nil
}

// lacksPermission reports whether a file that is not executable is a program all the same.
func lacksPermission(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 4)
	n, _ := io.ReadFull(f, start)
	return strings.HasPrefix(string(start[:n]), "#!") || string(start[:n]) == "\x7fELF"
}

// Dir returns the absolute path of the folder of third-party executables; "" when there is none.
func (h *Host) Dir() string { return h.opt.Dir }

// Unusable says of each third-party bundle that cannot be used now why that is, for
// a message about a type that no bundle holds; "" when all are well.
func (h *Host) Unusable() string {
	var all []string
	for _, st := range h.Bundles() {
		switch {
		case st.Builtin:
		case st.State == Untrusted, st.State == Rejected, st.State == Broken, st.State == Backoff:
			state := string(st.State)
			if st.State == Backoff {
				state = "started again after a crash"
			}
			all = append(all, fmt.Sprintf("%s is %s: %s", st.Name, state, st.Error))
		case st.State == Starting && len(st.Types) == 0:
			all = append(all, fmt.Sprintf("%s is %s: it has not said what it is so far", st.Name, st.State))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("not usable in %s (see dogwatch plugin list): %s", h.opt.Dir, strings.Join(all, "; "))
}
