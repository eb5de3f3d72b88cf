package http

import (
	"encoding/base64"
	nethttp "net/http"
	"regexp"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// nameForm is a token of RFC 9110 section 5.6.2.
var nameForm = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// headers returns the headers of every request: those for logging in and the operator's own.
func headers(o Options) (nethttp.Header, error) {
	h := nethttp.Header{}
	authorization, err := o.Auth.header()
	if err != nil {
		return nil, err
	}
	if authorization != "" {
		h.Set("Authorization", authorization)
	}
	for i, item := range o.Headers {
		name, value, found := strings.Cut(item, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !found || !nameForm.MatchString(name):
			return nil, sdk.Invalid("headers", "item %d: want Name=value; give a value that holds a comma in a YAML list", i+1)
		case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
			return nil, sdk.Invalid("headers", "item %d: the value holds a control character", i+1)
		}
		h.Add(name, value)
	}
	return h, nil
}

// header is the value of the Authorization header; "" without credentials.
func (a Auth) header() (string, error) {
	basic := a.User != "" || a.Password != ""
	switch {
	case a.Type == "" && basic && a.Bearer != "":
		return "", sdk.Invalid("auth.type", "say BASIC or BEARER: there is a user and a token")
	case a.Type == "BEARER" && a.Bearer == "":
		return "", sdk.Invalid("auth.bearer", "is required with auth.type BEARER")
	case a.Type == "BASIC" && !basic:
		return "", sdk.Invalid("auth.user", "is required with auth.type BASIC")
	case a.Type == "BEARER", a.Type == "" && a.Bearer != "":
		return "Bearer " + a.Bearer, nil
	case basic:
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(a.User+":"+a.Password)), nil
	}
	return "", nil
}
