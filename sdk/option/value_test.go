package option_test

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func schema(t testing.TB) option.Schema {
	t.Helper()
	s, err := option.Of[all]()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParse(t *testing.T) {
	s := schema(t)
	for _, c := range []struct {
		name string
		in   any
		want any    // nil when refused
		err  string // what the refusal says
	}{
		{"topic", "x", "x", ""},
		{"topic", " x ", " x ", ""},
		{"topic", 8080, "8080", ""},
		{"topic", uint64(math.MaxUint64), "18446744073709551615", ""},
		{"topic", true, "true", ""},
		{"topic", 1.5, "1.5", ""},
		{"topic", json.Number("17"), "17", ""},
		{"topic", []any{"a"}, nil, "want one text value"},
		{"topic", map[string]any{}, nil, "want one text value"},

		{"level", "3", int64(3), ""},
		{"level", " 5 ", int64(5), ""},
		{"level", 1, int64(1), ""},
		{"level", int64(1), int64(1), ""},
		{"level", 3.0, int64(3), ""},
		{"level", "0", nil, "want 1 to 5"},
		{"level", "6", nil, `want 1 to 5, got "6"`},
		{"level", "3.5", nil, "want a whole number"},
		{"level", "many", nil, "want a whole number"},
		{"level", "", nil, "want a whole number"},
		{"big", "9223372036854775807", int64(math.MaxInt64), ""},
		{"big", "9223372036854775808", nil, "want a whole number"},
		{"big", "0x10", nil, "want a whole number"},

		{"ratio", "0.5", 0.5, ""},
		{"ratio", "1e3", 1000.0, ""},
		{"ratio", "-1", nil, "want at least 0"},
		{"ratio", "NaN", nil, "want a number"},
		{"ratio", "Inf", nil, "want a number"},
		{"percent", "100", 100.0, ""},
		{"percent", "100.5", nil, "want at most 100"},

		{"tls.verify", "TRUE", true, ""},
		{"tls.verify", "yes", true, ""},
		{"tls.verify", "on", true, ""},
		{"tls.verify", 1, true, ""},
		{"tls.verify", "False", false, ""},
		{"tls.verify", "no", false, ""},
		{"tls.verify", "off", false, ""},
		{"tls.verify", 0, false, ""},
		{"tls.verify", false, false, ""},
		{"tls.verify", "perhaps", nil, "want true or false"},
		{"tls.verify", 2, nil, "want true or false"},

		{"timeout", "1m30s", 90 * time.Second, ""},
		{"timeout", "1500", 1500 * time.Millisecond, ""},
		{"timeout", 1500, 1500 * time.Millisecond, ""},
		{"timeout", time.Minute, time.Minute, ""},
		{"timeout", "0", time.Duration(0), ""},
		{"timeout", "-1s", nil, "want a duration"},
		{"timeout", "-1", nil, "want a duration"},
		{"timeout", "soon", nil, "want a duration"},
		{"timeout", "9223372036854775807", nil, "want a duration"},
		{"timeout", "9223372036854", 9223372036854 * time.Millisecond, ""},

		{"url", "https://ntfy.sh/x?y=z", "https://ntfy.sh/x?y=z", ""},
		{"url", "ntfy.sh", nil, "want a URL such as https://example.org"},
		{"url", "localhost:5000", nil, "want a URL such as https://example.org"},
		{"url", "http://", nil, "want a URL such as https://example.org"},
		{"url", "http://a b/", nil, "want a URL such as https://example.org"},

		{"mode", "ONE", "one", ""},
		{"mode", "two", "Two", ""},
		{"mode", "three", nil, `want one of one, Two, got "three"`},

		{"tags", "a, b,,a", []string{"a", "B", "a"}, ""},
		{"tags", []any{"a", "B"}, []string{"a", "B"}, ""},
		{"tags", []string{"a"}, []string{"a"}, ""},
		{"tags", "c", nil, "want one of a, B"},
		{"tags", []any{[]any{}}, nil, "want a list of texts"},
		{"tags", map[string]any{}, nil, "want a list"},
	} {
		o, _ := s.Find(c.name)
		got, err := o.Parse(c.in)
		switch {
		case c.want != nil && (err != nil || !reflect.DeepEqual(got, c.want)):
			t.Errorf("%s = %#v: got %#v, %v, want %#v", c.name, c.in, got, err, c.want)
		case c.want == nil && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s = %#v: got %#v, %v, want %q", c.name, c.in, got, err, c.err)
		}
	}
}

func TestParseErrorsHideSecrets(t *testing.T) {
	for _, o := range []option.Option{
		{Name: "pin", Type: option.Int, Secret: true},
		{Name: "hook", Type: option.URL, Secret: true},
		{Name: "url", Type: option.URL},
		{Name: "proxy", Type: option.URL, Mask: option.MaskURL},
		{Name: "mode", Type: option.String, Secret: true, Choices: []string{"a"}},
		{Name: "on", Type: option.Bool, Secret: true},
		{Name: "wait", Type: option.Duration, Secret: true},
		{Name: "list", Type: option.List, Secret: true, Choices: []string{"a"}},
	} {
		if _, err := o.Parse("ann:s3cret@a b"); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v", o.Name, err)
		}
	}
}

func TestResolve(t *testing.T) {
	s := schema(t)
	defaults := option.Values{
		"timeout": 10 * time.Second, "url": "https://ntfy.sh", "mode": "one", "level": int64(3), "tls.verify": true,
	}
	with := func(more option.Values) option.Values {
		v := option.Values{}
		for name, value := range defaults {
			v[name] = value
		}
		for name, value := range more {
			v[name] = value
		}
		return v
	}
	for name, c := range map[string]struct {
		raw      map[string]any
		want     option.Values
		problems []string // beginnings of the problems
		unknown  []string
	}{
		"defaults": {map[string]any{"topic": "t"}, with(option.Values{"topic": "t"}), nil, nil},
		"nothing":  {nil, defaults, []string{"topic: is required (Topic to publish to)"}, nil},
		"empty is unset": {map[string]any{"topic": "t", "mode": "", "tags": []any{}, "token": nil, "maybe": ""},
			with(option.Values{"topic": "t"}), nil, nil},
		"required empty": {map[string]any{"topic": ""}, defaults, []string{"topic: is required"}, nil},
		"alias": {map[string]any{"topic": "t", "pass": "p"}, with(option.Values{"topic": "t", "token": "p"}),
			nil, nil},
		"empty and alias": {map[string]any{"topic": "t", "token": "", "key": "p"},
			with(option.Values{"topic": "t", "token": "p"}), nil, nil},
		"given twice": {map[string]any{"topic": "t", "token": "a", "pass": "b"}, with(option.Values{"topic": "t"}),
			[]string{"token: given twice, also as pass, key"}, nil},
		"all at once": {
			map[string]any{"level": "9", "mode": "x", "tpic": 1, "zzz": 2},
			option.Values{"timeout": 10 * time.Second, "url": "https://ntfy.sh", "tls.verify": true},
			[]string{"topic: is required", "mode: want one of", "level: want 1 to 5"},
			[]string{"tpic", "zzz"},
		},
		"the name that was used": {map[string]any{"topic": "t", "pass": []any{}, "key": map[string]any{}},
			with(option.Values{"topic": "t"}), []string{"key: want one text"}, nil},
	} {
		values, problems, unknown := s.Resolve(c.raw)
		if !reflect.DeepEqual(values, c.want) {
			t.Errorf("%s: got %v, want %v", name, values, c.want)
		}
		if len(problems) != len(c.problems) {
			t.Errorf("%s: got the problems %v", name, problems)
			continue
		}
		for i, p := range problems {
			if !strings.HasPrefix(p.Error(), c.problems[i]) {
				t.Errorf("%s: got %q, want %q", name, p, c.problems[i])
			}
		}
		if !reflect.DeepEqual(unknown, c.unknown) {
			t.Errorf("%s: got the unknown names %q", name, unknown)
		}
	}
}

func TestDecode(t *testing.T) {
	got, err := option.Decode[all](map[string]any{
		"topic": "t", "key": "s3cret", "level": "5", "big": "7", "ratio": "0.5", "tags": "a,b", "maybe": "0",
		"tls.verify": "no",
		"timeout":    "1m", "url": "http://localhost:80/x",
	})
	if err != nil {
		t.Fatal(err)
	}
	zero := 0
	want := all{
		common: common{Timeout: time.Minute},
		URL:    &url.URL{Scheme: "http", Host: "localhost:80", Path: "/x"},
		Topic:  "t", Token: "s3cret", Mode: "one", Level: 5, Big: 7, Ratio: 0.5, Tags: []string{"a", "B"}, Maybe: &zero,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecodeReportsEveryProblem(t *testing.T) {
	_, err := option.Decode[all](map[string]any{"level": 9, "tpic": "t"})
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v", err)
	}
	var fields []string
	for _, f := range invalid.Fields {
		fields = append(fields, f.Field)
	}
	if want := []string{"topic", "level", "tpic"}; !reflect.DeepEqual(fields, want) {
		t.Errorf("got %q, want %q", fields, want)
	}
	type broken struct {
		A string `option:"a"`
	}
	if _, err := option.Decode[broken](nil); err == nil || errors.As(err, &invalid) && len(invalid.Fields) == 0 {
		t.Errorf("a broken declaration: got %v", err)
	}
}

// FuzzResolve reads anything that YAML, JSON or the environment can hold: what
// is accepted is of the option's type, is accepted again, and fits the struct.
func FuzzResolve(f *testing.F) {
	f.Add("topic", "x", "level", "3", byte(0))
	f.Add("timeout", "9223372036854775807", "url", "http://[::1]:99999/%zz", byte(1))
	f.Add("tags", ",a,,b ,", "pass", "\xff", byte(2))
	f.Add("maybe", "-0", "ratio", "1e400", byte(3))
	s := schema(f)
	f.Fuzz(func(t *testing.T, name1, text1, name2, text2 string, shape byte) {
		raw := map[string]any{"topic": "t", name1: shaped(text1, shape), name2: shaped(text2, shape/4)}
		values, problems, unknown := s.Resolve(raw)
		decoded, err := option.Decode[all](raw)
		if (err == nil) != (len(problems)+len(unknown) == 0) {
			t.Fatalf("Resolve has the problems %v and %q, Decode %v", problems, unknown, err)
		}
		for _, p := range problems {
			if p.Field == "" || p.Detail == "" {
				t.Errorf("a problem says nothing: %+v", p)
			}
		}
		if again, more, _ := s.Resolve(values); len(problems) == 0 && (len(more) > 0 || !reflect.DeepEqual(again, values)) {
			t.Errorf("%v, read again, is %v with %v", values, again, more)
		}
		if err == nil && (decoded.Topic != values["topic"] || int64(decoded.Level) != values["level"]) {
			t.Errorf("%v was decoded as %+v", values, decoded)
		}
		s.Show(values, true)
		s.Secrets(values)
	})
}

// shaped is text in one of the shapes in which decoders hand it over.
func shaped(text string, shape byte) any {
	switch shape % 4 {
	case 1:
		return []any{text, text}
	case 2:
		return json.Number(text)
	case 3:
		return map[string]any{text: text}
	}
	return text
}
