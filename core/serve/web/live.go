package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// The families of events that a page follows, as its Live names them: the
// first words of the types of events.
const (
	followsContainers = "container update choice operation check trigger delivery scan"
	followsAll        = followsContainers + " component plugin"
	followsWatchers   = "check component plugin"
	followsRegistries = "check component plugin"
	followsTriggers   = "trigger delivery component plugin"
	followsPlugins    = "plugin component"
	followsHistory    = "container update choice operation check trigger plugin auth setting"
	followsOperations = "operation container"
	followsDeliveries = "trigger delivery"
)

// live renders a page that follows events. Its script loads the page
// again when one of them has come, and gets the content alone, of which it takes
// over what has changed in the parts marked with data-part.
func (u *UI) live(w http.ResponseWriter, r *http.Request, name string, p page) {
	if partial(r) {
		u.fragment(w, r, name, "content", p.Content)
		return
	}
	u.show(w, r, http.StatusOK, name, p)
}

type lastKey struct{}

// dated returns a request for a page that knows the newest event from before
// anything is read for the page: its script receives what happens after that.
func (u *UI) dated(r *http.Request) *http.Request {
	if partial(r) || strings.HasPrefix(r.URL.Path, "/static/") {
		return r
	}
	last, err := u.Service.LastEvent(r.Context())
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
