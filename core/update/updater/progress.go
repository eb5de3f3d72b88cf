package updater

import (
	"cmp"
	"slices"

	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Progress returns how far the step under way of an operation is; false when it is
// not under way. It changes with touches of event.OperationProgressed.
func (r *Runner) Progress(id string) (watcher.StepProgress, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, known := r.active[id]
	if !known {
		return watcher.StepProgress{}, false
	}
	return a.progress, true
}

// Progress is how far the step under way of an operation is.
type Progress struct {
	// Operation is its id, Step the text of the step.
	Operation string `json:"id"`
	Step      string `json:"step,omitempty"`
	Message   string `json:"message,omitempty"`
	// Current of Total is done; 0 when that is not known.
	Current int64 `json:"current,omitempty"`
	Total   int64 `json:"total,omitempty"`
}

// UnderWay returns how far the operations under way are, in the order of their ids.
func (r *Runner) UnderWay() []Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Progress, 0, len(r.active))
	for id, a := range r.active {
		all = append(all, Progress{
			Operation: id, Step: a.step, Message: a.progress.Message, Current: a.progress.Current, Total: a.progress.Total,
		})
	}
	slices.SortFunc(all, func(a, b Progress) int { return cmp.Compare(a.Operation, b.Operation) })
	return all
}

// States returns the operations under way as triggers see them, in the order of their
// containers. They change with touches of event.OperationProgressed.
func (r *Runner) States() []trigger.OperationState {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]trigger.OperationState, 0, len(r.active))
	for _, a := range r.active {
		all = append(all, trigger.OperationState{Watcher: a.op.Watcher, Name: a.op.Name, Running: true, Percent: a.percent()})
	}
	slices.SortFunc(all, func(a, b trigger.OperationState) int {
		return cmp.Or(cmp.Compare(a.Watcher, b.Watcher), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// took notes that a step has ended.
func (a *active) took(failed error) {
	a.progress = watcher.StepProgress{}
	switch {
	case failed != nil:
		a.taken = -1
	case a.taken >= 0:
		a.taken++
	}
}

// percent is how many of the steps are taken, with the part of the one under way; -1
// while it returns to the old container.
func (a *active) percent() int {
	if a.taken < 0 || a.steps == 0 {
		return -1
	}
	part := 0.0
	if p := a.progress; p.Total > 0 {
		part = float64(min(max(p.Current, 0), p.Total)) / float64(p.Total)
	}
	return min(int(100*(float64(a.taken)+part)/float64(a.steps)), 100)
}
