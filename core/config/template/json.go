package template

import (
	"fmt"
	"math"
	"strings"
)

// stringify is JSON.stringify without a replacer.
func stringify(r *run, a args) any {
	if !nullish(a.at(1)) {
		r.fail("JSON.stringify takes null as its second argument; a replacer is not supported")
	}
	w := jsonWriter{buffer: buffer{run: r}}
	switch indent := a.at(2).(type) {
	case float64:
		w.indent = strings.Repeat(" ", position(indent, 10, false))
	case string:
		w.indent = cut(indent, 0, min(10, unitLen(indent)))
	}
	if !hasJSON(a.at(0)) {
		return undefined{}
	}
	w.value(a.at(0), "\n")
	return w.String()
}

// hasJSON is false for what JSON leaves out of objects.
func hasJSON(v any) bool {
	return v != undefined{} && !isFunction(v)
}

type jsonWriter struct {
	buffer
	indent string
}

// value writes v; newline starts the lines at this depth.
func (w *jsonWriter) value(v any, newline string) {
	w.run.spend(1)
	switch v := v.(type) {
	case string:
		w.quote(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			w.write("null")
		} else {
			w.write(formatNumber(v))
		}
	case *date:
		w.value(v.json(), newline)
	case *regex:
		w.write("{}")
	case *array:
		w.list("[]", len(v.items), newline, func(i int, newline string) {
			w.value(v.items[i], newline)
		})
	case *object:
		if v.text != "" {
			w.quote(v.text)
			break
		}
		w.run.spend(len(v.keys))
		var keys []string
		for _, key := range v.keys {
			if hasJSON(v.values[key]) {
				keys = append(keys, key)
			}
		}
		w.list("{}", len(keys), newline, func(i int, newline string) {
			w.quote(keys[i])
			w.write(":")
			if w.indent != "" {
				w.write(" ")
			}
			w.value(v.values[keys[i]], newline)
		})
	case bool:
		w.write(w.run.text(v))
	default: // null, and what stands for it in an array
		w.write("null")
	}
}

// list writes n elements between two brackets.
func (w *jsonWriter) list(brackets string, n int, newline string, element func(i int, newline string)) {
	w.run.deeper()
	defer w.run.shallower()
	w.write(brackets[:1])
	inner := newline + w.indent
	for i := range n {
		if i > 0 {
			w.write(",")
		}
		if w.indent != "" {
			w.write(inner)
		}
		element(i, inner)
	}
	if n > 0 && w.indent != "" {
		w.write(newline)
	}
	w.write(brackets[1:])
}

func (w *jsonWriter) quote(s string) {
	const short = "\bb\ff\nn\rr\tt\"\"\\\\"
	w.write(`"`)
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		w.write(s[start:i])
		start = i + 1
		if index := strings.IndexByte(short, c); index >= 0 && index%2 == 0 {
			w.write(`\` + short[index+1:index+2])
		} else {
			w.write(fmt.Sprintf(`\u%04x`, c))
		}
	}
	w.write(s[start:])
	w.write(`"`)
}
