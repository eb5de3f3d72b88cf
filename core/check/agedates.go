package check

import (
	"cmp"
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxDatesPerCheck is how many dates a check asks for about one container.
const maxDatesPerCheck = 10

// dates finds out when the candidates of a container were made, if its rules ask for an
// age: the newest first, until one is old enough. What its registry has no
// requests to spare for counts from when it was first seen.
func (f *fetcher) dates(ctx context.Context, s *target) {
	d, minAge := f.dater.Load(), s.rules.MinAge.Value
	if d == nil || minAge <= 0 || s.response.err != nil || !s.response.selection.Newer {
		return
	}
	img, now := *s.image(), f.opt.Now()
	requests := 0
	for _, c := range candidates(img, s.response, s.known, minAge, now).Candidates {
		if c.Kind != sdk.KindTag || !policy.Passes(s.rules.Threshold.Value, c.Kind, c.Diff) {
			continue
		}
		if c.Created.IsZero() && now.Sub(c.FirstSeen) < minAge {
			if requests++; requests > maxDatesPerCheck {
				return
			}
			made, refused := d.created(ctx, release{host: img.Registry.Host, name: img.Name, tag: c.Tag, platform: img.Platform()})
			if refused {
				return
			}
			if !made.IsZero() {
				s.response.date(c.Tag, made)
				c.Created = made.Time
			}
		}
		if began := cmp.Or(c.Created, c.FirstSeen); now.Sub(began) >= minAge {
			return
		}
	}
}

// date keeps when the image of a candidate was made.
func (r *response) date(tag string, made sdk.Time) {
	if r.created == nil {
		r.created = map[string]sdk.Time{}
	}
	r.created[tag] = made
}

// created returns when a release was made; zero when that is not known. refused means that the
// host has no requests to spare.
func (d *Dater) created(ctx context.Context, r release) (made sdk.Time, refused bool) {
	result, err := d.inspect(ctx, r, true)
	var why refusal
	return result.made, errors.As(err, &why)
}

// inspect finds out when a release was made, and of what type it is if it is no image, once.
// Without pulls it does so as far as that takes none, and returns errPull where it takes one. A
// refusal means that the host has no requests to spare.
func (d *Dater) inspect(ctx context.Context, r release, pulls bool) (dateResult, error) {
	d.mu.Lock()
	result, fetched := d.results[r]
	h := d.hosts[r.host]
	if h == nil {
		h = &dates{}
		d.hosts[r.host] = h
	}
	d.mu.Unlock()
	switch {
	case !fetched:
	case !result.made.IsZero() || result.again.IsZero():
		return result, nil
	case d.now().Before(result.again):
		return result, errNotRead
	}
	made, artifact, err := d.fetch(ctx, h, r, pulls)
	var why refusal
	switch {
	case ctx.Err() != nil:
		return dateResult{}, refusal("the check has ended")
	case errors.As(err, &why) || errors.Is(err, errPull):
		return dateResult{}, err
	case err != nil:
		result = dateResult{again: d.now().Add(datePause)}
	case !believable(made, d.now()):
		result = dateResult{artifact: artifact}
	default:
		result = dateResult{made: made, artifact: artifact}
	}
	d.remember(r, result)
	return result, err
}
