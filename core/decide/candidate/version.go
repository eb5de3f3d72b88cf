package candidate

import (
	"path"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

// The labels that say which version an image is (OCI image specification, annotations.md).
const (
	versionLabel = "org.opencontainers.image.version"
	refNameLabel = "org.opencontainers.image.ref.name"
	ubuntu       = "ubuntu"
)

// versionText is what a version is made of. Labels come from the makers of images: what is
// longer, or has other characters, is no version.
var versionText = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+_~-]{0,63}$`)

// isUbuntuVersion reports whether a version may be one of Ubuntu: a year, and April or October.
func isUbuntuVersion(version string) bool {
	return len(version) == len("24.04") && (strings.HasSuffix(version, ".04") || strings.HasSuffix(version, ".10"))
}

// Version returns a text if it is a version, and else "": for names of branches, which
// images that are built of them have as their version, and for hashes of commits.
func Version(text string) string {
	if !versionText().MatchString(text) || !new(tag.Selector).IsVersion(text) {
		return ""
	}
	return text
}

// RunningVersion is the version of the image that a container runs, by its labels, which
// engines copy from the image; "" when it is not known. Images inherit the labels of the
// image that they are built on: where those name Ubuntu, which labels its own, a version of
// Ubuntu is of that.
func RunningVersion(c *sdk.Container) string {
	version := c.Labels[versionLabel]
	if c.Labels[refNameLabel] == ubuntu && path.Base(c.Image.Name) != ubuntu && isUbuntuVersion(version) {
		return ""
	}
	return Version(version)
}

// Diff is the step between the versions of two images of one tag: sdk.DiffMajor, …;
// "" when one of them is not known, or they are the same.
func Diff(running, offered string) string {
	if running == "" || offered == "" {
		return ""
	}
	if diff := new(tag.Selector).Diff(running, offered); diff != sdk.DiffUnknown {
		return diff
	}
	return ""
}
