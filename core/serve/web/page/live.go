package page

import (
	"net/http"
)

// The families of events that a page follows, as its Live names them: the
// first words of the types of events.
const (
	FollowsContainers = "container update choice operation check trigger delivery scan"
	FollowsAll        = FollowsContainers + " component plugin"
	FollowsWatchers   = "check component plugin"
	FollowsRegistries = "check component plugin"
	FollowsTriggers   = "trigger delivery component plugin"
	FollowsPlugins    = "plugin component"
	FollowsHistory    = "container update choice operation check trigger plugin auth setting"
	FollowsOperations = "operation container"
	FollowsDeliveries = "trigger delivery"
	FollowsLog        = "log"
)

// Live renders a page that follows events. Its script loads the page
// again when one of them has come, and gets the content alone, of which it takes
// over what has changed in the parts marked with data-part.
func (s *Site) Live(w http.ResponseWriter, r *http.Request, name string, p Page) {
	if Partial(r) {
		s.Fragment(w, r, name, "content", p.Content)
		return
	}
	s.Show(w, r, http.StatusOK, name, p)
}
