package install

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Request says what to install.
type Request struct {
	Source artifact.Source
	Want   artifact.Want
	// Replace allows a file of that name that was put there by hand.
	Replace bool
	// NewKey allows another key than the one that is pinned.
	NewKey bool
	// Renamed is true when the user has chosen Want.Name, whatever its publisher calls the plugin.
	Renamed bool
	// Downgrade allows a version that is not newer than the installed one.
	Downgrade bool
}

// Staged is an executable that was fetched and verified, and is not installed yet.
type Staged struct {
	artifact.Fetched
	// Path is the file, in a folder of its own below the folder of the plugins.
	Path string
	// Before is what it replaces; nil for nothing that was installed.
	Before *Pin
	// Grants are the capabilities that it is to have once it is installed; KeptGrants unless a user decides.
	Grants []string
	folder *Folder
}

// Current reports whether the same file is installed already.
func (s *Staged) Current() bool {
	sum, err := checksum(s.folder.path(s.Name))
	return err == nil && sum == s.SHA256 && s.Before != nil && s.Before.SHA256 == s.SHA256
}

// FirstKey reports whether the publisher's key is seen for the first time.
func (s *Staged) FirstKey() bool {
	return !s.Key.IsZero() && (s.Before == nil || s.Before.Key != s.Key.Text())
}

// Fetch fetches an executable next to the plugins, without touching any of them.
func (f *Folder) Fetch(ctx context.Context, fetcher artifact.Fetcher, r Request) (*Staged, error) {
	if r.Want.Name != "" {
		if err := f.pinnedKey(r.Want.Name, &r); err != nil {
			return nil, err
		}
	}
	if err := f.root.MkdirAll(stageName, 0o755); err != nil {
		return nil, fmt.Errorf("make room for what is fetched: %w", err)
	}
	got, file, err := f.fetchOnce(ctx, fetcher, r)
	if err != nil {
		return nil, err
	}
	if r.Want.Name == "" { // the key that is pinned is known only now
		before := r.Want.Key
		if err := f.pinnedKey(got.Name, &r); err != nil {
			return nil, err
		}
		if !r.Want.Key.Equal(before) && !got.Key.Equal(r.Want.Key) {
			if got, file, err = f.fetchOnce(ctx, fetcher, r); err != nil {
				return nil, err
			}
		}
	}
	if err := f.mayReplace(got.Name, r.Replace); err != nil {
		return nil, err
	}
	s := &Staged{Fetched: got, Path: f.path(staged(got.Name)), folder: f}
	if e, known := f.all[got.Name]; known && e.SHA256 != "" {
		before := e.Pin
		s.Before = &before
	}
	if err := mayFollow(s.Before, got.Name, got, r); err != nil {
		return nil, err
	}
	return s, f.root.Rename(file, staged(got.Name))
}

// pinnedKey has the request want the key that is pinned for a plugin.
func (f *Folder) pinnedKey(name string, r *Request) error {
	e, known := f.all[name]
	if !known || e.Key == "" || r.NewKey {
		return nil
	}
	pinned, err := artifact.ParseKey(e.Key)
	if err != nil {
		return malformedKey(name)
	}
	if !r.Want.Key.IsZero() && !r.Want.Key.Equal(pinned) {
		return fmt.Errorf("the publisher's key of %s is %s since it was installed, and %s is another one: to accept it, add --new-key", name, pinned, r.Want.Key)
	}
	r.Want.Key = pinned
	return nil
}

func malformedKey(name string) error {
	return fmt.Errorf("the key of %s in %s is malformed: mend the file, or remove the plugin and install it again",
		name, pinFile)
}

// fetchOnce fetches into a file of the stage that is on disk when it returns.
func (f *Folder) fetchOnce(
	ctx context.Context, fetcher artifact.Fetcher, r Request,
) (got artifact.Fetched, file string, err error) {
	file = staged(".fetch-" + rand.Text())
	to, err := f.root.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return got, "", fmt.Errorf("make room for what is fetched: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if got, err = fetcher.Fetch(ctx, r.Source, r.Want, to); err != nil {
		return got, "", err
	}
	if err := to.Chmod(0o755); err != nil {
		return got, "", fmt.Errorf("make it executable: %w", err)
	}
	if err := to.Sync(); err != nil {
		return got, "", fmt.Errorf("write it to disk: %w", err)
	}
	return got, file, nil
}

// mayReplace refuses names that are taken by something else.
func (f *Folder) mayReplace(name string, replace bool) error {
	if slices.Contains(kind.Kinds(), kind.Kind(name)) {
		return fmt.Errorf("the name %s belongs to a built-in plugin: give another one with --name", name)
	}
	info, err := os.Lstat(f.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at %s: %w", name, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s in plugins.dir is not a regular file: move it away first", name)
	}
	if _, known := f.all[name]; !known && !replace {
		return fmt.Errorf("plugins.dir has a file %s that was put there by hand: to replace it, add --replace; to have both, give --name", name)
	}
	return nil
}

// Install puts a staged executable in its place by one rename, with what it is granted,
// and keeps the one before.
func (f *Folder) Install(s *Staged) error {
	next := &Pin{
		Ref: s.Ref, Digest: s.Digest, SHA256: s.SHA256, Version: s.Version, SDK: s.SDK, Platform: s.Platform,
		Types: s.Types, Capabilities: s.Capabilities, Installed: sdk.TimeOf(f.now()), Key: s.Key.Text(), Title: s.Signed.Name,
	}
	return f.put(s.Name, next, sorted(s.Grants))
}

// Rollback exchanges a plugin with the version before it. The key of the publisher
// stays pinned if the version before was not signed.
func (f *Folder) Rollback(name string) (Pin, error) {
	e, err := f.find(name)
	if err != nil {
		return Pin{}, err
	}
	if e.Previous == nil {
		return Pin{}, fmt.Errorf("%s: there is no version before to go back to", name)
	}
	next := *e.Previous
	sum, err := checksum(f.path(previous(name)))
	if err != nil || sum != next.SHA256 {
		return Pin{},
			fmt.Errorf("%s: the file of the version before is missing or was changed: install that version instead (%s)", name, next.Ref)
	}
	next.Key = cmp.Or(next.Key, e.Key)
	if err := f.root.MkdirAll(stageName, 0o755); err != nil {
		return Pin{}, err
	}
	if err := linkOrCopy(f.root, previous(name), staged(name)); err != nil {
		return Pin{}, fmt.Errorf("%s: %w", name, err)
	}
	return next, f.put(name, &next, e.Granted)
}

// put records what is about to happen, renames, and records what happened.
// After a kill in between, what is there has no more than both versions were granted.
func (f *Folder) put(name string, next *Pin, grants []string) error {
	e, known := f.all[name]
	if !known {
		e = &entry{}
		if sum, err := checksum(f.path(name)); err == nil { // put there by hand
			e.SHA256 = sum
		}
		f.all[name] = e
	}
	e.Next, e.Granted = next, both(e.Granted, grants)
	if err := f.save(); err != nil {
		return err
	}
	var err error
	if e.SHA256 != next.SHA256 { // else there is nothing worth keeping
		if err = linkOrCopy(f.root, name, setAside(name)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = f.root.Rename(staged(name), name)
	}
	if err == nil {
		err = syncFolder(f.root)
	}
	if settled := f.settle(name, e); err == nil {
		err = settled
	}
	if err == nil {
		e.Granted = grants
	}
	if err != nil {
		err = fmt.Errorf("install %s: %w", name, err)
	}
	return errors.Join(err, f.save())
}
