package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxPerLevel is how many candidates of each step are kept: by them an update is decided
// again, and only those known since long have an age.
const maxPerLevel = 10

// known returns what the last checks found, by name. The caller holds commitLock.
func (c *Checker) known(ctx context.Context) (map[string]policy.Found, error) {
	if c.found != nil {
		return c.found, nil
	}
	found := map[string]policy.Found{}
	if c.opt.Candidates != nil {
		var err error
		if found, err = c.opt.Candidates(ctx); err != nil {
			return nil, fmt.Errorf("read the stored candidates: %w", err)
		}
	}
	c.found = found
	return found, nil
}

// remember adds what was found of a container to a change, if it differs from what is known.
// The caller holds commitLock and calls remembered once the change is stored.
func (c *Checker) remember(change *event.Change, name string, found policy.Found) error {
	before, known := c.found[name]
	if known && reflect.DeepEqual(before, found) {
		return nil
	}
	doc, err := found.Encode()
	if err != nil {
		return fmt.Errorf("encode the candidates of %s: %w", name, err)
	}
	if change.Candidates == nil {
		change.Candidates = map[string][]byte{}
	}
	change.Candidates[name] = doc
	return nil
}

// commit stores a change and, once that is done, knows its candidates. The caller holds commitLock.
func (c *Checker) commit(ctx context.Context, change event.Change) error {
	if err := c.opt.Store.Commit(ctx, change); err != nil {
		return err
	}
	for name, doc := range change.Candidates {
		var found policy.Found
		if err := json.Unmarshal(doc, &found); err != nil {
			return fmt.Errorf("read the stored candidates of %s: %w", name, err)
		}
		c.found[name] = found
	}
	return nil
}

// candidates returns what a response offers a container with an image: newer tags, the best first, and
// a new digest behind the running tag last. What was known before keeps the dates it has.
func (s *target) candidates(img sdk.Image, before policy.Found, now time.Time) policy.Found {
	r, minAge, now := s.response, s.rules.MinAge.Value, sdk.TimeOf(now).Time
	found := policy.Found{Tag: img.Tag.Value, Basis: s.policy.basis(img)}
	appeared := before.Basis == found.Basis
	known := map[string]policy.Candidate{}
	for _, c := range before.Candidates {
		if c.Kind == sdk.KindTag {
			known[c.Tag] = c
		}
	}
	var levels [3][]policy.Candidate
	for _, of := range r.selection.Candidates {
		c := policy.Candidate{Tag: of.Tag, Kind: sdk.KindTag, Diff: of.Diff, FirstSeen: now, Appeared: appeared}
		if k, is := known[c.Tag]; is {
			c.FirstSeen, c.Created, c.Appeared = k.FirstSeen, k.Created, k.Appeared
			if before.Tag == img.Tag.Value {
				c.OfferedAt = k.OfferedAt
			}
		}
		if made := r.created[c.Tag]; !made.IsZero() {
			c.Created = made.Time
		}
		levels[levelOf(c.Diff)] = append(levels[levelOf(c.Diff)], c)
	}
	keep := map[string]bool{}
	for _, level := range levels {
		for _, c := range retain(level, minAge, now) {
			keep[c.Tag] = true
		}
	}
	for _, c := range r.selection.Candidates {
		if keep[c.Tag] {
			level := levels[levelOf(c.Diff)]
			found.Candidates = append(found.Candidates, level[slices.IndexFunc(level, func(k policy.Candidate) bool { return k.Tag == c.Tag })])
		}
	}
	if d := r.digest; d != nil && !d.same {
		found.From = cmp.Or(img.Digest.Repo, img.ID)
		c := rebuild(img, found.From, d, before, now)
		if c.FirstSeen.Equal(now) {
			c.Appeared = appeared
		}
		found.Candidates = append(found.Candidates, c)
	}
	return found
}

var versionInTag = lazyregexp.New(`[0-9]+(\.[0-9]+)*`)

// basis identifies what is looked for on behalf of an image: its repository, the family of its tag, and what the
// operator's labels say of tags. The labels of the image are left out, which whoever publishes it can change.
func (p *labelPolicy) basis(img sdk.Image) string {
	sum := sha256.New()
	fmt.Fprintln(sum, img.Registry.Host, img.Name, versionInTag().ReplaceAllString(img.Tag.Value, "0"))
	for _, r := range p.operators {
		fmt.Fprintf(sum, "%s %q\n", r.Name, r.Value)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// rebuild returns the candidate of a new digest behind the running tag. As long as the same
// image runs, its age is that of the first such digest: a tag that is rebuilt
// every day would never be old enough.
func rebuild(img sdk.Image, from string, d *digestResponse, before policy.Found, now time.Time) policy.Candidate {
	tag := img.Tag.Value
	c := policy.Candidate{Tag: tag, Digest: d.remote, Version: d.version, Kind: sdk.KindDigest, Diff: rebuiltDiff(img.Version, d.version), FirstSeen: now}
	if believable(d.created, now) {
		c.Created = d.created.Time
	}
	i := slices.IndexFunc(before.Candidates, func(k policy.Candidate) bool { return k.Kind == sdk.KindDigest && k.Tag == tag })
	if i < 0 {
		return c
	}
	if first := before.Candidates[i]; before.From == from || first.Digest == d.remote {
		c.FirstSeen, c.Appeared = first.FirstSeen, first.Appeared
		if !first.Created.IsZero() || first.Digest != d.remote {
			c.Created = first.Created
		}
		if before.From == from && first.Digest == d.remote {
			c.OfferedAt = first.OfferedAt
		}
	}
	return c
}

// levelOf returns the index of a step: what is less than a minor one shares the last.
func levelOf(diff string) int {
	switch diff {
	case sdk.DiffMajor:
		return 0
	case sdk.DiffMinor:
		return 1
	}
	return 2
}

// usualAge is how old candidates are kept where no rule asks for an age.
const usualAge = 14 * 24 * time.Hour

// retain chooses maxPerLevel of the candidates of a level, the newest first. Were only the
// newest kept, a version that is published every day would never be known for a month: so
// of each part of the time up to the age that is asked for, the first one stays.
func retain(level []policy.Candidate, minAge time.Duration, now time.Time) []policy.Candidate {
	if len(level) <= maxPerLevel {
		return level
	}
	minAge = cmp.Or(minAge, usualAge)
	// What is new and comes after a known one was left out before, so since when it exists is not known.
	isNew := func(c policy.Candidate) bool { return c.FirstSeen.Equal(now) }
	if i := slices.IndexFunc(level, func(c policy.Candidate) bool { return !isNew(c) }); i >= 0 {
		level = append(slices.Clone(level[:i]), slices.DeleteFunc(slices.Clone(level[i:]), isNew)...)
	}
	began := func(c policy.Candidate) time.Time {
		at, _ := c.Began()
		return at
	}
	keep, rest := []int{0}, []int{} // by index
	for i := 1; i < len(level); i++ {
		at := began(level[i])
		part := at.Truncate(max(minAge/(maxPerLevel-4), time.Minute))
		first := !slices.ContainsFunc(level[i+1:], func(older policy.Candidate) bool {
			o := began(older)
			return !o.Before(part) && !o.After(at)
		})
		if first && len(keep) < maxPerLevel {
			keep = append(keep, i)
		} else {
			rest = append(rest, i)
		}
		if first && now.Sub(at) >= minAge {
			for i++; i < len(level); i++ {
				rest = append(rest, i)
			}
		}
	}
	keep = append(keep, rest[:min(len(rest), maxPerLevel-len(keep))]...)
	slices.Sort(keep)
	kept := make([]policy.Candidate, len(keep))
	for i, at := range keep {
		kept[i] = level[at]
	}
	return kept
}

// moveCandidates lets renamed containers keep their candidates. The caller holds commitLock.
func (c *Checker) moveCandidates(change *event.Change) error {
	for _, e := range change.Events {
		if e.Container == nil || e.From == "" {
			continue
		}
		old := *e.Container
		old.Name = e.From
		if found, known := c.found[event.Subject(old)]; known {
			if err := c.remember(change, event.Subject(*e.Container), found); err != nil {
				return err
			}
		}
	}
	return nil
}
