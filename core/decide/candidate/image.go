package candidate

import (
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// SaysVersion reports whether the tag of an image says its version.
func SaysVersion(img sdk.Image) bool { return img.Tag.Semver && !img.Tag.Floating }

// Digests returns the digests under which the engine knows an image in its own repository.
func Digests(img sdk.Image) []string {
	var own []string
	for _, entry := range img.Digest.Repos {
		name, digest, ok := strings.Cut(entry, "@")
		if !ok {
			continue
		}
		if ref, err := reference.Parse(name); err == nil && ref.Domain == img.Registry.Host && ref.Path == img.Name {
			own = append(own, digest)
		}
	}
	return own
}

// IDs returns all digests by which an engine knows an image.
func IDs(img sdk.Image) []string {
	own := Digests(img)
	if img.ID != "" {
		own = append(own, img.ID)
	}
	return own
}
