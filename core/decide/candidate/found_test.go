package candidate

import (
	"reflect"
	"testing"
	"time"
)

// TestFoundEqualNoticesEveryField that Found and Candidate have, or will have.
func TestFoundEqualNoticesEveryField(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	filled := func() Found { return Found{Candidates: []Candidate{{Tag: "1.26.0", Kind: "tag", FirstSeen: noon}}} }
	if !filled().Equal(filled()) {
		t.Fatal("the same differs")
	}
	elsewhere := filled()
	elsewhere.Candidates[0].FirstSeen = elsewhere.Candidates[0].FirstSeen.In(time.FixedZone("x", 3600))
	if !filled().Equal(elsewhere) {
		t.Error("a time in another zone differs")
	}
	change := func(of func(*Found) reflect.Value) {
		fields := of(new(filled())).NumField()
		for i := range fields {
			other := filled()
			field := of(&other).Field(i)
			switch v := field.Interface().(type) {
			case string:
				field.SetString(v + "x")
			case bool:
				field.SetBool(!v)
			case time.Time:
				field.Set(reflect.ValueOf(noon.Add(time.Second)))
			case []Candidate:
				field.SetLen(0)
			default:
				t.Fatalf("no other value for a %T", v)
			}
			if filled().Equal(other) || other.Equal(filled()) {
				t.Errorf("a change of %s is not noticed", of(&other).Type().Field(i).Name)
			}
		}
	}
	change(func(f *Found) reflect.Value { return reflect.ValueOf(f).Elem() })
	change(func(f *Found) reflect.Value { return reflect.ValueOf(&f.Candidates[0]).Elem() })
}
