package template

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// primary reads a value: a literal, a name, a parenthesised expression.
func (p *parser) primary() node {
	t := p.tok
	switch {
	case t.kind == tokenNumber:
		p.next()
		return constant{t.number}
	case t.kind == tokenString:
		p.next()
		return constant{t.text}
	case t.kind == tokenName:
		p.next()
		return p.named(t)
	case p.isNext("`"):
		p.pos = t.end
		text := p.template(true)
		p.next()
		return text
	case p.isNext("/"), p.isNext("/="):
		pattern, flags := p.regex(t.pos)
		p.next()
		return constant{p.compile(t.pos, pattern, flags)}
	case p.accept("("):
		value := p.expression()
		p.expect(")")
		return value
	case p.accept("["):
		return list{p.list("]")}
	case p.accept("{"):
		return p.object()
	}
	p.unexpected("expected a value")
	return nil
}

func (p *parser) compile(pos int, pattern, flags string) *regex {
	if p.regexes++; p.regexes > maxRegexes {
		p.fail(pos, "more than %d regexes in one template", maxRegexes)
	}
	re, err := newRegex(pattern, flags)
	if err != nil {
		p.fail(pos, "%s", err)
	}
	if p.programs += re.cost; p.programs > maxPrograms {
		p.fail(pos, "the regexes of the template are too large together; use smaller repetitions such as {1,20}")
	}
	return re
}

// named reads what a word stands for. The word itself is consumed already.
func (p *parser) named(t token) node {
	switch t.text {
	case "true":
		return constant{true}
	case "false":
		return constant{false}
	case "null":
		return constant{nil}
	case "undefined":
		return constant{undefined{}}
	case "NaN":
		return constant{math.NaN()}
	case "Infinity":
		return constant{math.Inf(1)}
	case "new":
		return p.construct()
	}
	if slices.Contains(reserved, t.text) {
		p.tok, p.pos = t, t.end
		p.unexpected("")
	}
	if slices.Contains(p.locals, t.text) {
		return local{t.text}
	}
	if known := namespace(t.text); len(known) > 0 {
		return p.global(t, known)
	}
	if f, ok := globals[t.text]; ok {
		return constant{f}
	}
	if p.isNext("(") {
		p.fail(t.pos, "the function %s is not supported; there are %s", t.text, strings.Join(functionNames(), ", "))
	}
	if !slices.Contains(p.names, t.text) {
		p.names = append(p.names, t.text)
	}
	return name{t.text}
}

// global reads Math.max and its like; known lists what the namespace offers.
func (p *parser) global(t token, known []string) node {
	f, callable := globals[t.text]
	if !p.isNext(".") {
		if callable {
			return constant{f}
		}
		p.fail(t.pos, "%s cannot stand alone; there are %s", t.text, strings.Join(known, ", "))
	}
	p.next()
	full := t.text + "." + p.tok.text
	f, ok := globals[full]
	if !ok {
		p.fail(t.pos, "%s is not supported; there are %s", full, strings.Join(known, ", "))
	}
	p.next()
	return constant{f}
}

// construct reads what follows the word new.
func (p *parser) construct() node {
	t := p.tok
	f, ok := globals["new "+t.text]
	if t.kind != tokenName || !ok {
		p.fail(t.pos, "new is supported for Date, URL and RegExp only")
	}
	p.next()
	var args []node
	if p.accept("(") {
		args = p.list(")")
	}
	switch {
	case len(args) == 0 && t.text == "Date":
		p.fail(t.pos, "new Date needs an argument; a template cannot read the clock")
	case len(args) == 0:
		p.fail(t.pos, "new %s needs an argument", t.text)
	}
	return call{constant{f}, args, "new " + t.text}
}

// object reads an object literal; its "{" is consumed already.
func (p *parser) object() node {
	var o objectLiteral
	for !p.accept("}") {
		var key node
		switch t := p.tok; {
		case p.accept("["):
			key = p.index()
		case t.kind == tokenName, t.kind == tokenString:
			p.next()
			key = constant{t.text}
			if t.kind == tokenName && (p.isNext(",") || p.isNext("}")) { // {name} is short for {name: name}
				o.keys, o.values = append(o.keys, key), append(o.values, p.named(t))
				p.accept(",")
				continue
			}
		case t.kind == tokenNumber:
			p.next()
			key = constant{formatNumber(t.number)}
		default:
			p.unexpected("expected a property name")
		}
		p.expect(":")
		o.keys, o.values = append(o.keys, key), append(o.values, p.expression())
		if !p.isNext("}") {
			p.expect(",")
		}
	}
	return o
}

// namespace lists the global functions that start with name and a dot.
func namespace(name string) []string {
	var known []string
	for full := range maps.Keys(globals) {
		if strings.HasPrefix(full, name+".") {
			known = append(known, full)
		}
	}
	slices.Sort(known)
	return known
}

// functionNames lists the global functions that have no namespace.
func functionNames() []string {
	names := slices.Collect(maps.Keys(globals))
	names = slices.DeleteFunc(names, func(name string) bool { return strings.ContainsAny(name, ". ") })
	slices.Sort(names)
	return names
}
