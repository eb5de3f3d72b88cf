package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// Pages are the HTML pages, at every path that is not the API's.
type Pages interface {
	http.Handler
	// Refuse responds with the login page, which says why the login failed.
	Refuse(w http.ResponseWriter, r *http.Request, status int, why string)
}

// page serves a page. It requires a login, but for the pages to log in and out, for
// those of signed links, and for static files.
func (h *handler) page(w http.ResponseWriter, r *http.Request) {
	parts := pathOf(r)
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		below := r.Clone(r.Context())
		here, err := url.Parse(h.here(r))
		if err != nil {
			h.failWith(w, r, fmt.Errorf("rewrite a path: %w", err)) // escaped just now; cannot fail
			return
		}
		below.URL.Path, below.URL.RawPath = here.Path, here.RawPath
		if show := h.Pages.ServeHTTP; rendersStored(r) {
			h.limitRendering(show)(w, below)
		} else {
			show(w, below)
		}
	})
	first := ""
	if len(parts) > 0 {
		first = parts[0]
	}
	switch {
	case first == "login", first == "logout", first == "static", first == "favicon.ico", first == "theme",
		first == "decide", first == "manifest.webmanifest", first == "sw.js":
		next(w, r)
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		h.require(auth.Read)(next).ServeHTTP(w, r)
	default:
		h.require(auth.Write)(next).ServeHTTP(w, r)
	}
}

// isPage reports whether a path is one of the pages.
func isPage(r *http.Request) bool {
	parts := pathOf(r)
	return len(parts) == 0 || !isSection(strings.ToLower(parts[0]))
}

// isSection reports whether a path that starts so is the API's.
func isSection(first string) bool {
	switch first {
	case "api", "auth", "health", "metrics":
		return true
	}
	return false
}

// here returns the path of a request below the base path, with its query.
func (h *handler) here(r *http.Request) string {
	var path strings.Builder
	for _, part := range pathOf(r) {
		path.WriteString("/" + url.PathEscape(part))
	}
	if path.Len() == 0 {
		path.WriteByte('/')
	}
	if r.URL.RawQuery != "" {
		path.WriteString("?" + r.URL.RawQuery)
	}
	return path.String()
}

// rendersStored reports whether a page is rendered from what is stored alone.
// Forms wait for what they do, and the explanation of a result waits for registries.
func rendersStored(r *http.Request) bool {
	parts := pathOf(r)
	explains := r.URL.Query().Has("why") || len(parts) > 0 && parts[len(parts)-1] == "why"
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !explains
}
