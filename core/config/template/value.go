package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// The values of an expression are nil (null), undefined, bool, float64, string, *array, *object,
// *date, *regex, *closure and *native. All of them are immutable once made, and comparing two with
// Go's == is JavaScript's ===.

// undefined is what an absent property reads.
type undefined struct{}

type array struct {
	items []any
	match *object // index and groups, for the result of a regex match
}

// newArray pays for the array; the caller has paid for making its items.
func newArray(r *run, items []any) *array {
	r.spend(len(items))
	return &array{items: items}
}

// object keeps its keys in order of insertion. Only own keys exist: there are no prototypes, and so
// no constructor or __proto__ to climb.
type object struct {
	keys   []string
	values map[string]any
	text   string // what it prints, if not [object Object]
}

func newObject() *object { return &object{values: map[string]any{}} }

func (o *object) set(key string, value any) {
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

func (o *object) get(key string) any {
	if value, ok := o.values[key]; ok {
		return value
	}
	return undefined{}
}

// date is a point in time; the zero one is JavaScript's invalid date.
type date struct{ time.Time }

// native is a built-in function.
type native struct {
	call func(r *run, args args) any
}

// args are the arguments of a call; missing ones read undefined.
type args []any

func (a args) at(i int) any {
	if i < len(a) {
		return a[i]
	}
	return undefined{}
}

// Value converts a Go value for [Template.Render], which does the same with every variable that it
// reads: convert what is rendered often just once. Structs and everything else unusual go through
// their JSON form, so templates see JSON names, and JSON.stringify shows the fields in their order.
// The result is opaque and safe for concurrent use.
func Value(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, float64, string, undefined, *array, *object, *date:
		return v, nil
	case int:
		return float64(v), nil
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			value, err := Value(item)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			items[i] = value
		}
		return &array{items: items}, nil
	case map[string]any:
		o := newObject()
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			value, err := Value(v[key])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			o.set(key, value)
		}
		return o, nil
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decode(json.NewDecoder(bytes.NewReader(encoded)))
}

// decode reads one JSON value. Unlike json.Unmarshal it keeps the order of keys.
func decode(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		a := &array{}
		for d.More() {
			item, err := decode(d)
			if err != nil {
				return nil, err
			}
			a.items = append(a.items, item)
		}
		_, err = d.Token()
		return a, err
	case json.Delim('{'):
		o := newObject()
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := decode(d)
			if err != nil {
				return nil, err
			}
			o.set(key.(string), value)
		}
		_, err = d.Token()
		return o, err
	}
	return token, nil
}

// key turns what stands between [ ] into the name of a property.
func (r *run) key(v any) string {
	if n, ok := v.(float64); ok {
		return formatNumber(n)
	}
	return r.text(v)
}

// property reads a property; there is no way to reach anything but data.
func (r *run) property(from any, key string) any {
	switch v := from.(type) {
	case string:
		r.read(v)
		if key == "length" {
			return float64(unitLen(v))
		}
		if i, ok := index(key); ok && i < unitLen(v) {
			return cut(v, i, i+1)
		}
	case *array:
		if key == "length" {
			return float64(len(v.items))
		}
		if i, ok := index(key); ok && i < len(v.items) {
			return v.items[i]
		}
		if v.match != nil {
			return v.match.get(key)
		}
	case *object:
		return v.get(key)
	}
	return undefined{}
}

// has is the operator in.
func (r *run) has(from any, key string) bool {
	switch v := from.(type) {
	case *array:
		i, ok := index(key)
		return ok && i < len(v.items) || key == "length"
	case *object:
		_, ok := v.values[key]
		return ok
	}
	r.fail("in needs an object on its right, not %s", describe(from))
	return false
}

// index recognises the keys of array elements: 0, 1, 2, … in their shortest form.
func index(key string) (int, bool) {
	i, err := strconv.Atoi(key)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == key
}

// describe names a value in an error message.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case undefined:
		return "undefined"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return "the number " + formatNumber(v)
	case string:
		return "a string"
	case *array:
		return "an array"
	case *date:
		return "a date"
	case *regex:
		return "a regex"
	case *object:
		return "an object"
	}
	return "a function"
}
