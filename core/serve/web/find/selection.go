package find

import (
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk"
)

// AtOnce is how many containers of a selection are checked at the same time.
const AtOnce = 4

// Chosen returns the containers with these keys, in that order, each once.
func (f *Finder) Chosen(keys []string) []sdk.Container {
	snapshot := f.service.Containers()
	var found []sdk.Container
	seen := map[string]bool{}
	for _, key := range keys {
		watcher, name, _ := strings.Cut(key, "/")
		if rec, known := snapshot.Named(watcher, name); known && !seen[key] {
			seen[key] = true
			found = append(found, rec.Container)
		}
	}
	return found
}

// RefuseSelection responds with an error to a selection that is empty or too large.
func (f *Finder) RefuseSelection(w http.ResponseWriter, r *http.Request, n int) bool {
	if n > 0 && n <= MaxSelected {
		return false
	}
	f.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
		Title:  phrase.New("Nothing was chosen"),
		Detail: phrase.New("Choose up to %d containers that still exist; then repeat it.", MaxSelected),
		Back:   phrase.New("Go to Containers"), BackTo: "/containers",
	})
	return true
}

// MaxSelected is how many containers are updated by one form.
const MaxSelected = 100
