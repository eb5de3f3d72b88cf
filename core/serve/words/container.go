package words

import (
	"cmp"

	"github.com/dogwatch/dogwatch/sdk"
)

// Name is what users call a container.
func Name(c *sdk.Container) string { return cmp.Or(c.DisplayName, c.Name) }

// Names is one container by name, or how many.
func Names(containers []sdk.Container) string {
	if len(containers) == 1 {
		return Name(&containers[0])
	}
	return Plural(len(containers), "container")
}
