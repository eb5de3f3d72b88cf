package candidate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxPerLevel is how many candidates of each step are kept: by them an update is decided
// again, and only those known since long have an age.
const maxPerLevel = 10

// Label is a label of a container, named without its prefix.
type Label struct{ Name, Value string }

// Search is what is looked for on behalf of a container.
type Search struct {
	// TagLabels are the labels about tags that the operator sets, and ImageTagLabels those that the image has.
	TagLabels, ImageTagLabels []Label
	// MinAge is the age that a rule asks for.
	MinAge time.Duration
}

// Candidates returns what an answer offers a container with an image: newer tags, the best first, and
// a new digest behind the running tag last. What was known before keeps the dates it has.
func (s Search) Candidates(img sdk.Image, r Answer, before Found, now time.Time) Found {
	minAge, now := s.MinAge, sdk.TimeOf(now).Time
	found := Found{Tag: img.Tag.Value, SearchID: searchID(img, s.TagLabels)}
	if minAge > 0 {
		found.AgesSince = cmp.Or(before.AgesSince, now)
	}
	// An image that has the very labels of the operator, as of an update, looks for nothing else.
	observed := before.SearchID == found.SearchID ||
		before.SearchID == searchID(img, slices.Concat(s.TagLabels, s.ImageTagLabels))
	known := map[string]Candidate{}
	for _, c := range before.Candidates {
		if c.Kind == sdk.KindTag {
			known[c.Tag] = c
		}
	}
	var levels [3][]Candidate
	for _, newer := range r.Selection.Tags {
		c := Candidate{Tag: newer.Tag, Kind: sdk.KindTag, Diff: newer.Diff, FirstSeen: now, Observed: observed}
		if k, isKnown := known[c.Tag]; isKnown {
			c.FirstSeen, c.Created, c.Observed = k.FirstSeen, k.Created, k.Observed
			c.AgedDigest, c.Moved = k.AgedDigest, k.Moved
			if before.Tag == img.Tag.Value {
				c.OfferedAt = k.OfferedAt
			}
		}
		if created := r.Created[c.Tag]; !created.IsZero() {
			c.Created = created.Time
		}
		if aged, known := r.Aged[c.Tag]; known {
			c = aged.apply(c)
		}
		levels[Level(c.Diff)] = append(levels[Level(c.Diff)], c)
	}
	keep := map[string]bool{}
	for _, level := range levels {
		for _, c := range retain(level, minAge, now) {
			keep[c.Tag] = true
		}
	}
	for _, c := range r.Selection.Tags {
		if keep[c.Tag] {
			level := levels[Level(c.Diff)]
			found.Candidates = append(found.Candidates,
				level[slices.IndexFunc(level, func(k Candidate) bool { return k.Tag == c.Tag })])
		}
	}
	if d := r.Digest; d != nil && !d.Same {
		found.From = cmp.Or(img.Digest.Repo, img.ID)
		c, earlier := rebuild(img, found.From, d, before, now)
		if c.FirstSeen.Equal(now) {
			c.Observed = observed
		}
		found.Candidates = append(found.Candidates, c)
		if minAge > 0 {
			found.Candidates = append(found.Candidates, retain(append([]Candidate{c}, earlier...), minAge, now)[1:]...)
		}
	}
	return found
}

var versionInTag = lazyregexp.New(`[0-9]+(\.[0-9]+)*`)

// searchID identifies what is looked for on behalf of an image: its repository, the family of its tag, and what
// labels about tags say, which are to be the operator's: whoever publishes an image can change its own.
func searchID(img sdk.Image, tagLabels []Label) string {
	family := versionInTag().ReplaceAllString(img.Tag.Value, "0")
	text := []byte(img.Registry.Host + " " + img.Name + " " + family + "\n")
	byName := func(a, b Label) int { return strings.Compare(a.Name, b.Name) }
	for _, l := range slices.SortedFunc(slices.Values(tagLabels), byName) {
		text = fmt.Appendf(text, "%s %q\n", l.Name, l.Value)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// rebuild returns the candidate of a new digest behind the running tag, and those of earlier ones that were not taken
// since the one that runs, the newest first. Each has an age of its own. An earlier one that is behind the tag
// again is the new one, and what was there in between is none any more.
func rebuild(
	img sdk.Image, from string, d *Digest, before Found, now time.Time,
) (c Candidate, earlier []Candidate) {
	c = Candidate{
		Tag: img.Tag.Value, Digest: d.Remote, Version: d.Version, Kind: sdk.KindDigest,
		Diff: Diff(img.Version, d.Version), FirstSeen: now,
	}
	if Believable(d.Created, now) {
		c.Created = d.Created.Time
	}
	for _, k := range before.Candidates {
		if k.Kind == sdk.KindDigest && k.Tag == c.Tag {
			earlier = append(earlier, k)
		}
	}
	if before.From != from {
		earlier = newerThan(IDs(img), earlier, c.Digest)
	}
	if i := slices.IndexFunc(earlier, func(k Candidate) bool { return k.Digest == c.Digest }); i >= 0 {
		k := earlier[i]
		c.FirstSeen, c.Observed, c.OfferedAt = k.FirstSeen, k.Observed, k.OfferedAt
		c.Created = cmp.Or(k.Created, c.Created)
		earlier = earlier[i+1:]
	}
	return c, earlier
}

// newerThan returns those candidates that are newer than an image with some ids, which was one of them; if it was
// not, only the one with a digest is known to be newer. None of them was offered to who runs that image.
func newerThan(ids []string, earlier []Candidate, digest string) (newer []Candidate) {
	runs := slices.IndexFunc(earlier, func(k Candidate) bool { return slices.Contains(ids, k.Digest) })
	for i, k := range earlier {
		if i < runs || runs < 0 && k.Digest == digest {
			k.OfferedAt = time.Time{}
			newer = append(newer, k)
		}
	}
	return newer
}

// Level returns the index of a step: what is less than a minor one shares the last.
func Level(diff string) int {
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
func retain(level []Candidate, minAge time.Duration, now time.Time) []Candidate {
	if len(level) <= maxPerLevel {
		return level
	}
	minAge = cmp.Or(minAge, usualAge)
	// What is new and comes after a known one was left out before, so since when it exists is not known.
	isNew := func(c Candidate) bool { return c.FirstSeen.Equal(now) }
	if i := slices.IndexFunc(level, func(c Candidate) bool { return !isNew(c) }); i >= 0 {
		level = append(slices.Clone(level[:i]), slices.DeleteFunc(slices.Clone(level[i:]), isNew)...)
	}
	began := func(c Candidate) time.Time {
		start, _ := c.Began()
		return start
	}
	keep, rest := []int{0}, []int{} // by index
	for i := 1; i < len(level); i++ {
		start := began(level[i])
		part := start.Truncate(max(minAge/(maxPerLevel-4), time.Minute))
		first := !slices.ContainsFunc(level[i+1:], func(older Candidate) bool {
			o := began(older)
			return !o.Before(part) && !o.After(start)
		})
		if first && len(keep) < maxPerLevel {
			keep = append(keep, i)
		} else {
			rest = append(rest, i)
		}
		if first && now.Sub(start) >= minAge {
			for i++; i < len(level); i++ {
				rest = append(rest, i)
			}
		}
	}
	keep = append(keep, rest[:min(len(rest), maxPerLevel-len(keep))]...)
	slices.Sort(keep)
	kept := make([]Candidate, len(keep))
	for i, index := range keep {
		kept[i] = level[index]
	}
	return kept
}
