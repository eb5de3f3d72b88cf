package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
)

// Wanted is a plugin that has to be there.
type Wanted struct {
	Name, Ref string
	// Digest and Key are "" for any; Key is as artifact.ParseKey reads it.
	Digest, Key string
}

// request returns what fetches a wanted plugin.
func (w Wanted) request() (r Request, err error) {
	r.Want = artifact.Want{Name: w.Name, Digest: w.Digest}
	if r.Source, err = artifact.ParseSource(w.Ref); err != nil {
		return r, err
	}
	if w.Key != "" {
		if r.Want.Key, err = artifact.ParseKey(w.Key); err != nil {
			return r, fmt.Errorf("key: %w", err)
		}
		r.NewKey = true // a user who may write the configuration decides
	}
	return r, nil
}

// Try fetches a wanted plugin as Ensure does, installs nothing, and returns what Ensure would fail with
// where the plugin is not there so far.
func Try(ctx context.Context, fetcher artifact.Fetcher, w Wanted, may MayHold) (err error) {
	r, err := w.request()
	if err != nil {
		return err
	}
	to, err := os.CreateTemp("", "dogwatch-plugin-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close(), os.Remove(to.Name())) }()
	got, err := fetcher.Fetch(ctx, r.Source, r.Want, to)
	if err != nil {
		return err
	}
	return may(w.Name, got.Types)
}

// Ensure installs a plugin that is missing, or is another one than wanted, and
// reports whether it did. With or without an error it returns the SHA-256 of what
// is in its place and was installed by this package; "" for nothing.
func (f *Folder) Ensure(ctx context.Context, fetcher artifact.Fetcher, w Wanted, may MayHold) (sum string,
	changed bool, err error) {
	r, err := w.request()
	if err != nil {
		return f.sound(w.Name), false, err
	}
	sum = f.sound(w.Name)
	if e := f.all[w.Name]; sum != "" && e.Is(w.Ref, w.Digest) && (w.Key == "" || e.Key == r.Want.Key.Text()) {
		return sum, false, nil
	}
	r.Downgrade = exact(r.Source, w.Digest)
	s, err := f.Fetch(ctx, fetcher, r)
	if err != nil {
		return sum, false, err
	}
	if err := may(w.Name, s.Types); err != nil {
		return sum, false, err
	}
	s.Grants = s.KeptGrants()
	if err := f.Install(s); err != nil {
		return f.sound(w.Name), false, err
	}
	return s.SHA256, true, nil
}

// exact reports whether a user has named the version that has to be there: then it may be
// an older one. A tag that is moved over versions, such as latest or 1.2, does not.
func exact(s artifact.Source, digest string) bool {
	if s.Image == nil || digest != "" || s.Image.Digest != "" {
		return true
	}
	_, version := artifact.CompareVersions(s.Image.Tag, s.Image.Tag)
	return version && strings.Count(s.Image.Tag, ".") >= 2
}

// Is reports whether a reference and a digest, "" for any, are those that were installed.
func (p Pin) Is(ref, digest string) bool {
	source, err := artifact.ParseSource(ref)
	return err == nil && p.Ref == source.String() && (digest == "" || p.Digest == digest)
}

// sound returns the SHA-256 of a plugin that is as it was installed.
func (f *Folder) sound(name string) string {
	e, known := f.all[name]
	if !known {
		return ""
	}
	if sum, err := checksum(f.path(name)); err != nil || sum != e.SHA256 {
		return ""
	}
	return e.SHA256
}
