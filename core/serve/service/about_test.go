package service

import "testing"

func TestWritten(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{{"a", "a"}, {[]string{"a", "b"}, "a,b"}, {true, "true"}, {int64(5), "5"}, {map[string]any{}, ""}} {
		if got := written(c.value); got != c.want {
			t.Errorf("%v: got %q", c.value, got)
		}
	}
}
