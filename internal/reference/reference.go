// Package reference reads image references and names the hosts of registries.
//
// A reference (nginx, ghcr.io/a/b:1.2, localhost:5000/x@sha256:…) follows the grammar
// of the Docker distribution project. Every part of Dogwatch that reads one uses this
// package, so that a watcher, a registry and the host agree on what an image is called.
// Which hosts a pattern stands for is decided by registry.Host.Serves, to which this
// package adds the order of patterns.
//
// The package is pure: it has no state, does no I/O, and all its functions may be
// called concurrently.
//
// The scanner is written by hand because the usual regular expressions cost some
// 400 KiB in every process that links them.
package reference

import (
	"errors"
	"fmt"
	"strings"
)

const (
	officialPath  = "library" // where Docker Hub keeps its official images
	maxPathLength = 255       // limits of the distribution grammar
	maxTagLength  = 128
)

// ErrInvalid is wrapped by every error of Parse and Split.
var ErrInvalid = errors.New("invalid image reference")

// Reference names an image. Tag and Digest are empty when the text has none, and
// it is for the caller to decide whether that means "latest".
type Reference struct {
	Domain string // registry host with optional port; "docker.io" by default after Parse, "" after Split
	Path   string // repository inside the registry, such as "library/nginx"; never empty
	Tag    string // such as "1.25-alpine"
	Digest string // such as "sha256:…"
}

// Parse reads an image reference and returns its canonical form. The first
// component is the registry only if it contains a dot or a colon or is
// "localhost"; without one, the image is on Docker Hub, whose other host names
// become "docker.io" and whose one-component names are in "library". Errors wrap
// ErrInvalid.
func Parse(s string) (Reference, error) {
	ref, err := Split(s)
	if err != nil {
		return Reference{}, err
	}
	return ref.Canonical(), nil
}

// Split takes an image reference apart as it is written: Domain is "" when it
// names no registry, and nothing is expanded. It accepts what Parse accepts.
// Errors wrap ErrInvalid.
func Split(s string) (Reference, error) {
	ref, problem := split(s)
	if problem != "" {
		return Reference{}, fmt.Errorf("%w %.300q: %s", ErrInvalid, s, problem)
	}
	return ref, nil
}

// split returns the parts of s, or what is wrong with s and how to mend it.
func split(s string) (ref Reference, problem string) {
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
		if !IsTag(ref.Tag) {
			return ref,
				fmt.Sprintf("tag %.140q must be 1 to %d letters, digits, dots, underscores and hyphens, and not begin with a dot or hyphen", ref.Tag, maxTagLength)
		}
	}
	ref.Domain, ref.Path = splitDomain(name)
	full := ref.Canonical()
	if !isDomain(full.Domain) {
		return ref, fmt.Sprintf("%.140q is not a registry host: write host or host:port, without a scheme", full.Domain)
	}
	if len(full.Path) > maxPathLength {
		return ref, fmt.Sprintf("the repository name is longer than %d characters", maxPathLength)
	}
	if !isPath(full.Path, full.Domain == DefaultDomain) {
		return ref,
			fmt.Sprintf("repository %.140q must be lower-case letters and digits, with single separators between them",
				full.Path)
	}
	return ref, ""
}

// splitDomain separates the registry, "" when none is named, from the repository.
func splitDomain(name string) (domain, path string) {
	first, rest, found := strings.Cut(name, "/")
	if !found || (first != "localhost" && !strings.ContainsAny(first, ".:")) {
		return "", name
	}
	return first, rest
}

// Canonical returns the reference with the defaults expanded: Docker Hub has one
// name, and its official images are in "library".
func (r Reference) Canonical() Reference {
	if r.Domain != "" && !IsHub(r.Domain) {
		return r
	}
	r.Domain = DefaultDomain
	if !strings.Contains(r.Path, "/") {
		r.Path = officialPath + "/" + r.Path
	}
	return r
}

// Short returns the shortest name of a repository on a host, as users know it:
// "nginx" for the official image of Docker Hub, or "" without a repository. It is
// for display.
func Short(host, repository string) string {
	if host != "" && repository != "" && !IsHub(host) {
		return Join(host, repository)
	}
	return strings.TrimPrefix(repository, officialPath+"/")
}

// Join returns the reference of a repository on a host. host is "" where none is
// named, as watchers report the images of Docker Hub.
func Join(host, repository string) string {
	if host == "" {
		return repository
	}
	return host + "/" + repository
}

// Name returns the name without tag and digest, such as "docker.io/library/nginx".
func (r Reference) Name() string { return Join(r.Domain, r.Path) }

// String returns the reference as text, such as "docker.io/library/nginx:1.25".
// Parse reads it back to the same Reference, and so does Split for one that it made.
func (r Reference) String() string {
	s := r.Name()
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}
