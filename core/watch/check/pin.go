package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxPins is how many candidates of a container a check pins or looks at again.
const maxPins = 10

// pin is the digest behind a tag, whose age counts.
type pin struct {
	digest string
	// since is when it was found there, if its age begins with that; moved is whether another one was there before.
	since time.Time
	moved bool
}

// of returns a candidate with the image that is behind its tag. Its age begins anew if that is another one than the
// one whose age counted: whoever publishes an image can move its tag once the age of the tag has passed.
func (p pin) of(c policy.Candidate) policy.Candidate {
	c.Pinned = p.digest
	if !p.since.IsZero() {
		c.FirstSeen, c.Appeared, c.Moved = p.since, true, p.moved
	}
	return c
}

// pinTargets finds out which image is behind the tag that is offered or waits, if a rule asks for an age: a HEAD for
// each check, and one for what has appeared. If the tag was moved, what is offered may be another one, which is
// looked at then.
func (r *kindReader) pinTargets(ctx context.Context) {
	if r.rules.MinAge.Value <= 0 || !r.response.selection.Newer {
		return
	}
	now := sdk.TimeOf(r.opt.Now()).Time
	for i, c := range r.candidates(*r.image(), r.target.known, now).Candidates {
		if isNew := c.FirstSeen.Equal(now); c.Kind == sdk.KindTag && c.Appeared && isNew && i < maxPins {
			r.pin(ctx, c, now)
		}
	}
	for range maxPins {
		c, found := r.offers(now)
		if _, looked := r.response.pins[c.Tag]; looked || !found || c.Kind != sdk.KindTag || !r.pin(ctx, c, now) {
			return
		}
	}
}

// offers returns the candidate that is offered or waits, if the images behind all of them are those with the age.
func (r *kindReader) offers(now time.Time) (c policy.Candidate, found bool) {
	of := r.candidates(*r.image(), r.target.known, now)
	if len(of.Candidates) == 0 {
		return c, false
	}
	pinned := of
	pinned.Candidates = slices.Clone(of.Candidates)
	for i := range pinned.Candidates {
		pinned.Candidates[i].Pinned = "not looked at"
	}
	return of.Candidates[r.opt.decide(&r.container, r.rules, pinned, now).Target], true
}

// pin looks which image is behind the tag of a candidate. It returns false if that cannot be found out now.
func (r *kindReader) pin(ctx context.Context, c policy.Candidate, now time.Time) bool {
	kind := r.known[c.Tag]
	before, digest := cmp.Or(c.Pinned, kind.Digest), kind.Digest
	if digest == "" || kind.At.Before(r.began) { // else it was read in this very check
		of := r.release(c.Tag)
		err := r.limiter.do(ctx, of.host, func(ctx context.Context) (err error) {
			digest, err = r.match.Registry.Resolve(ctx, of.repository(), of.tag)
			return err
		})
		if err != nil || digest == "" {
			return false
		}
	}
	p := pin{digest: digest}
	switch {
	case digest == before:
		if c.Pinned == "" && kind.Since.After(r.lastTrusted(c, now)) {
			p.since = kind.Since
		}
	case before != "" || !c.FirstSeen.Equal(now):
		p.since, p.moved = now, before != ""
		r.known[c.Tag] = tagKind{Digest: digest, Unread: true, Since: now} // what is known is of another image
		r.read = true
	}
	if r.response.pins == nil {
		r.response.pins = map[string]pin{}
	}
	r.response.pins[c.Tag] = p
	return true
}

// lastTrusted returns until when the image behind the tag of a candidate may have come there without its age beginning
// with that: until the candidate was first seen, and where the date of its image counts, until a rule asked for ages.
func (r *kindReader) lastTrusted(c policy.Candidate, now time.Time) time.Time {
	if c.Appeared || c.Created.IsZero() {
		return c.FirstSeen
	}
	if agesSince := cmp.Or(r.target.known.AgesSince, now); agesSince.After(c.FirstSeen) {
		return agesSince
	}
	return c.FirstSeen
}

// Pinned returns the digest of the image that a container is offered, if a rule asks for its age: which image the
// age is of. It is "" where no rule does, and as long as no check has found it out. It may be called concurrently.
func (c *Checker) Pinned(ctx context.Context, of *sdk.Container) (string, error) {
	if of.Delay == "" {
		return "", nil
	}
	c.commitLock.Lock()
	defer c.commitLock.Unlock()
	known, err := c.known(ctx)
	if err != nil {
		return "", fmt.Errorf("which image %s is offered: %w", event.Subject(*of), err)
	}
	key := update.KeyOf(of)
	for _, k := range known[event.Subject(*of)].Candidates {
		switch {
		case k.Kind != key.Kind || k.Tag != key.ToTag:
		case k.Kind == sdk.KindTag:
			return k.Pinned, nil
		case k.Digest == key.ToDigest:
			return k.Digest, nil
		}
	}
	return "", nil
}
