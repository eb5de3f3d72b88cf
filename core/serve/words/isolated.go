package words

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Isolated says one thing that a third-party plugin is kept from, that it may use, or that it is not kept from and why;
// see plugin.Isolated.
func Isolated(text string) phrase.Phrase {
	what, why, _ := strings.Cut(text, ": ")
	if slices.Contains([]string{"memory", "processors", "files", "system calls", "rights of root"}, what) {
		return phrase.Join(": ", phrase.Stored("isolated", what), phrase.Stored("isolated", why))
	}
	return phrase.Stored("isolated", text)
}
