package preview

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

// Skipped says why a version is not offered that is newer by its number alone.
func Skipped(s sdk.Skipped) phrase.Phrase {
	return phrase.Read(s.Text,
		"%s was built %s months before what runs",
		"%s was built %s years before what runs",
		"%s was built %s months before what %s holds",
		"%s was built %s years before what %s holds",
	)
}

// Uncompared says why a check compared nothing, as it is stored with the check.
func Uncompared(reason string) phrase.Phrase {
	return phrase.Read(reason,
		"built here, so no registry has a newer one",
		"the tag %s is no version, and its digest is not watched: the label %s=true has it watched",
		"neither a digest nor the id of a running image is known, so there is nothing to compare",
		"built or loaded here, so there is no digest to compare",
		"built or loaded here, so there is no digest to compare, and its registry shows no such image: %s",
		"built here, and what its label says of its base image cannot be looked up: %s",
		"built here, and neither the digest of its base image nor when both were made is known",
		"the engine has only the id of the image, which the manifest behind the tag does not name",
		"%s gives no digest of the tag %s",
	)
}
