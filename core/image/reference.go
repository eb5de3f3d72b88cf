// Package image names container images.
//
// It reads the references that people and engines write (nginx, ghcr.io/a/b:1.2,
// localhost:5000/x@sha256:…) by the grammar of the Docker distribution project and
// gives each of them one canonical form. The package is pure: it has no state, does
// no I/O, and all its functions may be called concurrently.
//
// The scanner is written by hand because the usual regular expressions cost some
// 400 KiB in every process that links them.
package image

import (
	"errors"
	"fmt"
	"strings"
)

// DefaultDomain is the registry of references that name none.
const DefaultDomain = "docker.io"

const (
	officialPath  = "library" // where Docker Hub keeps its official images
	maxPathLength = 255       // limits of the distribution grammar
	maxTagLength  = 128
)

// ErrInvalid is wrapped by every error of Parse.
var ErrInvalid = errors.New("invalid image reference")

// Reference names an image. Domain and Path are never empty after Parse; Tag and
// Digest are empty when the text has none, and it is for the caller to decide
// whether that means "latest".
type Reference struct {
	Domain string // registry host with optional port, "docker.io" by default
	Path   string // repository inside the registry, such as "library/nginx"
	Tag    string // such as "1.25-alpine"
	Digest string // such as "sha256:…"
}

// Parse reads an image reference. The first component is the registry only if it
// contains a dot or a colon or is "localhost"; without one, the image is on Docker
// Hub, whose other host names become "docker.io" and whose one-component names are
// in "library". Errors wrap ErrInvalid.
func Parse(s string) (Reference, error) {
	ref, problem := parse(s)
	if problem != "" {
		return Reference{}, fmt.Errorf("%w %.300q: %s", ErrInvalid, s, problem)
	}
	return ref, nil
}

// parse returns the reference, or what is wrong with s and how to mend it.
func parse(s string) (ref Reference, problem string) {
	if s == "" {
		return ref, "it is empty: write a name such as nginx:1.25"
	}
	if len(s) == 64 && isLowerHex(s) {
		return ref, "64 hexadecimal digits are an image id: write the image's name"
	}
	name, digest, hasDigest := strings.Cut(s, "@")
	if hasDigest {
		if problem := digestProblem(digest); problem != "" {
			return ref, problem
		}
		ref.Digest = digest
	}
	// A colon before the last slash belongs to the port of the registry.
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		ref.Tag, name = name[colon+1:], name[:colon]
		if !isTag(ref.Tag) {
			return ref, fmt.Sprintf("tag %.140q must be 1 to %d letters, digits, dots, underscores and hyphens, and not begin with a dot or hyphen", ref.Tag, maxTagLength)
		}
	}
	ref.Domain, ref.Path = splitDomain(name)
	if !isDomain(ref.Domain) {
		return ref, fmt.Sprintf("%.140q is not a registry host: write host or host:port, without a scheme", ref.Domain)
	}
	if len(ref.Path) > maxPathLength {
		return ref, fmt.Sprintf("the repository name is longer than %d characters", maxPathLength)
	}
	if !isPath(ref.Path, ref.Domain == DefaultDomain) {
		return ref, fmt.Sprintf("repository %.140q must be lower-case letters and digits, with single separators between them", ref.Path)
	}
	return ref, ""
}

// splitDomain separates the registry from the repository and expands the defaults.
func splitDomain(name string) (domain, path string) {
	first, rest, found := strings.Cut(name, "/")
	if !found || (first != "localhost" && !strings.ContainsAny(first, ".:")) {
		first, rest = DefaultDomain, name
	}
	switch strings.ToLower(first) {
	case DefaultDomain, "index.docker.io", "registry-1.docker.io":
		first = DefaultDomain
		if !strings.Contains(rest, "/") {
			rest = officialPath + "/" + rest
		}
	}
	return first, rest
}

// Name returns the canonical name without tag and digest, such as "docker.io/library/nginx".
func (r Reference) Name() string {
	return r.Domain + "/" + r.Path
}

// String returns the canonical form, such as "docker.io/library/nginx:1.25".
// Parse reads it back to the same Reference.
func (r Reference) String() string {
	return r.Name() + r.suffix()
}

func (r Reference) suffix() string {
	var s string
	if r.Tag != "" {
		s = ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}
