package registryquery

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxAged is of how many candidates of a container a check reads the aged image.
const maxAged = 10

// readAgedImages finds out which image is behind the tag that is offered or waits, if a rule asks for an age: a HEAD
// for each check, and one for what has appeared. If the tag was moved, what is offered may be another one, which is
// looked at then.
func (r *kindReader) readAgedImages(ctx context.Context) {
	if r.Rules.MinAge.Value <= 0 || !r.Answer.Selection.Newer {
		return
	}
	now := sdk.TimeOf(r.opt.Now()).Time
	for i, c := range r.candidates(now).Candidates {
		if isNew := c.FirstSeen.Equal(now); c.Kind == sdk.KindTag && c.Observed && isNew && i < maxAged {
			r.readAgedImage(ctx, c, now)
		}
	}
	for range maxAged {
		c, found := r.offers(now)
		if _, looked := r.Answer.Aged[c.Tag]; looked || !found || c.Kind != sdk.KindTag || !r.readAgedImage(ctx, c, now) {
			return
		}
	}
}

// offers returns the candidate that is offered or waits, if the images behind all of them are those with the age.
func (r *kindReader) offers(now time.Time) (c candidate.Candidate, found bool) {
	known := r.candidates(now)
	if len(known.Candidates) == 0 {
		return c, false
	}
	aged := known
	aged.Candidates = slices.Clone(known.Candidates)
	for i := range aged.Candidates {
		aged.Candidates[i].AgedDigest = "not looked at"
	}
	return known.Candidates[r.opt.Decisions.Decide(&r.Container, r.Rules, aged, now).Target], true
}

// readAgedImage looks which image is behind the tag of a candidate. It returns false if that cannot be found out now.
func (r *kindReader) readAgedImage(ctx context.Context, c candidate.Candidate, now time.Time) bool {
	kind := r.known[c.Tag]
	before, digest := cmp.Or(c.AgedDigest, kind.Digest), kind.Digest
	if digest == "" || kind.At.Before(r.began) { // else it was read in this very check
		var err error
		digest, err = r.resolve(ctx, r.repository(r.release(c.Tag).Repository()), c.Tag)
		if err != nil || digest == "" {
			return false
		}
	}
	p := candidate.AgedImage{Digest: digest}
	switch {
	case digest == before:
		if c.AgedDigest == "" && kind.Since.After(r.lastTrusted(c, now)) {
			p.Since = kind.Since
		}
	case before != "" || !c.FirstSeen.Equal(now):
		p.Since, p.Moved = now, before != ""
		r.known[c.Tag] = tagKind{Digest: digest, Unread: true, Since: now} // what is known is of another image
		r.read = true
	}
	r.Answer.KeepAged(c.Tag, p)
	return true
}

// lastTrusted returns until when the image behind the tag of a candidate may have come there without its age beginning
// with that: until the candidate was first seen, and where the date of its image counts, until a rule asked for ages.
func (r *kindReader) lastTrusted(c candidate.Candidate, now time.Time) time.Time {
	if c.Observed || c.Created.IsZero() {
		return c.FirstSeen
	}
	if agesSince := cmp.Or(r.Known.AgesSince, now); agesSince.After(c.FirstSeen) {
		return agesSince
	}
	return c.FirstSeen
}
