package template

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Shape says what can be read of a variable. A nil Shape is a value of which nothing is
// known, such as the labels of a container: everything can be read of it. Shapes never change.
type Shape struct {
	kind   shapeKind
	fields map[string]*Shape // of an object
	item   *Shape            // of a list
}

type shapeKind int

const (
	scalar shapeKind = iota // a number or truth value
	textual
	objectLike
	listLike
)

// The shapes of plain values.
var (
	Text   = &Shape{kind: textual}
	Number = &Shape{kind: scalar}
)

// ListOf returns the shape of a list.
func ListOf(item *Shape) *Shape { return &Shape{kind: listLike, item: item} }

// ShapeOf returns the shape of a Go type as [Value] converts it: by its JSON names.
func ShapeOf(t reflect.Type) *Shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return Text // of the containers' fields, times only
	}
	switch t.Kind() {
	case reflect.String:
		return Text
	case reflect.Bool, reflect.Float32, reflect.Float64, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32,
		reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Number
	case reflect.Slice, reflect.Array:
		return ListOf(ShapeOf(t.Elem()))
	case reflect.Struct:
		s := &Shape{kind: objectLike, fields: map[string]*Shape{}}
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.IsExported() && name != "-" && name != "" {
				s.fields[name] = ShapeOf(field.Type)
			}
		}
		return s
	}
	return nil
}

// names returns the fields of an object, sorted.
func (s *Shape) names() []string { return slices.Sorted(maps.Keys(s.fields)) }

// has returns the shape of a property, and whether there is such a property.
func (s *Shape) has(key string) (*Shape, bool) {
	if s == nil {
		return nil, true
	}
	_, isIndex := index(key)
	switch s.kind {
	case objectLike:
		field, ok := s.fields[key]
		return field, ok
	case listLike:
		if isIndex {
			return s.item, true
		}
		return Number, key == "length"
	case textual:
		if isIndex {
			return Text, true
		}
		return Number, key == "length"
	}
	return nil, false
}

// find returns the path of the nearest field of a name below s, whose own path is given; "" if
// there is none.
func (s *Shape) find(path, name string) string {
	type place struct {
		*Shape
		path string
	}
	for queue := []place{{s, path}}; len(queue) > 0; queue = queue[1:] {
		next := queue[0]
		if next.Shape == nil || next.kind != objectLike {
			continue
		}
		if _, ok := next.fields[name]; ok {
			return next.path + "." + name
		}
		for _, field := range next.names() {
			queue = append(queue, place{next.fields[field], next.path + "." + field})
		}
	}
	return ""
}
