// Package webaddress decides which texts are addresses of web pages, and so may become links. Labels,
// plugins, release notes and scanners give such texts; javascript: and data: would run in the browser
// of who follows them, and other schemes start programs (RFC 3986 section 7; WHATWG URL, "special scheme").
package webaddress

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/internal/visible"
)

// Is reports whether u is the address of a web page: http or https, with a host that browsers take for one.
func Is(u *url.URL) bool {
	return u != nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" &&
		!strings.ContainsAny(u.Host, " \"'`<>^|{}\\") // mostly "forbidden host code points" of WHATWG URL
}

// Parse reads the address of a web page. The error quotes the beginning of the text, up to what may be
// a query with a secret.
func Parse(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if u, err := url.Parse(text); err == nil && Is(u) && visible.Line(text) == text {
		return u, nil
	}
	start, _, _ := strings.Cut(visible.Line(text), "?")
	return nil, fmt.Errorf("want an address that starts with https:// or http://, got %.40q", start)
}

// Of returns the address of the web page that text is, as browsers take it; "" when it is none.
func Of(text string) string {
	u, err := Parse(text)
	if err != nil {
		return ""
	}
	return u.String()
}
