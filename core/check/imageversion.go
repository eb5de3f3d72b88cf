package check

import (
	"path"

	"github.com/dogwatch/dogwatch/core/tag"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

// The labels that say which version an image is (OCI image specification, annotations.md).
const (
	versionLabel = "org.opencontainers.image.version"
	refNameLabel = "org.opencontainers.image.ref.name"
	ubuntu       = "ubuntu"
)

// versionText is what a version looks like. Labels come from the makers of images: what is
// longer, or has other characters, is no version.
var versionText = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+_~-]{0,63}$`)

// versionOf returns a text if it can be a version, and else "".
func versionOf(text string) string {
	if !versionText().MatchString(text) {
		return ""
	}
	return text
}

// runningVersion is the version of the image that a container runs, by its labels, which
// engines copy from the image; "" when it is not known. Images inherit the labels of the
// image that they are built on: where those name Ubuntu, which labels its own, the version
// is of that.
func runningVersion(c *sdk.Container) string {
	if c.Labels[refNameLabel] == ubuntu && path.Base(c.Image.Name) != ubuntu {
		return ""
	}
	return versionOf(c.Labels[versionLabel])
}

// rebuiltDiff is the step between the versions of two images of one tag: sdk.DiffMajor, …;
// "" when one of them is not known, or they are the same.
func rebuiltDiff(running, offered string) string {
	if running == "" || offered == "" {
		return ""
	}
	if diff := new(tag.Selector).Diff(running, offered); diff != sdk.DiffUnknown {
		return diff
	}
	return ""
}
