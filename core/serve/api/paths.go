package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
)

// segmentsKey is the context key of a request's path below the base path.
type segmentsKey struct{}

// segments splits an escaped path and unescapes its parts, of which one may
// hold an escaped slash. Slashes at the end do not count.
func segments(escaped string) []string {
	escaped = strings.TrimRight(strings.TrimPrefix(escaped, "/"), "/")
	if escaped == "" {
		return nil
	}
	parts := strings.Split(escaped, "/")
	for i, part := range parts {
		if plain, err := url.PathUnescape(part); err == nil {
			parts[i] = plain
		}
	}
	return parts
}

// normalizePath sets the path by which the router finds a route. As clients are
// used to, letter case and a trailing slash do not matter, HEAD stands for GET,
// and a reverse proxy may leave the base path in place or take it away.
func (h *handler) normalizePath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := segments(r.URL.EscapedPath())
		if n := len(h.base); n > 0 && len(parts) >= n && slices.EqualFunc(parts[:n], h.base, strings.EqualFold) {
			parts = parts[n:]
		}
		if len(parts) > 0 {
			noCache(w.Header(), strings.ToLower(parts[0]))
		}
		route := chi.NewRouteContext()
		route.RoutePath = routePath(parts)
		if r.Method == http.MethodHead {
			route.RouteMethod = http.MethodGet
		}
		ctx := context.WithValue(r.Context(), segmentsKey{}, parts)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, chi.RouteCtxKey, route)))
	})
}

// routePath returns the path by which the router finds the route of parts.
func routePath(parts []string) string {
	var path strings.Builder
	for _, part := range parts {
		path.WriteByte('/')
		path.WriteString(strings.ToLower(strings.ReplaceAll(part, "/", "%2F")))
	}
	if path.Len() == 0 {
		return "/"
	}
	return path.String()
}

// pathOf returns the parts of a request's path below the base path, unescaped.
func pathOf(r *http.Request) []string {
	parts, _ := r.Context().Value(segmentsKey{}).([]string)
	return parts
}

// param returns the part of the path that stands for {name} in the route, unescaped and as it was written.
func param(r *http.Request, name string) string {
	parts := pathOf(r)
	pattern := strings.Split(strings.Trim(chi.RouteContext(r.Context()).RoutePattern(), "/"), "/")
	if i := slices.Index(pattern, "{"+name+"}"); i >= 0 && i < len(parts) {
		return parts[i]
	}
	return ""
}

// noCache keeps caches from storing a response, with the headers that clients of
// WUD get.
func noCache(header http.Header, section string) {
	if isSection(section) {
		header.Set("Surrogate-Control", "no-store")
		header.Set("Cache-Control", "no-store, no-cache, must-revalidate, proxy-revalidate")
		header.Set("Expires", "0")
	}
}
