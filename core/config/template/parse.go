package template

import (
	"slices"
	"strings"
)

const (
	maxSource  = 16 << 10 // bytes of source
	maxNesting = 64       // levels of parentheses, operators, nested templates
	maxRegexes = 32       // regexes in one template
)

// parser is a recursive descent over the expressions, one token ahead.
type parser struct {
	scanner
	tok      token
	locals   []string // parameters of the arrow functions around this place
	names    []string
	depth    int
	regexes  int
	programs int // instructions of all regexes
}

// refusals explain JavaScript that is left out on purpose.
var refusals = map[string]string{
	"=":          "assignment is not supported; compare with === or ==",
	";":          "a placeholder holds one expression, without ;",
	"++":         "assignment is not supported; write + 1",
	"--":         "assignment is not supported; write - 1",
	"**":         "** is not supported; use * or a number",
	"&":          "bit operators are not supported; && means and",
	"|":          "bit operators are not supported; || means or",
	"`":          "tagged templates are not supported",
	"this":       "this does not exist in a template; start with a variable such as container",
	"function":   "function is not supported; write an arrow function, x => x.name",
	"if":         "if is not supported; write condition ? a : b",
	"instanceof": "instanceof is not supported; use typeof or Array.isArray",
	"for":        "loops are not supported; use map, filter and join",
	"while":      "loops are not supported; use map, filter and join",
}

// reserved words can be neither variables nor parameters.
var reserved = []string{
	"true", "false", "null", "undefined", "NaN", "Infinity", "new", "typeof", "in", "instanceof", "this", "function",
	"class", "async", "await",
	"yield", "if", "else", "for", "while", "do", "switch", "return", "throw", "try", "var", "let", "const", "void",
	"delete", "import",
	"super", "with", "eval", "arguments",
}

// precedence of the binary operators. ?? shares the level of ||: JavaScript refuses to mix them
// without parentheses, so no template can depend on it.
var precedence = map[string]int{
	"??": 1, "||": 1, "&&": 2, "==": 3, "!=": 3, "===": 3, "!==": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "in": 4,
	"+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
}

func (p *parser) next() { p.tok = p.token() }

// isNext tells whether the current token is this operator or word.
func (p *parser) isNext(text string) bool {
	return (p.tok.kind == tokenPunct || p.tok.kind == tokenName) && p.tok.text == text
}

func (p *parser) accept(text string) bool {
	if !p.isNext(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected("expected " + text)
	}
}

// unexpected reports the current token; wanted is said where no better explanation is known.
func (p *parser) unexpected(wanted string) {
	t := p.tok
	if t.kind == tokenEnd {
		p.fail(t.pos, "the template ends inside a placeholder; } is missing")
	}
	known := t.kind == tokenPunct || t.kind == tokenName
	switch reason := refusals[t.text]; {
	case known && reason != "":
		p.fail(t.pos, "%s", reason)
	case t.kind == tokenPunct && strings.HasSuffix(t.text, "=") && precedence[t.text] == 0:
		p.fail(t.pos, "%s", refusals["="])
	case t.kind == tokenName && slices.Contains(reserved, t.text):
		p.fail(t.pos, "%s is not supported in a template", t.text)
	}
	p.fail(t.pos, "%s, found %q", wanted, p.src[t.pos:t.end])
}

// enter counts one level of nesting; the caller defers leave.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.tok.pos, "nested more than %d levels deep; simplify the expression", maxNesting)
	}
}

func (p *parser) leave() { p.depth-- }

// template reads text and placeholders up to the end of the source, or of a nested template.
func (p *parser) template(nested bool) *text {
	p.enter()
	defer p.leave()
	t := &text{}
	for {
		literal, placeholder := p.text(nested)
		t.literals = append(t.literals, literal)
		if !placeholder {
			return t
		}
		open := p.pos - 2
		p.next()
		if p.isNext("}") {
			p.fail(open,
				"empty placeholder; write a name inside, such as ${container.name}, or \\${ for the characters themselves")
		}
		if p.tok.kind == tokenEnd {
			p.fail(open, "this placeholder is not closed: } is missing")
		}
		body := p.expression()
		if !p.isNext("}") {
			p.unexpected("expected an operator or }")
		}
		p.pos = p.tok.end
		t.parts = append(t.parts, placeholderNode{body, p.src[open:p.pos]})
	}
}

func (p *parser) expression() node {
	p.enter()
	defer p.leave()
	if f := p.arrow(); f != nil {
		return f
	}
	test := p.binary(1)
	if !p.accept("?") {
		return test
	}
	then := p.expression()
	p.expect(":")
	return conditional{test, then, p.expression()}
}

// arrow reads an arrow function, or nothing at all if there is none.
func (p *parser) arrow() node {
	pos, tok := p.pos, p.tok
	params, ok := p.params()
	if !ok || !p.isNext("=>") {
		p.pos, p.tok = pos, tok
		return nil
	}
	p.next()
	if p.isNext("{") {
		p.fail(p.tok.pos, "function bodies are not supported; write an expression after =>, and ({...}) for an object")
	}
	outer := len(p.locals)
	for _, param := range params {
		p.locals = append(p.locals, param.names...)
	}
	body := p.expression()
	p.locals = p.locals[:outer]
	return arrow{params, body}
}

func (p *parser) params() (params []param, ok bool) {
	if name, ok := p.binding(); ok {
		return []param{{names: []string{name}}}, true
	}
	if !p.accept("(") {
		return nil, false
	}
	for !p.accept(")") {
		one, ok := p.param()
		if !ok {
			return nil, false
		}
		params = append(params, one)
		if !p.accept(",") && !p.isNext(")") {
			return nil, false
		}
	}
	return params, true
}

// param reads a name, or the flat patterns [a, b] and {a, b}.
func (p *parser) param() (param, bool) {
	if name, ok := p.binding(); ok {
		return param{names: []string{name}}, true
	}
	closing := map[string]string{"[": "]", "{": "}"}[p.tok.text]
	if closing == "" || p.tok.kind != tokenPunct {
		return param{}, false
	}
	one := param{pattern: p.tok.text}
	p.next()
	for !p.accept(closing) {
		name, ok := p.binding()
		if !ok || !p.accept(",") && !p.isNext(closing) {
			return param{}, false
		}
		one.names = append(one.names, name)
	}
	return one, true
}

func (p *parser) binding() (string, bool) {
	name := p.tok.text
	if p.tok.kind != tokenName || slices.Contains(reserved, name) {
		return "", false
	}
	p.next()
	return name, true
}

func (p *parser) binary(level int) node {
	left := p.unary()
	for {
		op := p.tok.text
		if p.tok.kind != tokenPunct && op != "in" || p.tok.kind == tokenString || precedence[op] < level {
			return left
		}
		p.next()
		right := p.binary(precedence[op] + 1)
		if op == "&&" || op == "||" || op == "??" {
			left = logical{op, left, right}
		} else {
			left = binary{op, left, right}
		}
	}
}

func (p *parser) unary() node {
	p.enter()
	defer p.leave()
	for _, op := range []string{"!", "-", "+", "typeof"} {
		if p.accept(op) {
			return unary{op, p.unary()}
		}
	}
	return p.postfix()
}

// postfix reads a value and what hangs on it: properties, indexes, calls.
func (p *parser) postfix() node {
	start := p.tok.pos
	value := p.primary()
	optional := false // somewhere in this chain
	for {
		source := p.source(start)
		switch {
		case p.accept("."):
			value = p.member(value, false, source)
		case p.accept("?."):
			optional = true
			switch {
			case p.isNext("("):
				p.fail(p.tok.pos, "optional calls are not supported; remove ?. before (")
			case p.accept("["):
				value = member{value, p.index(), true, source}
			default:
				value = p.member(value, true, source)
			}
		case p.accept("["):
			value = member{value, p.index(), false, source}
		case p.accept("("):
			value = call{value, p.list(")"), source}
		case p.isNext("`"):
			p.unexpected("")
		case optional:
			return chain{value}
		default:
			return value
		}
	}
}

// source quotes what was read since start, for error messages.
func (p *parser) source(start int) string {
	return shorten(strings.TrimSpace(p.src[start:p.tok.pos]), 60)
}

func (p *parser) index() node {
	key := p.expression()
	p.expect("]")
	return key
}

// member reads what follows a dot: a property, or a method with its arguments.
func (p *parser) member(object node, optional bool, source string) node {
	name, pos := p.tok.text, p.tok.pos
	if p.tok.kind != tokenName {
		p.unexpected("expected a property name after the dot")
	}
	p.next()
	if !p.accept("(") {
		return member{object, constant{name}, optional, source}
	}
	if !isMethod(name) {
		p.fail(pos, "the method %s is not supported", name)
	}
	return method{object, name, p.list(")"), optional, source}
}

// list reads comma-separated values up to the closing bracket.
func (p *parser) list(closing string) []node {
	var items []node
	for !p.accept(closing) {
		if p.accept("...") {
			items = append(items, spread{p.expression()})
		} else {
			items = append(items, p.expression())
		}
		if !p.isNext(closing) {
			p.expect(",")
		}
	}
	return items
}
