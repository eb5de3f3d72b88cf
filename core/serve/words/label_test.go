package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/language"
)

// TestLabelsOfImagesAreReadWhole: of what is ignored, the label alone is no part of the sentence.
func TestLabelsOfImagesAreReadWhole(t *testing.T) {
	german := language.New().Named("de")
	for _, why := range []string{
		"only the operator may say this, by a label of the container itself", "only the operator may say this",
		"labels.image is none", "only the operator may replace tag.include (^1) by ^2",
	} {
		text := label.Ignored{Label: "dogwatch.update", Why: why}.String()
		said := phrase.Stored("labels", text)
		if got := german.Say(said); got == text || said.String() != text {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
