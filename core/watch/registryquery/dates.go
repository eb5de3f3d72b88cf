package registryquery

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// dates finds out when the candidates of a container were made, if its rules ask for an
// age: the newest first, until one is old enough. What its registry has no
// requests to spare for counts from when it was first seen. Candidates that these dates
// make implausible are dropped.
func (r *kindReader) dates(ctx context.Context) {
	minAge := r.Rules.MinAge.Value
	if r.opt.Spare == nil || minAge <= 0 || !r.Answer.Selection.Newer {
		return
	}
	now := r.opt.Now()
	requests := 0
	for _, c := range r.candidates(now).Candidates {
		if c.Kind != sdk.KindTag || !policy.Passes(r.Rules.Threshold.Value, c.Kind, c.Diff) {
			continue
		}
		if c.Created.IsZero() && !c.Observed && now.Sub(c.FirstSeen) < minAge {
			if requests++; requests > maxDatesPerCheck {
				return
			}
			created, askable := r.created(ctx, c.Tag)
			if !askable {
				return
			}
			c.Created = created.Time
		}
		if why := r.dropping(ctx, c.Tag, r.known[c.Tag]); why.Reason != "" {
			r.drop(c.Tag, why)
			continue
		}
		if began, _ := c.Began(); now.Sub(began) >= minAge {
			return
		}
	}
}

// created returns when a candidate was made, which may take a pull; zero when that is not known.
// askable is false when the host has no requests to spare.
func (r *kindReader) created(ctx context.Context, name string) (created sdk.Time, askable bool) {
	if kind, isRead := r.known[name]; isRead && !kind.Created.IsZero() {
		r.Answer.Date(name, kind.Created)
		return kind.Created, true
	}
	result, err := r.fetch(ctx, name, true, nil)
	var none NoneToSpare
	if errors.As(err, &none) {
		return created, false
	}
	r.note(name, result, err)
	return result.created, true
}
