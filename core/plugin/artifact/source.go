package artifact

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// Source is where a plugin comes from: exactly one field is set.
type Source struct {
	Image *reference.Reference
	URL   *url.URL
	File  string
}

// ParseSource reads what a user wrote: an https:// address, the path of a file, or
// the reference of an artifact in a registry, which may begin with oci://.
func ParseSource(text string) (Source, error) {
	rest, isImage := strings.CutPrefix(text, "oci://")
	scheme, _, isURL := strings.Cut(text, "://")
	switch {
	case text == "":
		return Source{}, fmt.Errorf("no reference: want one such as ghcr.io/me/lamp:1.0, an https:// address, or a file")
	case isURL && !isImage:
		return parseURL(text, scheme)
	case !isImage && isPath(text):
		path, err := filepath.Abs(text)
		return Source{File: path}, err
	}
	ref, err := reference.Parse(rest)
	if err != nil {
		return Source{}, fmt.Errorf("neither a file nor a reference: %w", err)
	}
	if ref.Tag == "" && ref.Digest == "" {
		ref.Tag = "latest"
	}
	return Source{Image: &ref}, nil
}

func parseURL(text, scheme string) (Source, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return Source{}, fmt.Errorf("the address after %s:// is malformed", scheme)
	case u.User != nil:
		return Source{}, fmt.Errorf("an address with a user or a password is not accepted: it would be stored and shown")
	case u.Scheme != "https":
		return Source{}, fmt.Errorf("%s:// is not accepted: want https://, oci:// or a file", scheme)
	}
	return Source{URL: u}, nil
}

// isPath reports whether text is the path of a file, rather than a reference.
func isPath(text string) bool {
	if filepath.IsAbs(text) || strings.HasPrefix(text, "."+string(filepath.Separator)) || strings.HasPrefix(text, "..") {
		return true
	}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular()
}

// String returns the source as it is stored and shown. The query of an address,
// which may be a secret, is not part of it.
func (s Source) String() string {
	switch {
	case s.Image != nil:
		return s.Image.String()
	case s.URL != nil:
		return shown(s.URL)
	}
	return s.File
}

func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
