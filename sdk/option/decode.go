package option

import (
	"fmt"
	"net/url"
	"reflect"

	"github.com/dogwatch/dogwatch/sdk"
)

// Decode fills the struct T from raw, which may be Values or anything Resolve
// reads. The error is an *sdk.InvalidError with every problem; an unknown name is one of them.
func Decode[T any](raw map[string]any) (T, error) {
	var target T
	s, err := Of[T]()
	if err != nil {
		return target, err
	}
	values, problems, unknown := s.Resolve(raw)
	for _, name := range unknown {
		problems = append(problems, sdk.FieldError{Field: name, Detail: "unknown option"})
	}
	if len(problems) > 0 {
		return target, &sdk.InvalidError{Fields: problems}
	}
	return target, fill(reflect.ValueOf(&target).Elem(), "", values)
}

func fill(v reflect.Value, prefix string, values Values) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("option")
		var err error
		switch {
		case !tagged && f.Anonymous:
			err = fill(v.Field(i), prefix, values)
		case !tagged:
		case isGroup(f.Type):
			err = fill(v.Field(i), prefix+tag+".", values)
		default:
			o, _ := optionOf(f, prefix, tag)
			if value, set := values[o.Name]; set {
				err = assign(v.Field(i), value)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func assign(field reflect.Value, value any) error {
	if field.Type() == urlType {
		u, err := url.Parse(value.(string))
		if err != nil {
			return fmt.Errorf("parse URL: %w", err)
		}
		field.Set(reflect.ValueOf(u))
		return nil
	}
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	field.Set(reflect.ValueOf(value).Convert(field.Type()))
	return nil
}
