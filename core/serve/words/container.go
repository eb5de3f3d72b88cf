package words

import (
	"cmp"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

// Name is what users call a container.
func Name(c *sdk.Container) string { return cmp.Or(c.DisplayName, c.Name) }

// Names is one container by name, or how many.
func Names(containers []sdk.Container) phrase.Phrase {
	if len(containers) == 1 {
		return phrase.Verbatim(Name(&containers[0]))
	}
	return phrase.Count(len(containers), "container")
}
