package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// round is one run of plan, update or rollback over several containers.
type round struct {
	*global
	*updating
	flags   updateFlags
	plans   []api.Plan
	results []*result
}

// fail records that something went wrong with a container, and says it.
func (r *round) fail(res *result, err error) {
	res.code, res.refusal = exitFailure, err.Error()
	var refused *refusedError
	if errors.As(err, &refused) && slices.Contains(refusals, refused.Code) {
		res.code = exitBlocked
	}
	res.left = r.flags.all && refused != nil && slices.Contains(leavesOut, refused.Code)
	repeated := slices.ContainsFunc(r.results, func(other *result) bool {
		return other != res && other.refusal == res.refusal
	})
	switch {
	case repeated && res.left:
	case repeated: // with what to do
		complain(r.stderr, res.container.Name+": "+err.Error())
	default:
		complain(r.stderr, fmt.Errorf("%s: %w", res.container.Name, err))
	}
}

// refusals are the codes of responses that say that an update is not to be: it is not
// allowed, there is none, or something stands against it.
var refusals = []string{"blocked", "forbidden", "unsupported", "no-update", "conflict", "changed"}

// leavesOut are the refusals of what --all does not mean.
var leavesOut = []string{"forbidden", "unsupported", "no-update"}

// code is the exit code: a failure is more than a refusal. What --all leaves out counts
// when that is everything.
func (r *round) code() int {
	code, all := exitOK, !slices.ContainsFunc(r.results, func(res *result) bool { return !res.left })
	for _, res := range r.results {
		if res.left && !all {
			continue
		}
		if res.code != exitOK && code != exitFailure {
			code = res.code
		}
	}
	return code
}

func (r *round) ended() []api.Operation {
	ended := []api.Operation{}
	for _, res := range r.results {
		if res.op.ID != "" {
			ended = append(ended, res.op)
		}
	}
	return ended
}

// planAll plans for each container and shows the plans: of one that is carried out without
// asking its title and warnings, since its steps follow. It returns those that can be carried out.
func (r *round) planAll(ctx context.Context, selected []sdk.Container) (ready []planned) {
	r.plans = []api.Plan{}
	for _, c := range selected {
		res := &result{container: c}
		p, err := r.planOf(ctx, c)
		if err == nil && r.flags.step != "" && !isStep(&c, r.flags.step) && p.Kind != r.flags.step {
			continue // the smaller version that it goes to is of another step
		}
		r.results = append(r.results, res)
		if err != nil {
			r.fail(res, err)
			continue
		}
		res.to = p.To.Reference
		r.plans = append(r.plans, p)
		brief := r.flags.yes && !r.flags.plan
		if err := r.show(c, p, brief); err != nil {
			r.fail(res, err)
			continue
		}
		if len(p.Blocks) == 0 {
			ready = append(ready, planned{c, p})
			continue
		}
		r.block(res, p, r.flags.json || brief)
	}
	return ready
}

// show writes a plan, or its title and warnings where it is carried out anyway; nothing for programs.
func (r *round) show(c sdk.Container, p api.Plan, brief bool) (err error) {
	switch s := styleOf(r.stdout); {
	case r.flags.json || brief && len(p.Blocks) > 0:
	case brief:
		err = writeWarnings(r.stdout, s, c.Name, p)
	default:
		err = writePlan(r.stdout, s, c.Name, p)
	}
	return err
}

func (r *round) planOf(ctx context.Context, c sdk.Container) (p api.Plan, err error) {
	wish := r.flags.change(&c)
	wish.Kind = r.flags.kind
	return p, r.post(ctx, containerPath(c, "plan"), wish, &p)
}

// block records that a container is blocked, and says it where the plan does not.
func (r *round) block(res *result, p api.Plan, say bool) {
	var codes []string
	for _, b := range p.Blocks {
		codes = append(codes, b.Code)
	}
	res.code, res.refusal = exitBlocked, "blocked: "+strings.Join(codes, ", ")
	if say {
		complain(r.stderr, res.container.Name+" is blocked: "+strings.Join(reasonLines(p.Blocks), "; "))
		writePaste(r.stderr, p.Paste)
	}
}

func (r *round) resultOf(c sdk.Container) *result {
	i := slices.IndexFunc(r.results, func(res *result) bool { return res.container.ID == c.ID })
	return r.results[i]
}

// replan plans again for a container that has become another one.
func (r *round) replan(ctx context.Context, p planned) (planned, error) {
	if err := r.call(ctx, http.MethodGet, "/api/containers", &r.containers); err != nil {
		return p, err
	}
	i := slices.IndexFunc(r.containers, func(c sdk.Container) bool {
		return c.Watcher == p.container.Watcher && c.Name == p.container.Name
	})
	if i < 0 {
		return p, errors.New("it is gone since the container that it depends on was updated")
	}
	p.container = r.containers[i]
	var err error
	p.plan, err = r.planOf(ctx, p.container)
	return p, err
}

// writeResults writes what became of each container.
func (r *round) writeResults(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CONTAINER\tTO\tRESULT\tNOTE")
	for _, res := range r.results {
		state, note := "not begun", res.refusal
		switch {
		case res.op.ID != "" && res.refusal != "":
			state = "unknown"
		case res.op.ID != "":
			state, note = stateOf(res.op), cmp.Or(res.op.Error, phrase.English(words.Downtime(operationOf(res.op))))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", printable(res.container.Watcher+"/"+res.container.Name), printable(res.to),
			state, printable(note))
	}
	return t.Flush()
}
