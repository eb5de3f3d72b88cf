package option

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Values are the options of one instance by name, each of the Go type that
// belongs to its option: string, int64, float64, bool, time.Duration or
// []string (a URL is its text). Options that are not set and have no default are absent.
type Values map[string]any

// Resolve reads raw, whose keys are option names or aliases and whose values
// are text or decoded YAML or JSON, into Values with defaults applied.
// Empty text means "not set". It returns every problem at once, and the names in raw it does not know.
func (s Schema) Resolve(raw map[string]any) (Values, []sdk.FieldError, []string) {
	values := Values{}
	var problems []sdk.FieldError
	known := map[string]bool{}
	for _, o := range s {
		given, name, twice := o.given(raw, known)
		if twice {
			problems = append(problems, sdk.FieldError{
				Field: o.Name, Detail: fmt.Sprintf("given twice, also as %s; keep one", strings.Join(o.Aliases, ", ")),
			})
			continue
		}
		v, err := o.read(given)
		switch {
		case err != nil:
			problems = append(problems, sdk.FieldError{Field: name, Detail: err.Error()})
		case v != nil:
			values[o.Name] = v
		case o.Required:
			problems = append(problems, sdk.FieldError{Field: o.Name, Detail: "is required (" + o.Help + ")"})
		}
	}
	var unknown []string
	for name := range raw {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return values, problems, unknown
}

// read returns the value of the option, or nil when given and the default are
// empty. A list of nothing but commas is empty, too.
func (o Option) read(given any) (any, error) {
	if given != nil {
		if v, err := o.Parse(given); err != nil || !isEmpty(v) {
			return v, err
		}
	}
	if o.Default == nil || isEmpty(*o.Default) {
		return nil, nil
	}
	return o.Parse(*o.Default)
}

// given finds the option in raw under its name or an alias. Empty values count as not given.
func (o Option) given(raw map[string]any, known map[string]bool) (value any, name string, twice bool) {
	for _, n := range append([]string{o.Name}, o.Aliases...) {
		v, has := raw[n]
		if !has {
			continue
		}
		known[n] = true
		if isEmpty(v) {
			continue
		}
		if value != nil {
			return nil, n, true
		}
		value, name = v, n
	}
	return value, name, false
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case []string:
		return len(v) == 0
	}
	return false
}

// Parse reads one value, given as text or as decoded YAML or JSON. The error
// says what is accepted; it repeats the value only when nothing in it is secret.
func (o Option) Parse(v any) (any, error) {
	switch o.Type {
	case Bool:
		return o.parseBool(v)
	case Int:
		return o.parseInt(v)
	case Float:
		return o.parseFloat(v)
	case Duration:
		return o.parseDuration(v)
	case List:
		return o.parseList(v)
	}
	text, ok := scalarText(v)
	if !ok {
		return nil, fmt.Errorf("want one text value, got a %T", v)
	}
	if o.Type == URL {
		if err := checkURL(text); err != nil {
			return nil, o.refuse(v, err.Error())
		}
		return text, nil
	}
	return o.choose(text)
}

// refuse builds the message of a value that is not accepted.
func (o Option) refuse(v any, want string) error {
	if o.Secret || (o.Mask == MaskURL || o.Type == URL) && strings.Contains(fmt.Sprint(v), "@") {
		return fmt.Errorf("want %s", want)
	}
	return fmt.Errorf("want %s, got %q", want, fmt.Sprint(v))
}

func (o Option) choose(text string) (any, error) {
	if len(o.Choices) == 0 {
		return text, nil
	}
	for _, c := range o.Choices {
		if strings.EqualFold(c, text) {
			return c, nil
		}
	}
	return nil, o.refuse(text, "one of "+strings.Join(o.Choices, ", "))
}

func (o Option) parseBool(v any) (any, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	text, _ := scalarText(v)
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return nil, o.refuse(v, "true or false")
}

func (o Option) parseInt(v any) (any, error) {
	n, err := strconv.ParseInt(trimmed(v), 10, 64)
	if err != nil {
		return nil, o.refuse(v, "a whole number")
	}
	return n, o.inRange(float64(n), v)
}

func (o Option) parseFloat(v any) (any, error) {
	n, err := strconv.ParseFloat(trimmed(v), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, o.refuse(v, "a number")
	}
	return n, o.inRange(n, v)
}

func (o Option) inRange(n float64, v any) error {
	low, high := o.Min != nil && n < *o.Min, o.Max != nil && n > *o.Max
	switch {
	case !low && !high:
		return nil
	case o.Min == nil:
		return o.refuse(v, fmt.Sprintf("at most %v", *o.Max))
	case o.Max == nil:
		return o.refuse(v, fmt.Sprintf("at least %v", *o.Min))
	}
	return o.refuse(v, fmt.Sprintf("%v to %v", *o.Min, *o.Max))
}

// maxMilliseconds is the longest duration that fits time.Duration.
const maxMilliseconds = math.MaxInt64 / int64(time.Millisecond)

func (o Option) parseDuration(v any) (any, error) {
	if d, ok := v.(time.Duration); ok {
		return d, nil
	}
	text := trimmed(v)
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms >= 0 && ms <= maxMilliseconds {
		return time.Duration(ms) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return nil, o.refuse(v, `a duration such as "30s", or milliseconds`)
	}
	return d, nil
}

func (o Option) parseList(v any) (any, error) {
	var items []string
	switch v := v.(type) {
	case []string:
		items = v
	case []any:
		for _, e := range v {
			text, ok := scalarText(e)
			if !ok {
				return nil, o.refuse(e, "a list of texts")
			}
			items = append(items, text)
		}
	default:
		text, ok := scalarText(v)
		if !ok {
			return nil, o.refuse(v, "a list")
		}
		items = strings.Split(text, ",")
	}
	list := []string{}
	for _, item := range items {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		chosen, err := o.choose(item)
		if err != nil {
			return nil, err
		}
		list = append(list, chosen.(string))
	}
	return list, nil
}

func trimmed(v any) string {
	text, _ := scalarText(v)
	return strings.TrimSpace(text)
}

// scalarText returns the text a user would have written for a decoded scalar.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return fmt.Errorf("a URL such as https://example.org")
	}
	return nil
}

var (
	urlType      = reflect.TypeFor[*url.URL]()
	durationType = reflect.TypeFor[time.Duration]()
)

func typeOf(t reflect.Type) (Type, bool) {
	if t == urlType {
		return URL, true
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == durationType:
		return Duration, true
	case t.Kind() == reflect.String:
		return String, true
	case t.Kind() == reflect.Bool:
		return Bool, true
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return Int, true
	case t.Kind() == reflect.Float64:
		return Float, true
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return List, true
	}
	return "", false
}
