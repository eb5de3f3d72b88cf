package api

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// fieldPath is the way to a scalar field of a container.
type fieldPath struct {
	index []int
	kind  reflect.Kind
}

// containerFields returns the ways to all scalar fields by the paths under
// which the JSON form has them: "image.tag.value".
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
		way := append(slices.Clone(index), i)
		switch {
		case f == reflect.TypeFor[sdk.Time](), f.Kind() == reflect.String, f.Kind() == reflect.Bool:
			fields[prefix+name] = fieldPath{index: way, kind: f.Kind()}
		case f.Kind() == reflect.Struct:
			addFields(fields, f, prefix+name+".", way)
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

// knownField refuses what neither is a field of containers nor a parameter of their list.
func (h *handler) knownField(key string) error {
	label, isLabel := strings.CutPrefix(key, labelPrefix)
	_, isField := h.fields[key]
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
