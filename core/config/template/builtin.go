package template

import (
	"cmp"
	"math"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// globals are the functions that exist without a value before the dot, and the constructors.
var globals = map[string]*native{
	"new Date": {newDate},
	"new URL":  {newURL},
	"new RegExp": {func(r *run, a args) any {
		flags := ""
		if (a.at(1) != undefined{}) {
			flags = r.text(a.at(1))
		}
		return r.regex(a.at(0), flags)
	}},

	"String": {func(r *run, a args) any {
		if len(a) == 0 {
			return ""
		}
		return r.text(a[0])
	}},
	"Number": {func(r *run, a args) any {
		if len(a) == 0 {
			return 0.0
		}
		return r.number(a[0])
	}},
	"Boolean":    {func(_ *run, a args) any { return truthy(a.at(0)) }},
	"isNaN":      {func(r *run, a args) any { return math.IsNaN(r.number(a.at(0))) }},
	"parseInt":   {parseInt},
	"parseFloat": {parseFloat},

	"Number.parseInt":   {parseInt},
	"Number.parseFloat": {parseFloat},
	"Number.isInteger": {func(_ *run, a args) any {
		n, ok := a.at(0).(float64)
		return ok && n == math.Trunc(n) && !math.IsInf(n, 0)
	}},
	"Number.isNaN": {func(_ *run, a args) any {
		n, ok := a.at(0).(float64)
		return ok && math.IsNaN(n)
	}},

	"encodeURI":          {func(r *run, a args) any { return escape(r, r.text(a.at(0)), "-_.!~*'();/?:@&=+$,#") }},
	"encodeURIComponent": {func(r *run, a args) any { return escape(r, r.text(a.at(0)), "-_.!~*'()") }},
	"decodeURIComponent": {func(r *run, a args) any {
		decoded, err := url.PathUnescape(r.text(a.at(0)))
		if err != nil || !utf8.ValidString(decoded) {
			r.fail("decodeURIComponent needs valid escapes such as %%20")
		}
		return decoded
	}},

	"Array.isArray": {func(_ *run, a args) any {
		_, ok := a.at(0).(*array)
		return ok
	}},
	"JSON.stringify": {stringify},
	"Object.keys": {func(r *run, a args) any {
		return entries(r, a.at(0), func(key string, _ any) any { return key })
	}},
	"Object.values": {func(r *run, a args) any {
		return entries(r, a.at(0), func(_ string, value any) any { return value })
	}},
	"Object.entries": {func(r *run, a args) any {
		return entries(r, a.at(0), func(key string, value any) any { return newArray(r, []any{key, value}) })
	}},

	"Math.abs":   rounding(math.Abs),
	"Math.ceil":  rounding(math.Ceil),
	"Math.floor": rounding(math.Floor),
	"Math.round": rounding(func(n float64) float64 {
		floor := math.Floor(n) // n + 0.5 would not be exact
		if n-floor >= 0.5 {
			return floor + 1
		}
		return floor
	}),
	"Math.trunc": rounding(math.Trunc),
	"Math.max":   extreme(math.Inf(-1), math.Max),
	"Math.min":   extreme(math.Inf(1), math.Min),
}

func rounding(f func(float64) float64) *native {
	return &native{func(r *run, a args) any { return f(r.number(a.at(0))) }}
}

func extreme(start float64, pick func(a, b float64) float64) *native {
	return &native{func(r *run, a args) any {
		result := start
		for _, value := range a {
			n := r.number(value)
			if math.IsNaN(n) || math.IsNaN(result) {
				result = math.NaN() // math.Max lets an infinity win
				continue
			}
			result = pick(result, n)
		}
		return result
	}}
}

// numberMethods holds what numbers can do besides toString.
var numberMethods = map[string]func(r *run, n float64, a args) any{
	"toFixed": func(r *run, n float64, a args) any {
		digits := r.integer(a.at(0), 0)
		if digits < 0 || digits > 100 {
			r.fail("toFixed takes 0 to 100 digits, not %s", formatNumber(digits))
		}
		if math.IsNaN(n) || math.Abs(n) >= 1e21 {
			return formatNumber(n)
		}
		exact := new(big.Rat).SetFloat64(n) // rounds halves away from zero, as JavaScript does
		return exact.FloatString(int(digits))
	},
}

// isMethod tells whether any value has a method of this name.
func isMethod(name string) bool {
	field, _ := dateField(name)
	return field != nil || name == "toString" || name == "hasOwnProperty" || has(stringMethods, name) ||
		has(arrayMethods, name) || has(regexMethods, name) || has(dateMethods, name) || has(numberMethods, name)
}

func has[V any](table map[string]V, name string) bool {
	_, ok := table[name]
	return ok
}

// hasMethod tells whether this very value has a method of this name, besides toString.
func hasMethod(receiver any, name string) bool {
	switch receiver.(type) {
	case string:
		return has(stringMethods, name)
	case *array:
		return has(arrayMethods, name)
	case *date:
		field, _ := dateField(name)
		return field != nil || has(dateMethods, name)
	case *regex:
		return has(regexMethods, name)
	case float64:
		return has(numberMethods, name)
	}
	return false
}

// method calls a method; ok tells whether the value has it.
func (r *run) method(receiver any, name string, a args) (value any, ok bool) {
	r.read(receiver)
	r.read(a...)
	switch v := receiver.(type) {
	case string:
		if f := stringMethods[name]; f != nil {
			return f(r, v, a), true
		}
	case *array:
		if f := arrayMethods[name]; f != nil {
			return f(r, v, a), true
		}
	case *date:
		if value, ok := v.method(r, name, a); ok {
			return value, true
		}
	case *regex:
		if f := regexMethods[name]; f != nil {
			return f(r, v, a), true
		}
	case float64:
		if f := numberMethods[name]; f != nil {
			return f(r, v, a), true
		}
		if name == "toString" && len(a) > 0 {
			return radix(r, v, r.integer(a[0], 10)), true
		}
	case *object:
		if name == "hasOwnProperty" {
			return r.has(v, r.text(a.at(0))), true
		}
	}
	if name == "toString" {
		return r.text(receiver), true
	}
	return nil, false
}

func radix(r *run, n, base float64) string {
	if base == 10 {
		return formatNumber(n)
	}
	if base < 2 || base > 36 || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		r.fail("toString(base) is supported for whole numbers and a base from 2 to 36")
	}
	return strconv.FormatInt(int64(n), int(base))
}

func parseInt(r *run, a args) any {
	s := strings.TrimFunc(r.text(a.at(0)), isSpace)
	base := int(max(-1, min(r.integer(a.at(1), 0), 37)))
	sign := 1.0
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' && (base == 0 || base == 16) {
		s, base = s[2:], 16
	}
	base = cmp.Or(base, 10)
	n, digits := 0.0, 0
	for digits < len(s) && base >= 2 && base <= 36 {
		digit, err := strconv.ParseUint(s[digits:digits+1], base, 8)
		if err != nil {
			break
		}
		n = n*float64(base) + float64(digit)
		digits++
	}
	if digits == 0 {
		return math.NaN()
	}
	return sign * n
}

func parseFloat(r *run, a args) any {
	s := r.text(a.at(0))
	n, _ := parseDecimal(strings.TrimFunc(s, isSpace))
	return n
}

// escape percent-encodes all bytes but letters, digits and those in safe.
func escape(r *run, s, safe string) string {
	r.reserve(3 * float64(len(s)))
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if isWord(c) && c != '_' || strings.IndexByte(safe, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
		}
	}
	return b.String()
}

// entries lists what Object.keys and its kin pick from an object or an array.
func entries(r *run, from any, pick func(key string, value any) any) any {
	if nullish(from) {
		r.fail("the keys of %s cannot be listed; %s is not an object", describe(from), describe(from))
	}
	var items []any
	switch v := from.(type) {
	case *object:
		r.spend(len(v.keys))
		for _, key := range v.keys {
			items = append(items, pick(key, v.values[key]))
		}
	case *array:
		r.spend(len(v.items))
		for i, item := range v.items {
			items = append(items, pick(strconv.Itoa(i), item))
		}
	}
	return newArray(r, items)
}

func newURL(r *run, a args) any {
	text := strings.TrimFunc(r.text(a.at(0)), isSpace)
	r.reserve(float64(len(text)))
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || len(a) > 1 {
		r.fail("new URL needs one absolute address such as https://host/path, not %q", shorten(text, 40))
	}
	standard := map[string]string{"http": "80", "https": "443", "ftp": "21"}
	hostname, port := strings.ToLower(u.Hostname()), u.Port()
	if port == standard[u.Scheme] {
		port = ""
	}
	if strings.Contains(hostname, ":") {
		hostname = "[" + hostname + "]"
	}
	host := strings.TrimSuffix(hostname+":"+port, ":")
	password, _ := u.User.Password()
	origin := u.Scheme + "://" + host
	path := cmp.Or(u.EscapedPath(), "/")
	search, hash := "", ""
	if u.RawQuery != "" {
		search = "?" + u.RawQuery
	}
	if u.Fragment != "" {
		hash = "#" + u.EscapedFragment()
	}
	user := ""
	if u.User != nil {
		user = u.User.String() + "@"
	}
	o := newObject()
	o.text = u.Scheme + "://" + user + host + path + search + hash
	for _, field := range [][2]string{
		{"href", o.text}, {"origin", origin}, {"protocol", u.Scheme + ":"}, {"username", u.User.Username()},
		{"password", password},
		{"host", host}, {"hostname", hostname}, {"port", port}, {"pathname", path}, {"search", search}, {"hash", hash},
	} {
		o.set(field[0], field[1])
	}
	return o
}
