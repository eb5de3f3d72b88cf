package template

import (
	"fmt"
	"time"
)

const (
	maxSteps     = 20_000                 // evaluation steps of one render
	bytesPerStep = 64                     // bytes of string work that one step pays for, so steps bound memory too
	maxText      = 64 << 10               // bytes of any string, the output included
	maxCalls     = 64                     // nested calls, and levels of nested arrays in a text
	maxMatch     = 100 * time.Millisecond // of one search by the backtracking regex engine
	maxMatching  = 500 * time.Millisecond // of all of them; more, because a busy machine stretches the clock
)

// run is the state of one render: the variables and what is left of the budgets.
type run struct {
	vars     map[string]any
	seen     map[string]any // variables converted so far
	steps    int
	calls    int
	matching time.Duration // spent in the backtracking regex engine
}

// failure ends the evaluation of a placeholder by a panic that run.placeholder recovers; that keeps
// error plumbing out of some hundred small functions. A final one ends the render: a budget is gone.
type failure struct {
	message string
	final   bool
}

func (r *run) placeholder(n node) (value string, failed *failure) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case *failure:
			value, failed = "", f
		default:
			panic(f)
		}
	}()
	return validText(r.text(r.eval(n, nil))), nil
}

func (r *run) fail(format string, args ...any) {
	panic(&failure{message: fmt.Sprintf(format, args...)})
}

func (r *run) exhaust(format string, args ...any) {
	panic(&failure{fmt.Sprintf(format, args...) + "; simplify the template", true})
}

// spend takes steps from the budget, before the work is done.
func (r *run) spend(steps int) {
	if r.steps -= steps; r.steps < 0 || steps < 0 {
		r.steps = 0
		r.exhaust("more than %d steps", maxSteps)
	}
}

// reserve pays for a string of so many bytes, before it is made.
func (r *run) reserve(size float64) {
	if size > maxText {
		r.exhaust("a text of more than %d KiB", maxText>>10)
	}
	r.spend(int(size) / bytesPerStep)
}

// read pays for work that is in proportion to the strings among the values.
func (r *run) read(values ...any) {
	for _, value := range values {
		if text, ok := value.(string); ok {
			r.spend(len(text) / bytesPerStep)
		}
	}
}

// deeper counts a nested call; the caller defers shallower.
func (r *run) deeper() {
	if r.calls++; r.calls > maxCalls {
		r.exhaust("nested more than %d calls deep", maxCalls)
	}
}

func (r *run) shallower() { r.calls-- }
