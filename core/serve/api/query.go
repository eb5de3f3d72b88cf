package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// parameters returns the query parameters of a request. Each must be given once
// and be accepted by known.
func parameters(r *http.Request, known func(key string) error) (map[string]string, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, sdk.Invalid("", "the query could not be read: %v", err)
	}
	given := make(map[string]string, len(values))
	for key, all := range values {
		if err := known(key); err != nil {
			return nil, err
		}
		if len(all) != 1 {
			return nil, sdk.Invalid(key, "given %d times; give it once", len(all))
		}
		given[key] = all[0]
	}
	return given, nil
}

// oneOf accepts the parameters of a route that has only these.
func oneOf(names ...string) func(string) error {
	return func(key string) error {
		if slices.Contains(names, key) {
			return nil
		}
		if near := option.Suggest(key, names); near != "" {
			return sdk.Invalid(key, "unknown parameter: did you mean %s?", near)
		}
		return sdk.Invalid(key, "unknown parameter: known are %s", strings.Join(names, ", "))
	}
}

// number returns a query parameter that is a whole number within bounds, or otherwise
// if it is absent.
func number(given map[string]string, key string, otherwise, low, high int64) (int64, error) {
	text := given[key]
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		return 0, sdk.Invalid(key, "want a whole number from %d to %d, got %q", low, high, text)
	}
	return n, nil
}

const (
	defaultPage = 100
	maxPage     = 1000
)

// page returns the parameters of a paginated list, newest first: the id before
// which it continues, 0 for the newest, and the limit.
func page(given map[string]string) (before int64, limit int, err error) {
	n, err := number(given, "limit", defaultPage, 1, maxPage)
	if err == nil {
		before, err = number(given, "before", 0, 1, 1<<62)
	}
	return before, int(n), err
}
