package page

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

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
