package check

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxDatesPerCheck is how many dates a check asks for about one container.
const maxDatesPerCheck = 10

// dates finds out when the candidates of a container were made, if its rules ask for an
// age: the newest first, until one is old enough. What its registry has no
// requests to spare for counts from when it was first seen. Candidates that these dates
// make implausible are dropped.
func (r *kindReader) dates(ctx context.Context) {
	minAge := r.rules.MinAge.Value
	if r.dater.Load() == nil || minAge <= 0 || !r.response.selection.Newer {
		return
	}
	img, now := *r.image(), r.opt.Now()
	requests := 0
	for _, c := range r.candidates(img, r.target.known, now).Candidates {
		if c.Kind != sdk.KindTag || !policy.Passes(r.rules.Threshold.Value, c.Kind, c.Diff) {
			continue
		}
		if c.Created.IsZero() && !c.Appeared && now.Sub(c.FirstSeen) < minAge {
			if requests++; requests > maxDatesPerCheck {
				return
			}
			made, refused := r.created(ctx, c.Tag)
			if refused {
				return
			}
			c.Created = made.Time
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
// refused means that the host has no requests to spare.
func (r *kindReader) created(ctx context.Context, name string) (made sdk.Time, refused bool) {
	if kind, read := r.known[name]; read && !kind.Made.IsZero() {
		r.response.date(name, kind.Made)
		return kind.Made, false
	}
	result, err := r.dater.Load().inspect(ctx, r.release(name), true)
	var why refusal
	if errors.As(err, &why) {
		return made, true
	}
	r.keep(name, result, err)
	return result.made, false
}

// date keeps when the image of a candidate was made.
func (r *response) date(tag string, made sdk.Time) {
	if r.created == nil {
		r.created = map[string]sdk.Time{}
	}
	r.created[tag] = made
}

// inspect finds out when a release was made, and of what type it is if it is no image, once.
// Without pulls it does so as far as that takes none, and returns errPull where it takes one. A
// refusal means that the host has no requests to spare.
func (d *Dater) inspect(ctx context.Context, r release, pulls bool) (dateResult, error) {
	d.mu.Lock()
	result, fetched := d.results[r]
	d.mu.Unlock()
	if fetched && (!result.made.IsZero() || result.again.IsZero()) {
		return result, nil
	}
	return d.concluded(ctx, r, func(h *dates) (dateResult, error) { return d.fetch(ctx, h, r, pulls) })
}

// inspectAgain is inspect, without pulls, for a tag that may have moved: what is behind it is read
// if its digest is not known.
func (d *Dater) inspectAgain(
	ctx context.Context, r release, known func(digest string) (dateResult, bool),
) (dateResult, error) {
	return d.concluded(ctx, r, func(h *dates) (dateResult, error) {
		match, digest, err := d.resolve(ctx, h, r)
		if err != nil {
			return dateResult{}, err
		}
		if result, is := known(digest); is {
			return result, nil
		}
		return d.read(ctx, match, r, digest, false)
	})
}

// concluded makes requests about a release, unless they failed a while ago, and remembers what came
// of them.
func (d *Dater) concluded(
	ctx context.Context, r release, request func(*dates) (dateResult, error),
) (dateResult, error) {
	d.mu.Lock()
	h, again := d.hosts[r.host], d.results[r].again
	if h == nil {
		h = &dates{}
		d.hosts[r.host] = h
	}
	d.mu.Unlock()
	if d.now().Before(again) {
		return dateResult{}, errNotRead
	}
	result, err := request(h)
	var why refusal
	switch {
	case ctx.Err() != nil:
		return dateResult{}, refusal("the check has ended")
	case errors.As(err, &why) || errors.Is(err, errPull):
		return result, err
	case err != nil:
		result = dateResult{again: d.now().Add(datePause)}
	}
	d.remember(r, result)
	return result, err
}
