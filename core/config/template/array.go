package template

import (
	"math"
	"slices"
)

// arrayMethods never change the array: sort and reverse return a new one, which is all that a single
// expression can see of them.
var arrayMethods = map[string]func(r *run, a *array, p args) any{
	"at": func(r *run, a *array, p args) any {
		n := r.integer(p.at(0), 0)
		if n < 0 {
			n += float64(len(a.items))
		}
		if n < 0 || n >= float64(len(a.items)) {
			return undefined{}
		}
		return a.items[int(n)]
	},
	"concat": func(r *run, a *array, p args) any {
		r.spend(len(a.items))
		items := slices.Clone(a.items)
		for _, value := range p {
			if other, ok := value.(*array); ok {
				r.spend(len(other.items))
				items = append(items, other.items...)
			} else {
				items = append(items, value)
			}
		}
		return newArray(r, items)
	},
	"every":  func(r *run, a *array, p args) any { return r.first(a, p, false) < 0 },
	"filter": filter,
	"find": func(r *run, a *array, p args) any {
		if i := r.first(a, p, true); i >= 0 {
			return a.items[i]
		}
		return undefined{}
	},
	"findIndex": func(r *run, a *array, p args) any { return float64(r.first(a, p, true)) },
	"flat":      func(r *run, a *array, _ args) any { return flat(r, a.items) },
	"flatMap":   func(r *run, a *array, p args) any { return flat(r, r.each(a, p.at(0))) },
	"includes": func(r *run, a *array, p args) any {
		r.spend(len(a.items))
		wanted := p.at(0)
		return slices.ContainsFunc(a.items, func(item any) bool {
			return item == wanted || item != item && wanted != wanted // NaN is included in [NaN]
		})
	},
	"indexOf": func(r *run, a *array, p args) any {
		r.spend(len(a.items))
		return float64(slices.Index(a.items, p.at(0)))
	},
	"join": func(r *run, a *array, p args) any {
		if (p.at(0) == undefined{}) {
			return join(r, a, ",")
		}
		return join(r, a, r.text(p.at(0)))
	},
	"map":     func(r *run, a *array, p args) any { return newArray(r, r.each(a, p.at(0))) },
	"reduce":  reduce,
	"reverse": reversed,
	"slice": func(r *run, a *array, p args) any {
		size := len(a.items)
		from, to := position(r.integer(p.at(0), 0), size, true), position(r.integer(p.at(1), math.Inf(1)), size, true)
		return newArray(r, a.items[from:max(from, to):max(from, to)])
	},
	"some":       func(r *run, a *array, p args) any { return r.first(a, p, true) >= 0 },
	"sort":       sorted,
	"toReversed": reversed,
	"toSorted":   sorted,
}

// each calls f for every item and returns what it returned.
func (r *run) each(a *array, f any) []any {
	r.spend(len(a.items))
	results := make([]any, len(a.items))
	for i, item := range a.items {
		results[i] = r.call(f, item, float64(i), a)
	}
	return results
}

// first returns the index of the first item for which the function says wanted, or -1.
func (r *run) first(a *array, p args, wanted bool) int {
	for i, item := range a.items {
		if truthy(r.call(p.at(0), item, float64(i), a)) == wanted {
			return i
		}
	}
	return -1
}

func filter(r *run, a *array, p args) any {
	var items []any
	for i, keep := range r.each(a, p.at(0)) {
		if truthy(keep) {
			items = append(items, a.items[i])
		}
	}
	return newArray(r, items)
}

// flat takes one level of arrays apart.
func flat(r *run, items []any) *array {
	var all []any
	for _, item := range items {
		inner, ok := item.(*array)
		if !ok {
			all = append(all, item)
			continue
		}
		r.spend(len(inner.items))
		all = append(all, inner.items...)
	}
	return newArray(r, all)
}

func reduce(r *run, a *array, p args) any {
	items, offset := a.items, 0
	if len(p) < 2 {
		if len(items) == 0 {
			r.fail("reduce of an empty array needs a first value as its second argument")
		}
		p, items, offset = args{p.at(0), items[0]}, items[1:], 1
	}
	result := p[1]
	for i, item := range items {
		result = r.call(p[0], result, item, float64(i+offset), a)
	}
	return result
}

func reversed(r *run, a *array, _ args) any {
	r.spend(len(a.items))
	items := slices.Clone(a.items)
	slices.Reverse(items)
	return newArray(r, items)
}

// sorted orders by the function given, or else by text. undefined goes last, as in JavaScript.
func sorted(r *run, a *array, p args) any {
	r.spend(len(a.items))
	items := slices.Clone(a.items)
	slices.SortStableFunc(items, func(x, y any) int {
		r.spend(1)
		_, lastX := x.(undefined)
		_, lastY := y.(undefined)
		switch {
		case lastX && lastY:
			return 0
		case lastX:
			return 1
		case lastY:
			return -1
		case p.at(0) != undefined{}:
			order := r.number(r.call(p.at(0), x, y))
			if order > 0 {
				return 1
			}
			if order < 0 {
				return -1
			}
			return 0
		}
		return r.compareText(r.text(x), r.text(y))
	})
	return newArray(r, items)
}

// join prints null and undefined as nothing.
func join(r *run, a *array, separator string) string {
	r.deeper()
	defer r.shallower()
	b := buffer{run: r}
	for i, item := range a.items {
		r.spend(1)
		if i > 0 {
			b.write(separator)
		}
		if !nullish(item) {
			b.write(r.text(item))
		}
	}
	return b.String()
}
