package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// levelLines are the versions that an update may lead to, with the flag that chooses each.
func levelLines(levels []api.PlanLevel) []string {
	return lines(levels, func(l api.PlanLevel) string {
		text := l.Version + " (" + l.Kind + ")"
		if l.SkippedBy != "" {
			text += ", skipped by " + l.SkippedBy
		}
		if l.Chosen {
			return text + ", chosen"
		}
		return text + ": --version " + l.Version
	})
}

// releaseLines are what release notes warn of.
func releaseLines(releases []api.PlanRelease) (texts []string) {
	if len(releases) == 0 {
		return nil
	}
	renderer := notes.NewRenderer()
	for _, r := range releases {
		for _, line := range r.Breaking {
			texts = append(texts, r.Version+" breaking: "+renderer.Plain(line))
		}
		for _, line := range r.Action {
			texts = append(texts, r.Version+" to do: "+renderer.Plain(line))
		}
	}
	return texts
}

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

// kindNote says how much an update changes; "" where that is not known.
func kindNote(p api.Plan) string {
	switch {
	case p.Major && p.Kind != sdk.DiffMajor: // as its vendor counts
		return "  (" + p.Kind + ", as a major update)"
	case p.Kind != "":
		return "  (" + p.Kind + ")"
	}
	return ""
}
