package template

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// scope is a chain of arrow function parameters.
type scope struct {
	name  string
	value any
	up    *scope
}

// node is an expression.
type node interface {
	eval(r *run, s *scope) any
}

// eval evaluates a node for one step.
func (r *run) eval(n node, s *scope) any {
	r.spend(1)
	return n.eval(r, s)
}

type constant struct{ value any }

func (n constant) eval(*run, *scope) any { return n.value }

type name struct{ name string }

func (n name) eval(r *run, _ *scope) any {
	value, ok := r.lookup(n.name)
	if !ok {
		known := slices.Sorted(maps.Keys(r.vars))
		r.fail("unknown name %q (known: %s)", n.name, strings.Join(known, ", "))
	}
	return value
}

func (r *run) lookup(name string) (value any, ok bool) {
	if value, ok = r.seen[name]; ok {
		return value, true
	}
	if value, ok = r.vars[name]; !ok {
		return nil, false
	}
	value, err := Value(value)
	if err != nil {
		r.fail("the variable %s cannot be used: %s", name, err)
	}
	r.seen[name] = value
	return value, true
}

type local struct{ name string }

func (n local) eval(_ *run, s *scope) any {
	for s.name != n.name { // the parser has made sure that it is there
		s = s.up
	}
	return s.value
}

// text is a template literal: the literals surround the parts, so there is one more of them.
type text struct {
	literals []string
	parts    []placeholderNode
}

type placeholderNode struct {
	body   node
	source string
}

func (n *text) eval(r *run, s *scope) any {
	b := buffer{run: r}
	for i, literal := range n.literals {
		b.write(literal)
		if i < len(n.parts) {
			b.write(r.text(r.eval(n.parts[i].body, s)))
		}
	}
	return b.String()
}

type list struct{ items []node }

func (n list) eval(r *run, s *scope) any { return newArray(r, r.list(n.items, s)) }

type spread struct{ list node }

func (n spread) eval(r *run, s *scope) any { return r.eval(n.list, s) }

// list evaluates items and arguments, with spreads flattened.
func (r *run) list(nodes []node, s *scope) []any {
	values := make([]any, 0, len(nodes))
	for _, n := range nodes {
		value := r.eval(n, s)
		if _, ok := n.(spread); !ok {
			values = append(values, value)
			continue
		}
		if text, ok := value.(string); ok {
			value = split(r, text, args{""})
		}
		a, ok := value.(*array)
		if !ok {
			r.fail("only an array or a string can be spread with ..., not %s", describe(value))
		}
		r.spend(len(a.items))
		values = append(values, a.items...)
	}
	return values
}

type objectLiteral struct{ keys, values []node }

func (n objectLiteral) eval(r *run, s *scope) any {
	o := newObject()
	for i, key := range n.keys {
		o.set(r.text(r.eval(key, s)), r.eval(n.values[i], s))
	}
	return o
}

// skipped is the value of a chain after ?. has met null or undefined: nothing more is read.
type skipped struct{}

// chain ends such a chain.
type chain struct{ body node }

func (n chain) eval(r *run, s *scope) any {
	value := r.eval(n.body, s)
	if _, ok := value.(skipped); ok {
		return undefined{}
	}
	return value
}

type member struct {
	object, key node
	optional    bool
	source      string // of the object, for messages
}

func (n member) eval(r *run, s *scope) any {
	object := r.eval(n.object, s)
	if _, ok := object.(skipped); ok || n.optional && nullish(object) {
		return skipped{}
	}
	key := r.key(r.eval(n.key, s))
	if nullish(object) {
		r.fail("%s is %s, so it has no %s; ?. instead of the dot allows for that", n.source, describe(object), key)
	}
	value := r.property(object, key)
	if (value == undefined{}) && hasMethod(object, key) {
		r.fail("%s.%s is a function; call it with ()", n.source, key)
	}
	return value
}

type method struct {
	object   node
	name     string
	args     []node
	optional bool
	source   string
}

func (n method) eval(r *run, s *scope) any {
	object := r.eval(n.object, s)
	if _, ok := object.(skipped); ok || n.optional && nullish(object) {
		return skipped{}
	}
	if nullish(object) {
		r.fail("%s is %s, so it has no %s(); ?. instead of the dot allows for that", n.source, describe(object), n.name)
	}
	value, ok := r.method(object, n.name, r.list(n.args, s))
	if !ok {
		r.fail("%s is %s, which has no method %s", n.source, describe(object), n.name)
	}
	return value
}

type call struct {
	function node
	args     []node
	source   string
}

func (n call) eval(r *run, s *scope) any {
	f := r.eval(n.function, s)
	if _, ok := f.(skipped); ok {
		return f
	}
	if !isFunction(f) {
		r.fail("%s is %s, not a function", n.source, describe(f))
	}
	return r.call(f, r.list(n.args, s)...)
}

// param is a plain name, or the names of a flat pattern that starts with "[" or "{".
type param struct {
	pattern string
	names   []string
}

type arrow struct {
	params []param
	body   node
}

// closure is an arrow function together with the parameters around it.
type closure struct {
	arrow
	scope *scope
}

func (n arrow) eval(_ *run, s *scope) any { return &closure{n, s} }

// call calls an arrow function or a built-in one.
func (r *run) call(f any, values ...any) any {
	r.deeper()
	defer r.shallower()
	if native, ok := f.(*native); ok {
		r.read(values...)
		return native.call(r, values)
	}
	c, ok := f.(*closure)
	if !ok {
		r.fail("%s is given where a function is needed; write one, as in x => x.name", describe(f))
	}
	s := c.scope
	for i, p := range c.params {
		value := args(values).at(i)
		if p.pattern != "" && nullish(value) {
			r.fail("%s cannot be taken apart into %s", describe(value), strings.Join(p.names, ", "))
		}
		for j, name := range p.names {
			r.spend(1)
			switch p.pattern {
			case "[":
				s = &scope{name, r.property(value, formatNumber(float64(j))), s}
			case "{":
				s = &scope{name, r.property(value, name), s}
			default:
				s = &scope{name, value, s}
			}
		}
	}
	return r.eval(c.body, s)
}

type conditional struct{ test, then, otherwise node }

func (n conditional) eval(r *run, s *scope) any {
	if truthy(r.eval(n.test, s)) {
		return r.eval(n.then, s)
	}
	return r.eval(n.otherwise, s)
}

type logical struct {
	op          string
	left, right node
}

func (n logical) eval(r *run, s *scope) any {
	left := r.eval(n.left, s)
	if n.op == "&&" && !truthy(left) || n.op == "||" && truthy(left) || n.op == "??" && !nullish(left) {
		return left
	}
	return r.eval(n.right, s)
}

type unary struct {
	op      string
	operand node
}

func (n unary) eval(r *run, s *scope) any {
	if variable, ok := n.operand.(name); ok && n.op == "typeof" {
		if _, known := r.lookup(variable.name); !known { // JavaScript lets typeof ask for any name
			return "undefined"
		}
	}
	value := r.eval(n.operand, s)
	switch n.op {
	case "!":
		return !truthy(value)
	case "typeof":
		return typeOf(value)
	case "-":
		return -r.number(value)
	}
	return r.number(value)
}

type binary struct {
	op          string
	left, right node
}

func (n binary) eval(r *run, s *scope) any {
	left, right := r.eval(n.left, s), r.eval(n.right, s)
	r.read(left)
	switch n.op {
	case "===":
		return left == right
	case "!==":
		return left != right
	case "==":
		return r.looseEqual(left, right)
	case "!=":
		return !r.looseEqual(left, right)
	case "<", ">", "<=", ">=":
		return r.compare(n.op, left, right)
	case "in":
		return r.has(right, r.text(left))
	case "+":
		return r.add(left, right)
	}
	a, b := r.number(left), r.number(right)
	switch n.op {
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	}
	return math.Mod(a, b)
}
