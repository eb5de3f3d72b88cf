package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// confirmMajor asks once more about each major update, unless a flag has answered, and returns what is left. What is
// not confirmed is not begun; --all leaves it out.
func (r *round) confirmMajor(ctx context.Context, ready []planned) []planned {
	f := r.flags
	if f.major || f.step == sdk.DiffMajor || f.dryRun || f.kind != operation.Update {
		return ready
	}
	return slices.DeleteFunc(ready, func(p planned) bool {
		if !p.plan.Major {
			return false
		}
		name := printable(p.container.Name)
		question := fmt.Sprintf("%s goes to another major version, %s. Carry it out all the same?", name,
			printable(p.plan.To.Reference))
		if !f.yes && r.says(ctx, question) {
			return false
		}
		r.leaveMajor(r.resultOf(p.container), p.plan)
		return true
	})
}

// leaveMajor records that a major update is not begun, and says what would have it begun.
func (r *round) leaveMajor(res *result, p api.Plan) {
	remedy := "add --major"
	if smaller := smallerLevels(p); len(smaller) > 0 {
		remedy += ", or choose " + strings.Join(smaller, " or ")
	}
	r.fail(res, errors.New("not begun, since it is a major update: "+remedy))
	res.code = exitBlocked
	if res.left = r.flags.all; res.left {
		res.code = exitOK // that there is one is no failure of the next night
	}
}

// smallerLevels are the flags that choose a version which nobody skipped instead of the one of a plan.
func smallerLevels(p api.Plan) (flags []string) {
	for _, l := range p.Levels {
		if !l.Chosen && l.SkippedBy == "" {
			flags = append(flags, "--version "+l.Version)
		}
	}
	return flags
}
