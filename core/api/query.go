package api

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/store"
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

// number reads a whole number of a query, within bounds.
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

// query selects containers: those whose fields equal what is asked (all of
// them), whose name or image has q in it, after an id, up to a limit.
type query struct {
	limit    int64 // 0: no limit
	after, q string
	equal    []condition
}

// condition is a field and the text it must have.
type condition struct {
	path  fieldPath
	label string // the name of a label, when that is the field
	want  string
}

func (q query) empty() bool { return q.limit == 0 && q.after == "" && q.q == "" && len(q.equal) == 0 }

const labelPrefix = "labels."

// parseQuery reads the query of a request for containers.
func (h *handler) parseQuery(r *http.Request) (query, error) {
	var q query
	given, err := parameters(r, h.knownField)
	if err != nil {
		return q, err
	}
	if q.limit, err = number(given, "limit", 0, 1, 1<<31); err != nil {
		return q, err
	}
	q.after, q.q = given["after"], strings.ToLower(given["q"])
	for key, want := range given {
		path, isField := h.fields[key]
		switch label, isLabel := strings.CutPrefix(key, labelPrefix); {
		case isLabel:
			q.equal = append(q.equal, condition{label: label, want: want})
		case isField && path.kind == reflect.Bool:
			truth, err := strconv.ParseBool(strings.ToLower(want))
			if err != nil {
				return q, sdk.Invalid(key, "want true or false, got %q", want)
			}
			q.equal = append(q.equal, condition{path: path, want: strconv.FormatBool(truth)})
		case isField:
			q.equal = append(q.equal, condition{path: path, want: want})
		}
	}
	return q, nil
}

// apply returns the records that q selects, in their order.
func (q query) apply(records []*store.Record) ([]*store.Record, error) {
	if q.empty() {
		return records, nil
	}
	if q.after != "" {
		at := slices.IndexFunc(records, func(rec *store.Record) bool { return rec.Container.ID == q.after })
		if at < 0 {
			return nil, sdk.Invalid("after", "there is no container %q (any more)", q.after)
		}
		records = records[at+1:]
	}
	var selected []*store.Record
	for _, rec := range records {
		if q.limit > 0 && int64(len(selected)) == q.limit {
			break
		}
		if q.matches(&rec.Container) {
			selected = append(selected, rec)
		}
	}
	return selected, nil
}

func (q query) matches(c *sdk.Container) bool {
	if q.q != "" && !strings.Contains(strings.ToLower(c.Name+"\x00"+c.DisplayName+"\x00"+c.Image.Name), q.q) {
		return false
	}
	return !slices.ContainsFunc(q.equal, func(cond condition) bool { return !cond.holds(c) })
}

// holds reports whether a container has the field and its text is the wanted one.
func (cond condition) holds(c *sdk.Container) bool {
	if cond.label != "" {
		value, has := c.Labels[cond.label]
		return has && value == cond.want
	}
	text := cond.path.text(c)
	return text != "" && text == cond.want
}
