package tag

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// decision is one run of a Selector over the tags of a repository.
type decision struct {
	*Selector
	ctx       context.Context
	current   string
	isVersion bool
	running   version // the current tag
	raw       layout  // of the current tag, untransformed
	elsewhere bool    // the include pattern asks for another family
	months    bool    // the current tag is a year and a month: 22.04, 23.10
	how       reading
	candidate *version
	stands    standing // of the candidate
	newer     ranking
	kept      int // tags that are newer on the current base
	offBase   int // and on another one
	drop      baseDrop
	far       limits
	filtered  int // tags that passed the filters
	prefixed  int // of these, tags with the current prefix
	relatives int // of these, tags of the current family
	deadline  time.Time
}

// layout is what the prefix and number-count rules see: the untransformed tag.
type layout struct {
	prefix string
	count  int
}

func layoutOf(tag string) layout {
	start, end, hash := span(tag)
	l := layout{prefix: tag[:start]}
	if start < end {
		l.count = 1
	}
	if !hash && !isRespin(tag[start:end]) {
		l.count += strings.Count(tag[start:end], ".")
	}
	if !hash && isDashedDate(tag[start:end]) {
		l.count = 3
	}
	return l
}

// decide is the one decision behind Select and Explain. It calls note, if any, with
// each tag and what became of it.
func (s *Selector) decide(
	ctx context.Context, current string, tags, known []string, note func(*decision, string, Reason),
) (Selection, error) {
	d := decision{
		Selector: s, ctx: ctx, current: current, candidate: new(version), raw: layoutOf(current),
		newer: ranking{known: known},
	}
	d.deadline = time.Now().Add(matchBudget)
	text, matched, err := s.transform.apply(current)
	if err != nil {
		return Selection{Tag: current}, err
	}
	if err := d.prepare(text, tags); err != nil {
		return Selection{Tag: current}, err
	}
	if err := d.limit(tags); err != nil {
		return Selection{Tag: current}, err
	}
	if err := d.run(tags, note); err != nil {
		return Selection{Tag: current}, err
	}
	sel, err := d.selection()
	if err != nil {
		return Selection{Tag: current}, err
	}
	sel.Warnings = d.warn(matched)
	sel.Beyond, sel.LeftOut, sel.First = d.far.tag, d.far.count, d.comesFirst(&d.far.beyond)
	return sel, nil
}

// prepare reads the current tag and decides how all others are read. Who excludes the
// current tag by a rule wants to leave its base, and perhaps its family.
func (d *decision) prepare(text string, tags []string) error {
	d.how = reading{pin: d.include == nil}
	if d.isVersion = d.read(&d.running, text); !d.isVersion {
		return nil
	}
	d.months = d.running.month == paddedMonth || (d.running.month == likeMonth && d.amongMonths(tags))
	if excluded, err := d.exclude.match(d.current); excluded || err != nil {
		return err
	}
	if d.include != nil {
		if admitted, err := d.include.match(d.current); err != nil {
			return err
		} else if !admitted {
			return d.lookElsewhere(tags)
		}
	}
	d.how.bases = true
	d.how.bare = d.transform == nil && bareBase(d.current, &d.running, tags)
	d.read(&d.running, text)
	return nil
}

// entersCalendar reports whether v counts by the calendar and the current tag does not. Such
// tags are mostly left over from another scheme.
func (d *decision) entersCalendar(v *version) bool {
	if d.running.calendar() {
		return false
	}
	return v.calendar() || (v.month == paddedMonth && !d.months)
}

// lookElsewhere sets d.elsewhere when the include pattern, which does not admit the current
// tag, admits no other tag of its family either: then the owner wants to leave the family.
func (d *decision) lookElsewhere(tags []string) error {
	if err := d.run(tags, nil); err != nil {
		return err
	}
	d.elsewhere = d.relatives == 0 && d.filtered > 0
	d.forget()
	return nil
}

// read reads a transformed text as this decision does.
func (d *decision) read(v *version, text string) bool { return v.read(text, d.how) }

// selection returns the outcome of a run.
func (d *decision) selection() (Selection, error) {
	if candidates, stands := d.candidates(); len(candidates) > 0 {
		sel := Selection{
			Tag: candidates[0].tag, Newer: true, Kept: d.kept,
			Candidates: d.stepped(candidates), Leaps: d.leaps(candidates),
		}
		if stands == offBase || stands == rebuilt {
			sel.Kept, sel.LeftBase = d.kept+d.offBase, d.running.base.text
		}
		return sel, nil
	}
	next, err := d.afterDrop()
	if err != nil || next == "" {
		return Selection{Tag: d.current}, err
	}
	only := []Candidate{{Tag: next, Diff: d.Diff(d.current, next)}}
	return Selection{Tag: next, Newer: true, Kept: 1, LeftBase: d.running.base.text, Candidates: only}, nil
}

// run judges the tags and ranks those that are newer.
func (d *decision) run(tags []string, note func(*decision, string, Reason)) error {
	slowest := d.slowest()
	for i, tag := range tags {
		if err := d.spent(slowest, i); err != nil {
			return err
		}
		reason, err := d.judge(tag)
		if err != nil {
			return err
		}
		if reason == ReasonStep {
			d.leaveOut(tag, d.candidate)
		}
		if reason == ReasonNewer || reason == ReasonBase {
			if reason == ReasonNewer {
				d.kept++
			} else {
				d.offBase++
			}
			d.rank(tag)
		}
		if note != nil {
			note(d, tag, reason)
		}
	}
	return nil
}

// judge says what becomes of a tag, and leaves its version in d.candidate. The rules
// stand in the order of WUD's.
func (d *decision) judge(tag string) (Reason, error) {
	if reason, err := d.filter(tag); reason != "" || err != nil {
		return reason, err
	}
	d.filtered++
	if tag == d.current {
		d.prefixed++
		d.relatives++
		return ReasonCurrent, nil
	}
	if !d.isVersion {
		return ReasonCurrentNotVersion, nil
	}
	raw := layoutOf(tag)
	if d.include == nil && !strings.EqualFold(raw.prefix, d.raw.prefix) {
		return ReasonPrefix, nil
	}
	d.prefixed++
	text, _, err := d.transform.apply(tag)
	if err != nil {
		return "", err
	}
	v := d.candidate
	if !d.read(v, text) {
		return ReasonNotVersion, nil
	}
	switch {
	case raw.count != d.raw.count:
		if d.running.base.text != "" {
			d.drop.addPrecise(v, &d.running)
		}
		return ReasonCount, nil
	case !d.elsewhere && !d.related(v):
		return ReasonFamily, nil
	}
	d.relatives++
	switch {
	case v.stage < min(d.running.stage, stable) && !d.prerelease:
		return ReasonPrerelease, nil
	case v.date != d.running.date:
		return ReasonDate, nil
	case d.include == nil && d.entersCalendar(v):
		return ReasonCalendar, nil
	}
	switch d.stands = d.standing(v); d.stands {
	case behind:
		if d.running.base.text != "" {
			d.drop.addEqual(tag, v, &d.running)
		}
		return ReasonNotNewer, nil
	case offBase, rebuilt:
		if d.admits(v) {
			return ReasonBase, nil
		}
	default:
		if d.admits(v) {
			return ReasonNewer, nil
		}
	}
	return ReasonStep, nil
}

// filter applies the rules that need no version. It returns "" for tags that pass.
func (d *decision) filter(tag string) (Reason, error) {
	if strings.HasSuffix(tag, ".sig") || strings.HasSuffix(tag, ".att") || strings.HasSuffix(tag, ".sbom") {
		return ReasonArtifact, nil
	}
	if d.include == nil {
		if strings.HasPrefix(tag, "sha") {
			return ReasonSHA, nil
		}
	} else if ok, err := d.include.match(tag); !ok || err != nil {
		return ReasonInclude, err
	}
	if excluded, err := d.exclude.match(tag); excluded || err != nil {
		return ReasonExclude, err
	}
	return "", nil
}

// warn returns what the owner of the container should know.
func (d *decision) warn(transformed bool) []string {
	warnings := append([]string(nil), d.warnings...)
	add := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if !transformed {
		add("the tag transform does not match the current tag %q, which is read as it is", d.current)
	}
	switch {
	case !d.isVersion:
	case d.filtered == 0:
		add("no tag is left after the include and exclude rules")
	case d.prefixed == 0:
		add("no tag begins with %q as the current tag does: set an include pattern", d.raw.prefix)
	case d.elsewhere:
		add("the include pattern admits neither the current tag %q nor others like it: tags of other families are offered", d.current)
	}
	return warnings
}
