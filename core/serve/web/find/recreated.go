package find

import (
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/update/operation"
)

// relisted is how long it may take until a watcher has listed a container that an operation recreated.
const relisted = time.Minute

// recreated responds for a container that is not known since an operation is
// recreating it, or just has: its page loads again once the watcher has listed it. It
// returns false when there is no such operation.
func (f *Finder) recreated(w http.ResponseWriter, r *http.Request, watcherName, name string) bool {
	if r.Method != http.MethodGet || page.Partial(r) {
		return false
	}
	last, err := f.service.Operations(r.Context(), operation.Filter{Watcher: watcherName, Name: name, Limit: 1})
	if err != nil || len(last) == 0 || last[0].State.Ended() && last[0].Ended.Before(f.Now().Add(-relisted)) {
		return false
	}
	v := struct{ Name, Link string }{name, page.OperationPath(last[0].ID)}
	f.Show(w, r, http.StatusOK, "recreated", page.Page{
		Title: phrase.Verbatim(name), Nav: "containers", Live: page.FollowsContainers, Refresh: true, Content: v,
	})
	return true
}
