package decision

import (
	"fmt"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/sdk"
)

// builtHere is why nothing is compared of an image that was made on the engine's machine. No
// registry is asked about it: its name is nobody else's business.
const builtHere = "built here, so no registry has a newer one"

// uncompared says why a check that did not fail compared nothing; "" when it did. Of an image
// that is pinned to a digest without a tag it is known that nothing can be newer.
func uncompared(img sdk.Image, r candidate.Answer) string {
	switch {
	case img.Built:
		return builtHere
	case r.Tags > 0 || r.Digest != nil || candidate.IsDigestOnly(img):
		return ""
	case r.Uncompared != "":
		return r.Uncompared
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
