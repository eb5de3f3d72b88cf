package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/stackorder"
	"github.com/dogwatch/dogwatch/sdk"
)

// ordered is a plan that is carried out once what it waits for has ended.
type ordered struct {
	planned
	// after are those that end before it begins, by their place in the order.
	after []int
	// recreated is whether one of these recreates the container: it is another one by then,
	// and planned again.
	recreated bool
	state     orderState
}

type orderState int

const (
	orderWaiting orderState = iota
	orderStarted
	orderSucceeded
	orderStopped // it did not work out, or was not begun
)

// inOrder returns plans in the order of their dependencies. With needs, each waits for those of its
// stack that it depends on; in any case it waits for those that recreate its container.
func inOrder(ready []planned, needs bool) []ordered {
	ready = stackorder.InOrder(ready, func(p planned) sdk.Container { return p.container })
	all := make([]ordered, len(ready))
	for i, p := range ready {
		all[i].planned = p
		for n, other := range ready {
			recreates := n != i && slices.ContainsFunc(other.plan.Dependents, func(d api.Dependent) bool {
				return d.ID == p.container.ID
			})
			all[i].recreated = all[i].recreated || recreates
			if recreates || needs && n < i && stackorder.DependsOn(p.container, other.container) {
				all[i].after = append(all[i].after, n)
			}
		}
	}
	return all
}

// carryOut begins the operations and follows them to their ends, each once those that it waits for
// have ended. One that does not work out stops what depends on it.
func (r *round) carryOut(ctx context.Context, ready []planned) {
	out := r.stdout
	if r.flags.json {
		out = r.stderr
	}
	w := newOperationWait(r.client, out, r.stderr, len(r.results) > 1)
	all := inOrder(ready, r.flags.kind == operation.Update)
	r.advance(ctx, w, all)
	for res, err := range w.follow(ctx) {
		if err != nil {
			r.fail(res, err)
		} else if res.op.State != operation.Succeeded {
			res.code = exitFailure
		}
		i := slices.IndexFunc(all, func(o ordered) bool { return r.resultOf(o.container) == res })
		if all[i].state = orderSucceeded; err != nil || res.op.State != operation.Succeeded {
			all[i].state = orderStopped
		}
		r.advance(ctx, w, all)
	}
}

// advance begins what waits for nothing any more, and ends what waits for something that did not work out.
func (r *round) advance(ctx context.Context, w *operationWait, all []ordered) {
	for changed := true; changed; {
		changed = false
		for i := range all {
			o := &all[i]
			if o.state != orderWaiting {
				continue
			}
			open := slices.ContainsFunc(o.after, func(n int) bool {
				return all[n].state == orderWaiting || all[n].state == orderStarted
			})
			failed := slices.IndexFunc(o.after, func(n int) bool { return all[n].state == orderStopped })
			res := r.resultOf(o.container)
			switch {
			case failed >= 0:
				o.state = orderStopped
				on := all[o.after[failed]].container.Name
				r.fail(res, fmt.Errorf("not begun: %s, which it depends on, did not work out", on))
			case open:
				continue
			default:
				o.state = orderStopped
				if r.begin(ctx, w, o, res) {
					o.state = orderStarted
				}
			}
			changed = true
		}
	}
}

// begin starts one operation, which is followed from then on, and reports whether it did.
func (r *round) begin(ctx context.Context, w *operationWait, o *ordered, res *result) bool {
	if ctx.Err() != nil {
		r.fail(res, errors.New("interrupted before it was begun"))
		return false
	}
	p := o.planned
	if o.recreated {
		var err error
		if p, err = r.replan(ctx, p); err != nil {
			r.fail(res, err)
			return false
		}
		if len(p.plan.Blocks) > 0 {
			r.block(res, p.plan, true)
			return false
		}
	}
	wish := r.flags.change(&p.container)
	wish.Digest, wish.State = p.plan.To.Digest, p.plan.State
	// An interrupt is not to leave open whether it was begun.
	path := containerPath(p.container, string(r.flags.kind))
	if err := r.post(context.WithoutCancel(ctx), path, wish, &res.op); err != nil {
		r.fail(res, err)
		return false
	}
	w.add(res)
	return true
}

// failedBefore are the reasons of updates that --all leaves out without --retry.
var failedBefore = []string{policy.ReasonCameBack, policy.ReasonUndone}

// leaveOut returns what is updated of what --all selects, and by the ids of the others why they are
// not: what did not work before, and what depends on that. All are in the order of their dependencies.
func leaveOut(selected []sdk.Container) (kept []sdk.Container, why map[string]string) {
	why = map[string]string{}
	for _, c := range selected {
		for _, other := range selected {
			if why[other.ID] != "" && stackorder.DependsOn(c, other) {
				why[c.ID] = other.Name + ", which it depends on, is left out"
			}
		}
		if reason := failedReason(c); reason != "" {
			why[c.ID] = reason
		}
		if why[c.ID] == "" {
			kept = append(kept, c)
		}
	}
	return kept, why
}

// failedReason says why an update is left out: "did not work (2.0)"; "" where it is not.
func failedReason(c sdk.Container) string {
	if c.Decision == nil {
		return ""
	}
	for _, reason := range c.Decision.Reasons {
		if slices.Contains(failedBefore, reason.Code) {
			return fmt.Sprintf("%s (%s)", words.Reason(reason.Code), c.UpdateKind.RemoteValue)
		}
	}
	return ""
}
