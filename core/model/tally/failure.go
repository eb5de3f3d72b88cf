package tally

import (
	"cmp"
	"slices"
)

// Failure is a reason why checks failed, and whose.
type Failure[T any] struct {
	// Text is the cause that they share, or else the error of one.
	Text string
	// Detail is the error of the first of several that share a cause; else "".
	Detail string
	Of     []T
}

// Failures groups what failed by its cause, so that one outage is one failure: the most affected first.
// What has no cause, and a cause that only one has, goes by its error. of returns both, and the error ""
// for what did not fail.
func Failures[T any](all []T, explain func(T) (cause, err string)) []Failure[T] {
	shared := map[string]int{}
	for _, one := range all {
		if cause, err := explain(one); err != "" && cause != "" {
			shared[cause]++
		}
	}
	index := map[string]int{}
	var found []Failure[T]
	for _, one := range all {
		cause, err := explain(one)
		if err == "" {
			continue
		}
		f := Failure[T]{Text: err}
		if shared[cause] > 1 {
			f = Failure[T]{Text: cause, Detail: err}
		}
		i, known := index[f.Text]
		if !known {
			i = len(found)
			index[f.Text] = i
			found = append(found, f)
		}
		found[i].Of = append(found[i].Of, one)
	}
	slices.SortStableFunc(found, func(a, b Failure[T]) int {
		return cmp.Or(len(b.Of)-len(a.Of), cmp.Compare(a.Text, b.Text))
	})
	return found
}
