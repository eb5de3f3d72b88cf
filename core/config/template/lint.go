package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// Lint returns what the template reads and the variables do not have, in order of
// appearance, each with what was probably meant. It renders nothing: such a name would leave a
// gap, and such a field the word "undefined".
//
// A field that the template asks for before it uses it (container.a ? container.a.b : "",
// container.a || "") may belong to another version of the program that it was written for. It
// is only reported when it is probably misspelt.
func (t *Template) Lint(vars map[string]*Shape) []string {
	l := linter{vars: vars, guarded: map[string]int{}}
	l.shape(t.root, nil, false)
	return l.problems
}

// linter walks a template once, with the shape of each expression.
type linter struct {
	vars     map[string]*Shape
	guarded  map[string]int // paths that a condition around the present place tests
	problems []string
}

// known are the shapes of the parameters around an expression.
type known struct {
	name  string
	shape *Shape
	up    *known
}

func (l *linter) report(format string, args ...any) {
	if problem := fmt.Sprintf(format, args...); !slices.Contains(l.problems, problem) {
		l.problems = append(l.problems, problem)
	}
}

// shape returns the shape of an expression, nil if it is not known. guarded reports that the place
// is prepared for the value to be undefined.
func (l *linter) shape(n node, k *known, guarded bool) *Shape {
	switch n := n.(type) {
	case name:
		return l.variable(n.name)
	case local:
		for ; k != nil; k = k.up {
			if k.name == n.name {
				return k.shape
			}
		}
	case *text:
		for _, part := range n.parts {
			l.printed(pathOf(part.body), l.shape(part.body, k, false))
		}
		return Text
	case list:
		l.all(n.items, k)
	case spread:
		l.shape(n.list, k, false)
	case objectLiteral:
		l.all(n.keys, k)
		l.all(n.values, k)
	case chain:
		return l.shape(n.body, k, guarded)
	case member:
		return l.member(n, k, guarded)
	case method:
		return l.method(n, k, guarded)
	case call:
		l.shape(n.function, k, false)
		l.all(n.args, k)
	case arrow:
		return l.arrow(n, k, nil)
	case conditional:
		l.shape(n.test, k, true)
		return l.after(n.test, func() *Shape {
			then := l.shape(n.then, k, guarded)
			l.shape(n.otherwise, k, guarded)
			return then
		})
	case logical:
		left := l.shape(n.left, k, true)
		return l.after(n.left, func() *Shape {
			if right := l.shape(n.right, k, guarded); left == nil || n.op == "&&" {
				return right
			}
			return left
		})
	case unary:
		if _, isName := n.operand.(name); !isName || n.op != "typeof" { // which may ask for any name
			l.shape(n.operand, k, n.op == "!" || n.op == "typeof")
		}
	case binary:
		compares := strings.HasSuffix(n.op, "==") || strings.HasPrefix(n.op, "!=")
		l.shape(n.left, k, compares)
		l.shape(n.right, k, compares)
	}
	return nil
}

func (l *linter) all(nodes []node, k *known) {
	for _, n := range nodes {
		l.shape(n, k, false)
	}
}

// after walks what is only evaluated after test, which tests the fields in it.
func (l *linter) after(test node, walk func() *Shape) *Shape {
	paths := pathsIn(test)
	for _, path := range paths {
		l.guarded[path]++
	}
	shape := walk()
	for _, path := range paths {
		l.guarded[path]--
	}
	return shape
}

func (l *linter) variable(name string) *Shape {
	shape, ok := l.vars[name]
	if ok || l.guarded[name] > 0 {
		return shape
	}
	names := slices.Sorted(maps.Keys(l.vars))
	meant := ""
	if near := nearest(name, names); near != "" {
		meant = fmt.Sprintf(": did you mean %s?", near)
	}
	l.report("unknown name %q%s (known: %s)", name, meant, strings.Join(names, ", "))
	return nil
}

// member reads the shape of a property, and reports one that is not there.
func (l *linter) member(n member, k *known, guarded bool) *Shape {
	object := l.shape(n.object, k, guarded)
	key, constantKey := n.key.(constant)
	if !constantKey {
		l.shape(n.key, k, false)
		if object != nil && object.kind == listLike {
			return object.item
		}
		return nil
	}
	name, ok := key.value.(string)
	if number, isNumber := key.value.(float64); isNumber {
		name, ok = formatNumber(number), true
	}
	if !ok {
		return nil
	}
	shape, has := object.has(name)
	if !has {
		l.unknownField(pathOf(n.object), object, name, guarded)
	}
	return shape
}

// unknownField reports a property that the value at a path does not have.
func (l *linter) unknownField(path string, object *Shape, name string, guarded bool) {
	full := path + "." + name
	var near string
	if object.kind == objectLike {
		if near = nearest(name, object.names()); near != "" {
			near = path + "." + near
		}
	}
	if near == "" && (guarded || l.guarded[full] > 0) {
		return
	}
	root, _, _ := strings.Cut(path, ".")
	if near == "" && l.vars[root] != nil {
		near = l.vars[root].find(root, name)
	}
	switch {
	case near != "":
		l.report("unknown field %s: did you mean %s?", full, near)
	case object.kind == objectLike:
		l.report("unknown field %s (%s has %s)", full, path, strings.Join(object.names(), ", "))
	case object.kind == listLike:
		l.report("unknown field %s: %s is a list; write %s[0].%s, or map over it", full, path, path, name)
	default:
		l.report("unknown field %s: %s has no fields", full, path)
	}
}

// printed reports what stands where only text can, and is none.
func (l *linter) printed(path string, s *Shape) {
	switch {
	case s != nil && s.kind == listLike && s.item != nil && s.item.kind == objectLike:
		l.report("%s is a list: write %s.length, or %s.map(one => one.%s).join()", path, path, path, s.item.names()[0])
		return
	case s == nil || s.kind != objectLike:
		return
	}
	var texts []string
	for _, name := range s.names() {
		if field := s.fields[name]; field != nil && field.kind == textual {
			texts = append(texts, path+"."+name)
		}
	}
	l.report("%s has several values: write one of %s", path, strings.Join(texts, ", "))
}

// nearest returns the name that is most like a misspelt one, or that goes on from it. Of such
// short names many are alike, so the first letter has to be right.
func nearest(name string, names []string) string {
	if near := option.Suggest(name, names); near != "" && strings.EqualFold(near[:1], name[:min(1, len(name))]) {
		return near
	}
	for _, candidate := range names {
		if len(name) >= len("tag") && strings.HasPrefix(candidate, name) {
			return candidate
		}
	}
	return ""
}

// itemMethods are the methods of lists that call a function with an item, by the place of the item
// among its parameters.
var itemMethods = map[string]int{
	"map": 0, "filter": 0, "forEach": 0, "find": 0, "findLast": 0, "findIndex": 0, "findLastIndex": 0, "some": 0,
	"every": 0, "flatMap": 0, "reduce": 1,
}

func (l *linter) method(n method, k *known, guarded bool) *Shape {
	object := l.shape(n.object, k, guarded || n.optional)
	if object == nil || object.kind != listLike {
		l.all(n.args, k)
		return nil
	}
	place, takesItem := itemMethods[n.name]
	var result *Shape
	for i, arg := range n.args {
		f, isArrow := arg.(arrow)
		switch {
		case isArrow && n.name == "sort":
			l.arrow(f, k, []*Shape{object.item, object.item})
		case isArrow && takesItem && i == 0:
			items := make([]*Shape, place+1)
			items[place] = object.item
			result = l.arrow(f, k, items)
		default:
			l.shape(arg, k, false)
		}
	}
	switch n.name {
	case "filter", "slice", "sort", "reverse":
		return object
	case "map":
		return ListOf(result)
	case "find", "findLast":
		return object.item
	case "join":
		return Text
	}
	return nil
}

// arrow walks a function whose first parameters have the given shapes, and returns that of its body.
func (l *linter) arrow(n arrow, k *known, given []*Shape) *Shape {
	for i, p := range n.params {
		var shape *Shape
		if i < len(given) {
			shape = given[i]
		}
		for _, name := range p.names {
			part := shape
			if p.pattern != "" {
				part = nil
			}
			if p.pattern == "{" {
				var has bool
				if part, has = shape.has(name); !has {
					l.unknownField("{}", shape, name, false)
				}
			}
			k = &known{name, part, k}
		}
	}
	return l.shape(n.body, k, false)
}

// pathOf writes a chain of names as the author of a template would: container.image.tag.
func pathOf(n node) string {
	switch n := n.(type) {
	case name:
		return n.name
	case local:
		return n.name
	case chain:
		return pathOf(n.body)
	case member:
		object := pathOf(n.object)
		if key, ok := n.key.(constant); ok && object != "" {
			switch key := key.value.(type) {
			case string:
				return object + "." + key
			case float64:
				return object + "[" + formatNumber(key) + "]"
			}
		}
		return object + "[…]"
	}
	return "(…)"
}

// pathsIn returns the paths that a condition asks for, with the paths to them.
func pathsIn(test node) []string {
	switch n := test.(type) {
	case name, local:
		return []string{pathOf(n)}
	case chain:
		return pathsIn(n.body)
	case member:
		return append(pathsIn(n.object), pathOf(n))
	case method:
		return pathsIn(n.object)
	case logical:
		return append(pathsIn(n.left), pathsIn(n.right)...)
	case unary:
		return pathsIn(n.operand)
	case binary:
		return append(pathsIn(n.left), pathsIn(n.right)...)
	}
	return nil
}
