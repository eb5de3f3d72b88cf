package docker

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
)

// sameRepository reports whether two references name the same repository.
func sameRepository(a, b reference.Reference) bool {
	return a.Canonical().Name() == b.Canonical().Name()
}

// tagOf is the tag that a container of ref runs, which is in doubt when ref is pinned
// by digest alone: then it is the one tag of its repository among the names of the
// image, and "" when there is none or more than one.
func tagOf(ref reference.Reference, names []string) string {
	switch {
	case ref.Tag != "":
		return ref.Tag
	case ref.Digest == "":
		return "latest"
	}
	var found []string
	for _, name := range names {
		other, err := engine.ParseReference(name)
		if err == nil && other.Tag != "" && sameRepository(other, ref) && !slices.Contains(found, other.Tag) {
			found = append(found, other.Tag)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// repoDigest is the digest under which the engine got the image of ref: the one ref
// is pinned to, or that of the same repository, or the first; "" when it was built here.
func repoDigest(ref reference.Reference, digests []string) string {
	if ref.Digest != "" {
		return ref.Digest
	}
	first := ""
	for _, d := range digests {
		other, err := engine.ParseReference(d)
		switch {
		case err != nil:
		case sameRepository(other, ref):
			return other.Digest
		case first == "":
			first = other.Digest
		}
	}
	return first
}

var idForm = lazyregexp.New(`^(?:sha256:)?[0-9a-f]{4,64}$`)

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
