package oci

import (
	"net/http"
	"strings"
)

// maxValidator is the length of the longest entity tag that is stored.
const maxValidator = 256

// entityTag returns the validator of a response, or "" when it has none fit to be stored.
func entityTag(h http.Header) string {
	tag := h.Get("ETag")
	if len(tag) > maxValidator || strings.ContainsFunc(tag, func(c rune) bool { return c < ' ' || c > '~' }) {
		return ""
	}
	return tag
}

// condition makes a request conditional (RFC 9110 section 13.1.2), if it has a validator: the registry answers 304 when
// nothing has changed.
func condition(header http.Header, validator string) {
	if validator != "" {
		header.Set("If-None-Match", validator)
	}
}

// checkCondition returns an error when a registry says that nothing has changed, which it was not asked.
func checkCondition(resp *http.Response, validator string) error {
	if resp.StatusCode == http.StatusNotModified && validator == "" {
		return protocolError("answered that nothing has changed, which nobody asked")
	}
	return nil
}
