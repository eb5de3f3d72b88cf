package preview

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

// Skipped says why a version is not offered that is newer by its number alone.
func Skipped(s sdk.Skipped) phrase.Phrase { return phrase.Stored("skipped", s.Text) }

// Uncompared says why a check compared nothing, as it is stored with the check.
func Uncompared(reason string) phrase.Phrase { return phrase.Stored("uncompared", reason) }
