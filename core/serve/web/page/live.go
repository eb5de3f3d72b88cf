package page

import (
	"context"
	"net/http"
	"strconv"
	"strings"
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

type lastKey struct{}

// Dated returns a request for a page that knows the newest event from before
// anything is read for the page: its script receives what happens after that.
func (s *Site) Dated(r *http.Request) *http.Request {
	if Partial(r) || strings.HasPrefix(r.URL.Path, "/static/") {
		return r
	}
	last, err := s.Service.LastEvent(r.Context())
	if err != nil {
		return r // whatever the page reads will fail, too, and says so
	}
	return r.WithContext(context.WithValue(r.Context(), lastKey{}, last))
}

// lastOf returns the newest event that a page may know of; "" when that is not known.
func lastOf(r *http.Request) string {
	last, known := r.Context().Value(lastKey{}).(int64)
	if !known {
		return ""
	}
	return strconv.FormatInt(last, 10)
}
