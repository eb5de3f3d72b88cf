// Package install looks after the folder of third-party plugins: it puts what
// package artifact fetched in its place, keeps the one before, removes, and goes
// back. What it installed, and the key of each publisher, is in a file beside the
// plugins. A plugin is replaced by one rename, and what a command was about to do is
// written down first: after a kill at any line there is the old file or the new one,
// and the next command clears up.
package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/sdk"
)

// The names in the folder, all hidden, so that none of them is a plugin.
const (
	pinFile = ".installed.json"
	// LockFile is empty, and locked by who changes the folder.
	LockFile  = ".installed.lock"
	stageName = ".install"
	oldSuffix = ".old"
)

// Pin is what is known of an installed file.
type Pin struct {
	Ref          string   `json:"ref"`
	Digest       string   `json:"digest"`
	SHA256       string   `json:"sha256"`
	Version      string   `json:"version,omitempty"`
	SDK          string   `json:"sdk,omitempty"`
	Platform     string   `json:"platform,omitempty"`
	Types        []string `json:"types,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Installed    sdk.Time `json:"installed"`
	Key          string   `json:"key,omitempty"` // of the publisher; "" when it is not signed
	// Title is the publisher's own name of the plugin, which is signed with it; "" for that of the file.
	Title string `json:"title,omitempty"`
}

// entry is a plugin in the file of pins.
type entry struct {
	Pin
	// Previous is what Rollback goes back to.
	Previous *Pin `json:"previous,omitempty"`
	// Next is what is being put in place.
	Next *Pin `json:"next,omitempty"`
	// Granted are the capabilities that users granted to it.
	Granted []string `json:"granted,omitempty"`
	// Newer is what was newer when it was looked for last, CheckedAt when that was.
	Newer     *artifact.Newer `json:"newer,omitempty"`
	CheckedAt sdk.Time        `json:"checkedAt,omitzero"`
	// Removing is true while the plugin is being removed.
	Removing bool `json:"removing,omitempty"`
}

// Status is an installed plugin as users see it.
type Status struct {
	Name string `json:"name"`
	Pin
	// KeyName is the publisher's key in short; "" without one.
	KeyName string `json:"keyName,omitempty"`
	// Previous is the version, or the reference, that Rollback goes back to; "" for none.
	Previous string `json:"previous,omitempty"`
	// Available is a newer reference than Ref, or the same where its tag was moved, and
	// AvailableDigest its digest; "" when none is known.
	Available       string `json:"available,omitempty"`
	AvailableDigest string `json:"availableDigest,omitempty"`
	// Refused says why newer tags are not offered; "" for none.
	Refused string `json:"refused,omitempty"`
	// CheckedAt is when a newer version was looked for last; zero for never.
	CheckedAt sdk.Time `json:"checkedAt,omitzero"`
	// Granted are the capabilities that users granted to it, besides those of the configuration.
	Granted []string `json:"granted,omitempty"`
	// Changed reports that the file is missing, or is not the one that was installed.
	Changed bool `json:"changed,omitempty"`
}

// Folder is the locked folder of the plugins. It is for one goroutine.
type Folder struct {
	dir  string
	root *os.Root // of dir: no link in it is followed out of it
	lock *os.File
	all  map[string]*entry
	now  func() time.Time
}

// Open makes the folder if need be, waits until no other process changes it, and
// completes what was interrupted. The caller closes it.
func Open(ctx context.Context, dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make plugins.dir: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open plugins.dir: %w", err)
	}
	lock, err := acquire(ctx, root)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("lock plugins.dir %s: %w", dir, err)
	}
	f := &Folder{dir: dir, root: root, lock: lock, now: time.Now}
	if f.all, err = readPins(dir); err == nil {
		err = f.recover()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close removes what was fetched and not installed, and lets others in.
func (f *Folder) Close() {
	_ = f.root.RemoveAll(stageName) // the next command tries again
	f.lock.Close()
	f.root.Close()
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }

// The names in the folder of files of a plugin.
func staged(name string) string   { return filepath.Join(stageName, name) }
func previous(name string) string { return "." + name + ".previous" }
func setAside(name string) string { return staged(name + oldSuffix) }

func readPins(dir string) (map[string]*entry, error) {
	path := filepath.Join(dir, pinFile)
	data, err := os.ReadFile(path)
	all := map[string]*entry{}
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil,
			fmt.Errorf("read what is installed (%s): %w: mend the file, or remove it and install the plugins again", path, err)
	}
	maps.DeleteFunc(all, func(name string, e *entry) bool { return e == nil || artifact.CheckName(name) != nil })
	return all, nil
}

// save writes the pins so that a reader sees the file before or the file after.
func (f *Folder) save() error {
	data, err := json.MarshalIndent(f.all, "", "  ")
	if err != nil {
		return err
	}
	if err := writeSynced(f.root, pinFile+".new", append(data, '\n')); err != nil {
		return fmt.Errorf("record what is installed: %w", err)
	}
	if err := f.root.Rename(pinFile+".new", pinFile); err != nil {
		return fmt.Errorf("record what is installed: %w", err)
	}
	return syncFolder(f.root)
}

// recover completes what a command began that was killed.
func (f *Folder) recover() error {
	changed := false
	for name, e := range f.all {
		switch {
		case e.Removing:
			if err := f.unlink(name); err != nil {
				return err
			}
			delete(f.all, name)
			changed = true
		case e.Next != nil:
			if err := f.settle(name, e); err != nil {
				return err
			}
			changed = true
		}
	}
	if err := f.root.RemoveAll(stageName); err != nil {
		return fmt.Errorf("clear up after an interrupted command: %w", err)
	}
	if err := removeIfThere(f.root, pinFile+".new"); err != nil {
		return fmt.Errorf("clear up after an interrupted command: %w", err)
	}
	if !changed {
		return nil
	}
	return f.save()
}

// settle makes the pin of a plugin agree with the file that is there. It does not save.
func (f *Folder) settle(name string, e *entry) error {
	next := e.Next
	e.Next = nil
	if sum, err := checksum(f.path(name)); err != nil || sum != next.SHA256 {
		if e.SHA256 == "" { // it was the first of its name, and has not come
			delete(f.all, name)
		}
		return nil
	}
	if err := f.root.Rename(setAside(name), previous(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the version before: %w", err)
	}
	if kept, err := checksum(f.path(previous(name))); err == nil && kept == e.SHA256 && kept != next.SHA256 {
		before := e.Pin
		e.Previous = &before
	}
	e.Pin, e.Newer, e.CheckedAt = *next, nil, sdk.Time{}
	return nil
}

// Installed returns what is installed, by name.
func (f *Folder) Installed() []Status {
	all := statuses(f.all)
	FindChanged(f.dir, all)
	return all
}

// FindChanged completes Changed of what is installed in a folder.
func FindChanged(dir string, all []Status) {
	for i := range all {
		sum, err := checksum(filepath.Join(dir, all[i].Name))
		all[i].Changed = err != nil || sum != all[i].SHA256
	}
}

// Read returns what is installed in a folder, by name, without waiting for a command
// that changes it, and without looking at the files.
func Read(dir string) ([]Status, error) {
	all, err := readPins(dir)
	return statuses(all), err
}

func statuses(all map[string]*entry) []Status {
	var found []Status
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e := all[name]
		st := Status{Name: name, Pin: e.Pin, KeyName: keyName(e.Key), Granted: e.Granted, CheckedAt: e.CheckedAt}
		if e.Newer != nil {
			st.Available, st.AvailableDigest, st.Refused = e.Newer.Ref, e.Newer.Digest, e.Newer.Refused
		}
		if e.Previous != nil {
			st.Previous = cmp.Or(e.Previous.Version, e.Previous.Ref)
		}
		found = append(found, st)
	}
	return found
}

func keyName(text string) string {
	if text == "" {
		return ""
	}
	k, err := artifact.ParseKey(text)
	if err != nil {
		return ""
	}
	return k.String()
}

// find returns the entry of a plugin that was installed.
func (f *Folder) find(name string) (*entry, error) {
	e, known := f.all[name]
	if !known {
		return nil,
			fmt.Errorf("%s was not installed by dogwatch plugin install (dogwatch plugin outdated shows what was)", name)
	}
	return e, nil
}

// Remove takes a plugin, and the version before it, out of the folder, and forgets
// its publisher's key.
func (f *Folder) Remove(name string) error {
	e, err := f.find(name)
	if err != nil {
		return err
	}
	e.Removing = true
	if err := f.save(); err != nil {
		return err
	}
	if err := f.unlink(name); err != nil {
		return err
	}
	delete(f.all, name)
	return f.save()
}

func (f *Folder) unlink(name string) error {
	for _, file := range []string{name, previous(name)} {
		if err := removeIfThere(f.root, file); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	return nil
}
