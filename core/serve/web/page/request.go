package page

import (
	"net/http"
	"strings"
)

// LocalPath returns a path on this server: what a form says, if it is one.
func LocalPath(given string) string {
	if !strings.HasPrefix(given, "/") || strings.HasPrefix(given, "//") || strings.ContainsAny(given, "\\\r\n\t") {
		return "/"
	}
	return given
}

// here is the path and query of the page, without the base path, to come back to.
func here(r *http.Request) string {
	if r.Method != http.MethodGet {
		return "/"
	}
	return LocalPath(r.URL.RequestURI())
}

// Partial reports whether htmx asks for a fragment rather than a page.
func Partial(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// acceptsGzip reports whether the client takes gzip. Browsers do, and other clients
// do not need it, so the weights of RFC 9110, section 12.5.3, are only read as zero or not.
func acceptsGzip(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return weight == "" || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}
