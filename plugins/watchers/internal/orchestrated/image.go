package orchestrated

import (
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// ImageOf returns the image of a container after an update: as the user wrote the old one, so with a digest where that
// has one, and where the reference alone would change nothing.
func ImageOf(old string, image watcher.TargetImage) (string, error) {
	ref, err := reference.Split(image.Reference)
	if err != nil {
		return "", err
	}
	was, err := reference.Split(old)
	if err != nil {
		return "", err
	}
	if full := ref.Canonical(); was.Domain == "" && full.Domain == reference.DefaultDomain {
		ref.Domain, ref.Path = "", strings.TrimPrefix(full.Path, "library/")
	}
	digest := image.Digest
	if digest == "" && reference.IsDigest(image.ID) { // of a rollback
		digest = image.ID
	}
	if was.Tag == "" && was.Digest != "" {
		ref.Tag = ""
	}
	if digest != "" && (was.Digest != "" || ref.String() == old) {
		ref.Digest = digest
	}
	return ref.String(), nil
}

// Readable is an image as users name it: without the digest, where it has a tag.
func Readable(image string) string {
	ref, err := reference.Split(image)
	if err != nil || ref.Tag == "" {
		return image
	}
	ref.Digest = ""
	return ref.String()
}
