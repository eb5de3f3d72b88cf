package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
)

// Grants returns the capabilities that users granted to what is installed in a folder,
// by name. What others than the owner of Dogwatch's files could have written counts for
// nothing, which the error says.
func Grants(dir string) (map[string][]string, error) {
	all, err := ownPins(dir)
	granted := map[string][]string{}
	for name, e := range all {
		if len(e.Granted) > 0 {
			granted[name] = e.Granted
		}
	}
	return granted, err
}

// Pins returns what is installed in a folder, by name. As of Grants, what others could
// have written counts for nothing.
func Pins(dir string) (map[string]Pin, error) {
	all, err := ownPins(dir)
	pins := map[string]Pin{}
	for name, e := range all {
		pins[name] = e.Pin
	}
	return pins, err
}

// ownPins reads the file of pins if no other user can change it.
func ownPins(dir string) (map[string]*entry, error) {
	info, err := os.Lstat(filepath.Join(dir, pinFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read what is granted to plugins: %w", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("nothing that %s says of plugins, and grants to them, counts, since others can change it: "+
			"run chmod go-w on it", filepath.Join(dir, pinFile))
	}
	return readPins(dir)
}

// Grant records that a plugin has exactly these capabilities from now on, besides those
// of the configuration. A Dogwatch that serves starts the plugin again with them.
func (f *Folder) Grant(name string, capabilities []string) error {
	e, err := f.find(name)
	if err != nil {
		return err
	}
	for _, c := range capabilities {
		if len(e.Types) > 0 && !slices.Contains(e.Capabilities, c) {
			return fmt.Errorf("%s does not ask for the capability %q%s", name, c, requested(e.Capabilities))
		}
	}
	e.Granted = sorted(capabilities)
	return f.save()
}

// requested says what a plugin asks for.
func requested(capabilities []string) string {
	if len(capabilities) == 0 {
		return ": it asks for none"
	}
	return ": it asks for " + strings.Join(capabilities, ", ")
}

// KeptGrants returns what was granted before and stays granted: what this version still
// asks for, if it is from the same publisher as the one that it replaces.
func (s *Staged) KeptGrants() []string {
	if s.Before == nil || !s.samePublisher() {
		return nil
	}
	var carried []string
	for _, c := range s.folder.all[s.Name].Granted {
		if len(s.Types) == 0 || slices.Contains(s.Capabilities, c) {
			carried = append(carried, c)
		}
	}
	return carried
}

// samePublisher: of what is not signed only the repository is known.
func (s *Staged) samePublisher() bool {
	if s.Before.Key != "" || !s.Key.IsZero() {
		return s.Before.Key == s.Key.Text()
	}
	before, err := artifact.ParseSource(s.Before.Ref)
	if err != nil || before.Image == nil {
		return s.Before.SHA256 == s.SHA256
	}
	now, err := artifact.ParseSource(s.Ref)
	return err == nil && now.Image != nil && now.Image.Domain == before.Image.Domain && now.Image.Path == before.Image.Path
}

// sorted returns capabilities in order, each once.
func sorted(capabilities []string) []string {
	all := slices.Sorted(slices.Values(capabilities))
	return slices.Compact(all)
}

// both returns what is in two lists.
func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(c string) bool { return !slices.Contains(b, c) })
}
