package template

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

func nullish(v any) bool { return v == nil || v == undefined{} }

func truthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	}
	return !nullish(v)
}

func isFunction(v any) bool { return typeOf(v) == "function" }

// isObject is true for everything that JavaScript compares by identity.
func isObject(v any) bool {
	return v != nil && (typeOf(v) == "object" || isFunction(v))
}

func typeOf(v any) string {
	switch v.(type) {
	case undefined:
		return "undefined"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case *closure, *native:
		return "function"
	}
	return "object"
}

// text is JavaScript's String(v), except that a function is refused: its source in a message is a
// mistake, and the most likely one is a forgotten ().
func (r *run) text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case undefined:
		return "undefined"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return formatNumber(v)
	case string:
		return v
	case *array:
		return join(r, v, ",")
	case *date:
		return v.text()
	case *regex:
		return "/" + v.source + "/" + v.flags
	case *object:
		if v.text != "" {
			return v.text
		}
		return "[object Object]"
	}
	r.fail("a function cannot be printed; call it with ()")
	return ""
}

// number is JavaScript's Number(v).
func (r *run) number(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case string:
		r.read(v)
		return parseNumber(v)
	case *date:
		return v.millis()
	case *array:
		return parseNumber(r.text(v))
	}
	return math.NaN()
}

// integer is a number without its fraction; fallback stands for undefined.
func (r *run) integer(v any, fallback float64) float64 {
	if (v == undefined{}) {
		return fallback
	}
	n := math.Trunc(r.number(v))
	if math.IsNaN(n) {
		return 0
	}
	return n
}

// primitive turns what is compared by identity into the text that operators work on.
func (r *run) primitive(v any) any {
	if isObject(v) {
		return r.text(v)
	}
	return v
}

func (r *run) add(left, right any) any {
	left, right = r.primitive(left), r.primitive(right)
	_, leftText := left.(string)
	_, rightText := right.(string)
	if !leftText && !rightText {
		return r.number(left) + r.number(right)
	}
	b := buffer{run: r}
	b.write(r.text(left))
	b.write(r.text(right))
	return b.String()
}

func (r *run) looseEqual(left, right any) bool {
	if nullish(left) || nullish(right) {
		return nullish(left) && nullish(right)
	}
	if isObject(left) && isObject(right) || typeOf(left) == typeOf(right) {
		return left == right
	}
	left, right = r.primitive(left), r.primitive(right)
	if typeOf(left) == typeOf(right) {
		return left == right
	}
	return r.number(left) == r.number(right)
}

func (r *run) compare(op string, left, right any) bool {
	if d, ok := left.(*date); ok {
		left = d.millis()
	}
	if d, ok := right.(*date); ok {
		right = d.millis()
	}
	left, right = r.primitive(left), r.primitive(right)
	order := 0
	a, leftText := left.(string)
	b, rightText := right.(string)
	if leftText && rightText {
		order = r.compareText(a, b)
	} else {
		x, y := r.number(left), r.number(right)
		if math.IsNaN(x) || math.IsNaN(y) {
			return false
		}
		order = cmp.Compare(x, y)
	}
	switch op {
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

// compareText orders strings by their UTF-16 units.
func (r *run) compareText(a, b string) int {
	r.spend((len(a) + len(b)) / bytesPerStep)
	if isASCII(a) || isASCII(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// formatNumber prints a number as JavaScript does.
func formatNumber(n float64) string {
	switch {
	case math.IsNaN(n):
		return "NaN"
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case n == 0:
		return "0" // -0 too
	}
	if size := math.Abs(n); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(n, 'e', -1, 64), "e")
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}

// parseNumber reads a whole string as a number, as JavaScript's Number does.
func parseNumber(s string) float64 {
	s = strings.TrimFunc(s, isSpace)
	if len(s) > 2 && s[0] == '0' && strings.IndexByte("xXoObB", s[1]) >= 0 {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil || strings.Contains(s, "_") {
			return math.NaN()
		}
		return float64(n)
	}
	if s == "" {
		return 0
	}
	n, size := parseDecimal(s)
	if size < len(s) {
		return math.NaN()
	}
	return n
}

// parseDecimal reads the number at the start of s and tells how long it is; it is NaN if there is none.
func parseDecimal(s string) (n float64, size int) {
	sign := 0
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign = 1
	}
	if strings.HasPrefix(s[sign:], "Infinity") {
		size = sign + len("Infinity")
	} else if digits := decimalPrefix(s[sign:]); digits > 0 {
		size = sign + digits
	} else {
		return math.NaN(), 0
	}
	n, _ = strconv.ParseFloat(s[:size], 64) // out of range gives an infinity, as it should
	return n, size
}
