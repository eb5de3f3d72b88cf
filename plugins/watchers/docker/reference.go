package docker

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// reference is an image reference as written: nothing is expanded.
type reference struct {
	domain string // "" when the reference names no registry
	path   string
	tag    string
	digest string
}

// The grammar of github.com/distribution/reference, with two liberties that
// engines take: the first of several components of a name may have upper-case
// letters, and a domain is one only if it has a dot or a port or is "localhost".
const (
	label      = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
	port       = `:[0-9]+`
	domain     = `(?:` + label + `(?:\.` + label + `)+(?:` + port + `)?|` + label + port + `|localhost|\[[0-9a-fA-F:]+\](?:` + port + `)?)`
	component  = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
	repository = `(?:` + label + `/)?` + component + `(?:/` + component + `)*`
	tag        = `[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}`
	digest     = `sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}`
)

// referenceForm is compiled when it is first used: every process of the program
// would hold it otherwise, and it is large.
var referenceForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(` + domain + `)/)?(` + repository + `)(?::(` + tag + `))?(?:@(` + digest + `))?$`)
})

// parseReference takes an image reference apart.
func parseReference(s string) (reference, error) {
	m := referenceForm().FindStringSubmatch(s)
	switch {
	case s == "":
		return reference{}, fmt.Errorf("the image of this container has no name: recreate the container from a named image")
	case m == nil:
		return reference{}, fmt.Errorf("%.300q is not an image reference: recreate the container from an image named like registry.example.org/name:tag", s)
	}
	return reference{domain: m[1], path: m[2], tag: m[3], digest: m[4]}, nil
}

// repository is the canonical name of the repository, for comparing references.
func (r reference) repository() string {
	switch r.domain {
	case "", "docker.io", "index.docker.io", "registry-1.docker.io":
		if !strings.Contains(r.path, "/") {
			return "docker.io/library/" + r.path
		}
		return "docker.io/" + r.path
	}
	return r.domain + "/" + r.path
}

// tagOf is the tag that a container of ref runs, which is in doubt when ref is pinned
// by digest alone: then it is the one tag of its repository among the names of the
// image, and "" when there is none or more than one.
func tagOf(ref reference, names []string) string {
	switch {
	case ref.tag != "":
		return ref.tag
	case ref.digest == "":
		return "latest"
	}
	var found []string
	for _, name := range names {
		other, err := parseReference(name)
		if err == nil && other.tag != "" && other.repository() == ref.repository() && !slices.Contains(found, other.tag) {
			found = append(found, other.tag)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// repoDigest is the digest under which the engine got the image of ref: the one ref
// is pinned to, or that of the same repository, or the first; "" when it was built here.
func repoDigest(ref reference, digests []string) string {
	if ref.digest != "" {
		return ref.digest
	}
	first := ""
	for _, d := range digests {
		other, err := parseReference(d)
		switch {
		case err != nil:
		case other.repository() == ref.repository():
			return other.digest
		case first == "":
			first = other.digest
		}
	}
	return first
}

var idForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:sha256:)?[0-9a-f]{4,64}$`) })

// isID reports whether the text by which a container names its image is the image's
// identifier, whole or shortened, rather than a reference.
func isID(text, imageID string, tags []string) bool {
	if !idForm().MatchString(text) {
		return false
	}
	digits := strings.TrimPrefix(text, "sha256:")
	if len(digits) == 64 || digits != text {
		return true
	}
	return strings.HasPrefix(strings.TrimPrefix(imageID, "sha256:"), digits) && !slices.Contains(tags, text+":latest")
}
