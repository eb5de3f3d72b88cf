// Package template renders text with ${...} placeholders, as users wrote it for JavaScript template
// literals: escapes such as \n in the text, and a subset of JavaScript expressions in the placeholders.
//
// There is no JavaScript engine behind it, because templates come from container labels, which are
// not to be trusted: an expression can read the variables it is given and nothing else. It has no
// assignment, no loop, no I/O and no clock, and every render has a budget of steps, memory, nesting
// and output. What lies outside the subset is refused by [Parse] with the place and a remedy.
//
// The subset:
//
//   - container.labels["a.b"], list[0], ?. and spreads; literals of all kinds, regexes included
//   - ! - + typeof, + - * / %, == != === !== < > <= >=, in, && || ??, ?:
//   - arrow functions with an expression as body, and with [a, b] or {a, b} as parameters
//   - methods of strings, arrays, numbers, regexes and dates, except those that modify an array
//   - String, Number, Boolean, parseInt, parseFloat, isNaN, encodeURI(Component), decodeURIComponent,
//     JSON.stringify, Object.keys/values/entries, Array.isArray, Math without chance and powers
//   - new Date(x), new URL(x), new RegExp(x)
//
// Within the subset values behave as in JavaScript: truthiness, ==, +, the text of numbers, and an
// unknown property of a known object, which reads "undefined". Lengths and positions in strings
// count UTF-16 units; split("") and regexes work on whole characters.
package template

import (
	"fmt"
	"slices"
	"strings"
)

// Template is a parsed text. It never changes and can be rendered by many goroutines at once.
type Template struct {
	root  *text
	size  int // bytes of literal text
	names []string
}

// EvalError says which placeholder could not be rendered, and why.
type EvalError struct {
	Placeholder string // its source, shortened
	Message     string
	More        int // further placeholders that were left empty
}

func (e *EvalError) Error() string {
	more := ""
	if e.More > 0 {
		more = fmt.Sprintf(" (and %d more left empty)", e.More)
	}
	return e.Placeholder + ": " + e.Message + more
}

// Parse reads a template of at most 16 KiB. Its error is a [*SyntaxError].
func Parse(src string) (t *Template, err error) {
	p := &parser{scanner: scanner{src: src}}
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case *SyntaxError:
			t, err = nil, failure
		default:
			panic(failure)
		}
	}()
	if len(src) > maxSource {
		p.fail(maxSource, "the template is longer than %d bytes", maxSource)
	}
	t = &Template{root: p.template(false), names: p.names}
	for i, literal := range t.root.literals {
		t.root.literals[i] = validText(literal)
		t.size += len(t.root.literals[i])
	}
	return t, nil
}

// validText replaces broken UTF-8, which the transports of a message would refuse.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Names returns the variables that the template reads, in order of appearance, so that a caller can
// warn about unknown ones before anything is rendered.
func (t *Template) Names() []string { return slices.Clone(t.names) }

// Render fills the placeholders. The variables may be anything that [Value] takes.
//
// A placeholder that fails is left empty and the others are still rendered: the text is usable next
// to the error, since a message with a gap is better than no message. The error is an [*EvalError]
// about the first one. Once a budget is used up, the remaining placeholders stay empty.
func (t *Template) Render(vars map[string]any) (string, error) {
	r := &run{vars: vars, seen: map[string]any{}, steps: maxSteps}
	var out strings.Builder
	var first *EvalError
	size, exhausted := t.size, false
	for i, literal := range t.root.literals {
		out.WriteString(literal)
		if i == len(t.root.parts) {
			break
		}
		part := t.root.parts[i]
		value, failed := "", &failure{}
		if !exhausted {
			value, failed = r.placeholder(part.body)
		}
		if size += len(value); failed == nil && size > maxText {
			failed = &failure{fmt.Sprintf("the text is over %d KiB with this", maxText>>10), true}
		}
		switch {
		case failed == nil:
			out.WriteString(value)
		case first == nil:
			first = &EvalError{Placeholder: shorten(part.source, 80), Message: failed.message}
		default:
			first.More++
		}
		exhausted = exhausted || failed != nil && failed.final
	}
	if first != nil {
		return out.String(), first
	}
	return out.String(), nil
}
