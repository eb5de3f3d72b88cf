package check

import (
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// builtHere is why nothing is compared of an image that was made on the engine's machine. No
// registry is asked about it: its name is nobody else's business.
const builtHere = "built here, so no registry has a newer one"

// wantsDigest leaves out images of which there is nothing to compare.
func wantsDigest(s *target) bool {
	img := *s.image()
	return img.Digest.Watch && !img.Built && (!withoutDigest(img) || hasID(img))
}

// comparesDigest reports whether the image behind the tag decides, now that it is known which
// tags are newer.
func (s *target) comparesDigest() bool {
	r := &s.response
	newer := r.selection.Newer && s.rules.Threshold.Value != thresholdDigest
	return r.err == nil && r.uncompared == "" && !newer && wantsDigest(s)
}

// withoutDigest reports whether no registry ever gave the engine a digest of an image: it was
// built there, or loaded from a file.
func withoutDigest(img sdk.Image) bool { return img.Digest.Repo == "" && len(img.Digest.Repos) == 0 }

// hasID reports whether an engine identifies an image by a digest: in the classic image store
// of a Docker Engine that of the configuration, which the manifest in the registry names; in the store
// of containerd that of the manifest or index itself.
func hasID(img sdk.Image) bool { return reference.IsDigest(img.ID) }

// refused notes that a registry did not answer about a target. That it knows nothing of an
// image which came from no registry is no failure: there is nothing to compare that with. Registries
// say of repositories that do not exist that they are private, so a refused login means the same.
func (s *target) refused(err error) {
	img := *s.image()
	missing := errors.Is(err, sdk.ErrNotFound) || errors.Is(err, sdk.ErrUnauthorized)
	switch {
	case missing && s.container.Base != nil && s.labels.guessesBase():
		s.response.uncompared = "built here, and what its label says of its base image cannot be looked up: " +
			err.Error()
		return
	case !missing || s.container.Base != nil || img.ID == "" || !withoutDigest(img):
		s.response.err = err
		return
	}
	s.response.uncompared = "built or loaded here, so there is no digest to compare, " +
		"and its registry shows no such image: " + err.Error()
}

// uncompared says why a check that did not fail compared nothing; "" when it did. Of an image
// that is pinned to a digest without a tag it is known that nothing can be newer.
func uncompared(img sdk.Image, r response) string {
	switch {
	case img.Built:
		return builtHere
	case r.tags > 0 || r.digest != nil || untagged(img):
		return ""
	case r.uncompared != "":
		return r.uncompared
	case img.Tag.Semver:
		return ""
	case !img.Digest.Watch:
		return fmt.Sprintf("the tag %s is no version, and its digest is not watched: "+
			"the label %s%s=true has it watched", img.Tag.Value, label.Prefix, label.WatchDigest)
	case img.ID == "":
		return "neither a digest nor the id of a running image is known, so there is nothing to compare"
	}
	return "built or loaded here, so there is no digest to compare"
}
