package words

import (
	"cmp"

	"github.com/dogwatch/dogwatch/sdk"
)

// Name is what users call a container.
func Name(c *sdk.Container) string { return cmp.Or(c.DisplayName, c.Name) }

// Names is one container by name, or how many.
func Names(of []sdk.Container) string {
	if len(of) == 1 {
		return Name(&of[0])
	}
	return Plural(len(of), "container")
}
