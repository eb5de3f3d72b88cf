package operations

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// forbiddenText says why a user cannot update the containers of a watcher, and what
// allows it; nil when they can, or their watcher never could.
func forbiddenText(p service.Permission) phrase.Phrase {
	if p.Allowed || p.Why == "" {
		return nil
	}
	return phrase.New("It cannot be updated from here, since %s", phrase.Sentence(phrase.Join(": ", words.Mistake(p.Why), words.Mistake(p.Remedy))))
}
