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
	img, now := s.container.Image, f.opt.Now()
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
				if s.response.created == nil {
					s.response.created = map[string]sdk.Time{}
				}
				s.response.created[c.Tag] = made
				c.Created = made.Time
			}
		}
		if began := cmp.Or(c.Created, c.FirstSeen); now.Sub(began) >= minAge {
			return
		}
	}
}

// created returns when a release was made; zero when that is not known. refused means that the
// host has no requests to spare.
func (d *Dater) created(ctx context.Context, r release) (made sdk.Time, refused bool) {
	d.mu.Lock()
	result, fetched := d.results[r]
	h := d.hosts[r.host]
	if h == nil {
		h = &dates{}
		d.hosts[r.host] = h
	}
	d.mu.Unlock()
	if fetched && (!result.made.IsZero() || result.again.IsZero() || d.now().Before(result.again)) {
		return result.made, false
	}
	made, err := d.fetch(ctx, h, r)
	var why refusal
	switch {
	case ctx.Err() != nil || errors.As(err, &why):
		return sdk.Time{}, true
	case err != nil:
		result = dateResult{again: d.now().Add(datePause)}
	case !believable(made, d.now()):
		result = dateResult{}
	default:
		result = dateResult{made: made}
	}
	d.remember(r, result)
	return result.made, false
}
