package candidate

import (
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// IsDigestOnly reports whether an image is pinned: asked for by a digest that no tag is known for, so that nothing is
// newer. A tag has no colon. One that is pinned by name:tag@digest has Digest.Pinned and is compared as its tag is;
// package labels says when digests are compared, and explain.go of package check why.
func IsDigestOnly(img sdk.Image) bool { return strings.Contains(img.Tag.Value, ":") }
