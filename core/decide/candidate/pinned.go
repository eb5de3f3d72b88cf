package candidate

import (
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// Pin gives an image that was asked for by digest alone, and whose tag the watcher does not know, that digest for a
// tag: it runs no tag, and least of all "latest". It reports whether the image is such a one.
func Pin(img *sdk.Image) bool {
	if img.Tag.Value != "" || img.Digest.Repo == "" {
		return false
	}
	img.Tag.Value, img.Digest.Pinned = img.Digest.Repo, true
	return true
}

// IsDigestOnly reports whether an image is pinned: asked for by a digest that no tag is known for, so that nothing is
// newer. A tag has no colon. One that is pinned by name:tag@digest has Digest.Pinned and is compared as its tag is;
// package labels says when digests are compared, and explain.go of package check why.
func IsDigestOnly(img sdk.Image) bool { return strings.Contains(img.Tag.Value, ":") }

// ComparesVersion reports whether an image is compared with newer versions, isVersion being what its tag looks like:
// what is pinned has no tag.
func ComparesVersion(img sdk.Image, isVersion bool) bool { return isVersion && !IsDigestOnly(img) }

// ComparesDigest reports whether a new digest behind the tag of an image counts as an update, watched being what the
// rules say: what is pinned has no tag that could move.
func ComparesDigest(img sdk.Image, watched bool) bool { return watched && !IsDigestOnly(img) }
