package operations

import (
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// forbiddenText says why a user cannot update the containers of a watcher, and what
// allows it; "" when they can, or their watcher never could.
func forbiddenText(p service.Permission) string {
	if p.Allowed || p.Why == "" {
		return ""
	}
	return "It cannot be updated from here, since " + words.Sentence(words.Joined(": ", p.Why, p.Remedy))
}
