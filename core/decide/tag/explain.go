package tag

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Explanation is a Selection and how it came about.
type Explanation struct {
	Selection
	Verdicts []Verdict // in the order of the tags; always with the selected tag
	Omitted  int       // how many tags have no verdict, because the list would be too long
}

// Verdict says what became of one tag.
type Verdict struct {
	Tag    string
	Kept   bool          // newer and allowed
	Reason Reason        // stable code
	Detail phrase.Phrase // one sentence for the user
}

// maxVerdicts bounds the kept and the dropped tags of an Explanation, each.
const maxVerdicts = 1000

// Explain selects as Select does and says why, tag by tag. Its errors are those of Select.
func (s *Selector) Explain(ctx context.Context, current string, tags []string, known ...string) (Explanation, error) {
	var e Explanation
	var kept, dropped int
	sel, err := s.search(ctx, current, tags, known, func(d *search, tag string, r Reason) {
		n := &dropped
		if r == ReasonNewer || r == ReasonBase {
			n = &kept
		}
		if *n++; *n > maxVerdicts {
			e.Omitted++
			return
		}
		e.Verdicts = append(e.Verdicts, Verdict{Tag: tag, Kept: r == ReasonNewer, Reason: r, Detail: d.detail(r)})
	})
	if err != nil {
		return Explanation{Selection: sel}, err
	}
	e.Selection = sel
	if sel.LeftBase != "" {
		e.keepOffBase()
	}
	if sel.Newer {
		e.crown(sel.Tag)
	}
	return e, nil
}

// Without is that of the Selection. Dropped tags that have no verdict get theirs.
func (e Explanation) Without(current string, dropped map[string]Dropped) Explanation {
	newer := e.Tags
	e.Selection = e.Selection.Without(current, dropped)
	e.Verdicts = slices.Clone(e.Verdicts)
	found := map[string]bool{}
	for i := range e.Verdicts {
		v := &e.Verdicts[i]
		if why, isDropped := dropped[v.Tag]; isDropped {
			if e.Newer && v.Kept && !slices.ContainsFunc(newer, func(c Newer) bool { return c.Tag == v.Tag }) {
				e.Kept--
			}
			found[v.Tag], v.Kept, v.Reason, v.Detail = true, false, why.Reason, why.Detail
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dropped)) {
		if why := dropped[name]; !found[name] {
			e.Verdicts = append(e.Verdicts, Verdict{Tag: name, Reason: why.Reason, Detail: why.Detail})
		}
	}
	if e.Newer {
		e.crown(e.Tag)
	}
	return e
}

// keepOffBase keeps the newer tags on other bases, once it is known that the current base
// has none.
func (e *Explanation) keepOffBase() {
	for i := range e.Verdicts {
		if v := &e.Verdicts[i]; v.Reason == ReasonBase {
			v.Kept, v.Reason, v.Detail = true, ReasonNewer, detailNewer()
		}
	}
}

// crown marks the selected tag, which may be among the omitted ones.
func (e *Explanation) crown(tag string) {
	detail := phrase.New("it is the newest allowed tag")
	if e.LeftBase != "" {
		detail = phrase.New("it is the newest allowed tag: nothing newer is published on the base %s of the current tag",
			e.LeftBase)
	}
	found := false
	for i := range e.Verdicts {
		if v := &e.Verdicts[i]; v.Tag == tag {
			v.Kept, v.Reason, v.Detail, found = true, ReasonNewest, detail, true
		}
	}
	if !found {
		e.Verdicts = append(e.Verdicts, Verdict{Tag: tag, Kept: true, Reason: ReasonNewest, Detail: detail})
		e.Omitted--
	}
}

func detailNewer() phrase.Phrase {
	return phrase.New("it is newer than the current tag, but not the newest")
}

// detail says in a sentence why the tag just judged got its reason.
func (d *search) detail(r Reason) phrase.Phrase {
	switch r {
	case ReasonNewer:
		return detailNewer()
	case ReasonCurrent:
		return phrase.New("it is the current tag")
	case ReasonArtifact:
		return phrase.New("it is a signature, an attestation or a bill of materials, not an image")
	case ReasonSHA:
		return phrase.New(`it begins with "sha" and there is no include rule`)
	case ReasonInclude:
		return phrase.New("it does not match the include rule %.300q", d.include.text)
	case ReasonExclude:
		return phrase.New("it matches the exclude rule %.300q", d.exclude.text)
	case ReasonCurrentNotVersion:
		return phrase.New("the current tag %q is no version, so no tag can be newer", d.current)
	case ReasonPrefix:
		if d.raw.prefix == "" {
			return phrase.New("it does not begin with a number as the current tag does")
		}
		return phrase.New("it does not begin with %q and a number as the current tag does", d.raw.prefix)
	case ReasonNotVersion:
		return phrase.New("it is no version")
	case ReasonCount:
		return phrase.New("it has not %d numbers as the current tag has", d.raw.count)
	case ReasonFamily:
		return phrase.New("it is of the family %s, not %s", d.judged.familyName(), d.running.familyName())
	case ReasonPrerelease:
		if d.running.stage.release() {
			return phrase.New("it is a prerelease and the current tag is none")
		}
		return phrase.New("it is a prerelease of an earlier kind than the current tag")
	case ReasonDate:
		return phrase.New("it and the current tag are not the same kind of date")
	case ReasonCalendar:
		return phrase.New("it begins with a year or a date and the current tag does not")
	case ReasonBase:
		return phrase.New("it is newer, but on another base, and newer tags are published on the base %s of the current tag", d.running.base.text)
	case ReasonStep:
		return d.comesFirst(d.judged)
	case ReasonNotNewer:
		if compareLists(d.judged.release(), d.running.release()) != 0 && compareCore(d.judged, &d.running) == 0 {
			return phrase.New("it is no newer version than the current tag, only on the base %s instead of %s",
				d.judged.base.text, d.running.base.text)
		}
		return phrase.New("it is not newer than the current tag")
	}
	return nil
}

// familyName writes a family for the user: "-alpine3.19" as -alpineN.N.
func (v *version) familyName() phrase.Phrase {
	if len(v.family) == 0 {
		return phrase.New("without suffix")
	}
	return phrase.Verbatim(strings.NewReplacer(string(foldedNumber), "N", string(foldedLetter), "X", string(foldedHash),
		"<commit>").Replace(string(v.family)))
}
