package update

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

var anyTime = time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)

// filled returns a container in which every field has a value.
func filled() *sdk.Container {
	var c sdk.Container
	each(reflect.ValueOf(&c).Elem(), "", func(field reflect.Value, _ string) { set(field, 1) })
	return &c
}

// each calls do for every field that holds a value, with its path.
func each(v reflect.Value, path string, do func(reflect.Value, string)) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[sdk.Time]() {
		do(v, strings.TrimPrefix(path, "."))
		return
	}
	for i := range v.NumField() {
		each(v.Field(i), path+"."+v.Type().Field(i).Name, do)
	}
}

func set(field reflect.Value, n int) {
	switch field.Interface().(type) {
	case string:
		field.SetString(strings.Repeat("x", n))
	case bool:
		field.SetBool(n%2 == 1)
	case sdk.Time:
		field.Set(reflect.ValueOf(sdk.TimeOf(anyTime.Add(time.Duration(n) * time.Hour))))
	case map[string]string:
		field.Set(reflect.ValueOf(map[string]string{"x": strings.Repeat("x", n)}))
	case []sdk.Reason:
		field.Set(reflect.ValueOf([]sdk.Reason{{Code: strings.Repeat("x", n)}}))
	case []sdk.Skipped:
		field.Set(reflect.ValueOf([]sdk.Skipped{{Tag: strings.Repeat("x", n)}}))
	case []string:
		field.Set(reflect.ValueOf([]string{strings.Repeat("x", n)}))
	default:
		panic("no value for a " + field.Type().String())
	}
}

// TestChangedNoticesEveryField changes one field at a time, of those that a
// container has now or will have.
func TestChangedNoticesEveryField(t *testing.T) {
	ignored := map[string]Fields{
		"Check.At": CheckTime, "Result.Created": ReleaseDate, "Image.Created": ImageDetails,
		"Image.Digest.Repos": ImageDetails,
		"Base.Created":       ImageDetails,
	}
	if Changed(filled(), filled(), 0) {
		t.Fatal("two equal containers differ")
	}
	fields := 0
	each(reflect.ValueOf(filled()).Elem(), "", func(_ reflect.Value, path string) {
		fields++
		other := filled()
		each(reflect.ValueOf(other).Elem(), "", func(field reflect.Value, at string) {
			if at == path {
				set(field, 2)
			}
		})
		if !Changed(filled(), other, 0) || !Changed(filled(), other, (CheckTime|ReleaseDate|ImageDetails)&^ignored[path]) {
			t.Errorf("a change of %s is not noticed", path)
		}
		if by := ignored[path]; by != 0 && Changed(filled(), other, by) {
			t.Errorf("a change of %s is noticed, which is to be ignored", path)
		}
	})
	if fields < 40 {
		t.Errorf("only %d fields were tried", fields)
	}
}

func TestChangedIgnoresTheForm(t *testing.T) {
	for title, change := range map[string]func(*sdk.Container){
		"a time in another zone": func(c *sdk.Container) {
			c.Check.At = sdk.Time{Time: c.Check.At.In(time.FixedZone("x", 3600))}
		},
		"a time that is more precise": func(c *sdk.Container) {
			c.Image.Created = sdk.Time{Time: c.Image.Created.Add(time.Microsecond)}
		},
	} {
		other := filled()
		if change(other); Changed(filled(), other, 0) {
			t.Errorf("%s: changed", title)
		}
	}
	if Changed(&sdk.Container{}, &sdk.Container{
		Labels: map[string]string{}, Image: sdk.Image{Digest: sdk.Digest{Repos: []string{}}},
	}, 0) {
		t.Error("no labels and absent ones differ")
	}
	gone := filled()
	gone.Result = nil
	if !Changed(filled(), gone, ReleaseDate) {
		t.Error("a result that is gone is not noticed")
	}
	was, is := filled(), filled()
	Changed(was, is, CheckTime|ReleaseDate|ImageDetails)
	if !reflect.DeepEqual(was, filled()) || !reflect.DeepEqual(is, filled()) {
		t.Error("what was compared has changed")
	}
}
