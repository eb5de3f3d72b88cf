package page

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// SelectOption is one entry of a select.
type SelectOption struct {
	Value  string
	Word   phrase.Phrase
	Chosen bool
}

// Anchor is a link to a page of ours: an a element of HTML.
type Anchor struct{ Text, To string }
