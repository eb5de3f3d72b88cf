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
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
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
	found := policy.Found{Tag: img.Tag.Value, Basis: basis(img, s.labels.tagLabels)}
	if minAge > 0 {
		found.AgesSince = cmp.Or(before.AgesSince, now)
	}
	// An image that has the very labels of the operator, as of an update, looks for nothing else.
	appeared := before.Basis == found.Basis ||
		before.Basis == basis(img, slices.Concat(s.labels.tagLabels, s.labels.imageTagLabels))
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
			c.Pinned, c.Moved = k.Pinned, k.Moved
			if before.Tag == img.Tag.Value {
				c.OfferedAt = k.OfferedAt
			}
		}
		if made := r.created[c.Tag]; !made.IsZero() {
			c.Created = made.Time
		}
		if p, is := r.pins[c.Tag]; is {
			c = p.of(c)
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
			found.Candidates = append(found.Candidates,
				level[slices.IndexFunc(level, func(k policy.Candidate) bool { return k.Tag == c.Tag })])
		}
	}
	if d := r.digest; d != nil && !d.same {
		found.From = cmp.Or(img.Digest.Repo, img.ID)
		c, earlier := rebuild(img, found.From, d, before, now)
		if c.FirstSeen.Equal(now) {
			c.Appeared = appeared
		}
		found.Candidates = append(found.Candidates, c)
		if minAge > 0 {
			found.Candidates = append(found.Candidates, retain(append([]policy.Candidate{c}, earlier...), minAge, now)[1:]...)
		}
	}
	return found
}

var versionInTag = lazyregexp.New(`[0-9]+(\.[0-9]+)*`)

// basis identifies what is looked for on behalf of an image: its repository, the family of its tag, and what
// labels about tags say, which are to be the operator's: whoever publishes an image can change its own.
func basis(img sdk.Image, tagLabels []Rule) string {
	sum := sha256.New()
	fmt.Fprintln(sum, img.Registry.Host, img.Name, versionInTag().ReplaceAllString(img.Tag.Value, "0"))
	byName := func(a, b Rule) int { return strings.Compare(a.Name, b.Name) }
	for _, r := range slices.SortedFunc(slices.Values(tagLabels), byName) {
		fmt.Fprintf(sum, "%s %q\n", r.Name, r.Value)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// rebuild returns the candidate of a new digest behind the running tag, and those of earlier ones that were not taken
// since the one that runs, the newest first. Each has an age of its own. An earlier one that is behind the tag
// again is the new one, and what was there in between is none any more.
func rebuild(
	img sdk.Image, from string, d *digestResponse, before policy.Found, now time.Time,
) (c policy.Candidate, earlier []policy.Candidate) {
	c = policy.Candidate{
		Tag: img.Tag.Value, Digest: d.remote, Version: d.version, Kind: sdk.KindDigest,
		Diff: rebuiltDiff(img.Version, d.version), FirstSeen: now,
	}
	if believable(d.created, now) {
		c.Created = d.created.Time
	}
	for _, k := range before.Candidates {
		if k.Kind == sdk.KindDigest && k.Tag == c.Tag {
			earlier = append(earlier, k)
		}
	}
	if before.From != from {
		earlier = newerThan(idsOf(img), earlier, c.Digest)
	}
	if i := slices.IndexFunc(earlier, func(k policy.Candidate) bool { return k.Digest == c.Digest }); i >= 0 {
		k := earlier[i]
		c.FirstSeen, c.Appeared, c.OfferedAt = k.FirstSeen, k.Appeared, k.OfferedAt
		c.Created = cmp.Or(k.Created, c.Created)
		earlier = earlier[i+1:]
	}
	return c, earlier
}

// newerThan returns those candidates that are newer than an image with some ids, which was one of them; if it was
// not, only the one with a digest is known to be newer. None of them was offered to who runs that image.
func newerThan(ids []string, earlier []policy.Candidate, digest string) (newer []policy.Candidate) {
	runs := slices.IndexFunc(earlier, func(k policy.Candidate) bool { return slices.Contains(ids, k.Digest) })
	for i, k := range earlier {
		if i < runs || runs < 0 && k.Digest == digest {
			k.OfferedAt = time.Time{}
			newer = append(newer, k)
		}
	}
	return newer
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
