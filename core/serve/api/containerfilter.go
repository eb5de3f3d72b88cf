package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// containerFilter selects containers: those that meet all conditions and whose name or image
// contains a text, after an id, up to a limit.
type containerFilter struct {
	limit       int64 // 0: no limit
	after, text string
	equal       []condition
}

// condition is a field and the text it must have.
type condition struct {
	path  fieldPath
	label string // the name of a label, when that is the field
	want  string
}

func (f containerFilter) empty() bool {
	return f.limit == 0 && f.after == "" && f.text == "" && len(f.equal) == 0
}

const labelPrefix = "labels."

// parseContainerFilter returns the filter of a request for containers.
func (h *handler) parseContainerFilter(r *http.Request) (containerFilter, error) {
	var f containerFilter
	given, err := parameters(r, h.knownField)
	if err != nil {
		return f, err
	}
	if f.limit, err = number(given, "limit", 0, 1, 1<<31); err != nil {
		return f, err
	}
	f.after, f.text = given["after"], strings.ToLower(given["q"])
	for key, want := range given {
		path, isField := h.fields[fieldOf(key)]
		switch label, isLabel := strings.CutPrefix(key, labelPrefix); {
		case isLabel:
			f.equal = append(f.equal, condition{label: label, want: want})
		case isField && path.kind == reflect.Bool:
			truth, err := strconv.ParseBool(strings.ToLower(want))
			if err != nil {
				return f, sdk.Invalid(key, "want true or false, got %q", want)
			}
			f.equal = append(f.equal, condition{path: path, want: strconv.FormatBool(truth)})
		case isField:
			f.equal = append(f.equal, condition{path: path, want: want})
		}
	}
	return f, nil
}

// apply returns the records that f selects, in their order.
func (f containerFilter) apply(records []*store.Record) ([]*store.Record, error) {
	if f.empty() {
		return records, nil
	}
	if f.after != "" {
		i := slices.IndexFunc(records, func(rec *store.Record) bool { return rec.Container.ID == f.after })
		if i < 0 {
			return nil, sdk.Invalid("after", "there is no container %q (any more)", f.after)
		}
		records = records[i+1:]
	}
	var selected []*store.Record
	for _, rec := range records {
		if f.limit > 0 && int64(len(selected)) == f.limit {
			break
		}
		if f.matches(&rec.Container) {
			selected = append(selected, rec)
		}
	}
	return selected, nil
}

func (f containerFilter) matches(c *sdk.Container) bool {
	if f.text != "" && !strings.Contains(strings.ToLower(c.Name+"\x00"+c.DisplayName+"\x00"+c.Image.Name), f.text) {
		return false
	}
	return !slices.ContainsFunc(f.equal, func(cond condition) bool { return !cond.holds(c) })
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

// fieldPath is the path to a scalar field of a container.
type fieldPath struct {
	index []int
	kind  reflect.Kind
}

// containerFields returns the paths to all scalar fields by their names in the JSON
// form: "image.tag.value".
func containerFields() map[string]fieldPath {
	fields := map[string]fieldPath{}
	addFields(fields, reflect.TypeFor[sdk.Container](), "", nil)
	return fields
}

func addFields(fields map[string]fieldPath, t reflect.Type, prefix string, index []int) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		f := t.Field(i).Type
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		path := append(slices.Clone(index), i)
		switch {
		case f == reflect.TypeFor[sdk.Time](), f.Kind() == reflect.String, f.Kind() == reflect.Bool:
			fields[prefix+name] = fieldPath{index: path, kind: f.Kind()}
		case f.Kind() == reflect.Struct:
			addFields(fields, f, prefix+name+".", path)
		}
	}
}

// text returns the field of a container as text; "" when it is absent.
func (p fieldPath) text(c *sdk.Container) string {
	v := reflect.ValueOf(c).Elem()
	for _, i := range p.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return ""
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	switch p.kind {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.String:
		return v.String()
	}
	return v.Interface().(sdk.Time).String()
}

// fieldOf returns the path of the field that a parameter names: decision=held is short for
// decision.state=held.
func fieldOf(key string) string {
	if key == "decision" {
		return "decision.state"
	}
	return key
}

// knownField refuses what neither is a field of containers nor a parameter of their list.
func (h *handler) knownField(key string) error {
	label, isLabel := strings.CutPrefix(key, labelPrefix)
	_, isField := h.fields[fieldOf(key)]
	reserved := []string{"limit", "after", "q"}
	switch {
	case isLabel && label != "", isField, slices.Contains(reserved, key):
		return nil
	case key+"." == labelPrefix || isLabel:
		return sdk.Invalid(key, "name the label: %scom.docker.compose.project", labelPrefix)
	}
	known := append(slices.Sorted(maps.Keys(h.fields)), reserved...)
	if near := option.Suggest(key, known); near != "" {
		return sdk.Invalid(key, "containers have no such field: did you mean %s?", near)
	}
	return sdk.Invalid(key, "containers have no such field; a filter is a path such as image.tag.value")
}
