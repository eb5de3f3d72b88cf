package tag

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Select returns the best of the tags for a container that runs current, whatever their
// order. It never returns a tag that is not strictly newer. The error is that of ctx, or a
// *RuleError wrapping ErrTimeout; the rules then cannot be applied to this repository.
// Tags that are known stay eligible while they are newer, however many are better.
func (s *Selector) Select(ctx context.Context, current string, tags []string, known ...string) (Selection, error) {
	return s.search(ctx, current, tags, known, nil)
}

// search is what is behind Select and Explain. It calls note, if any, with
// each tag and what became of it.
func (s *Selector) search(
	ctx context.Context, current string, tags, known []string, note func(*search, string, Reason),
) (Selection, error) {
	d := search{
		Selector: s, ctx: ctx, current: current, judged: new(version), raw: layoutOf(current),
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
	if err := d.followPath(tags); err != nil {
		return Selection{Tag: current}, err
	}
	if err := d.judgeAll(tags, note); err != nil {
		return Selection{Tag: current}, err
	}
	sel, err := d.selection()
	if err != nil {
		return Selection{Tag: current}, err
	}
	sel.Warnings = d.warn(matched)
	if d.far.beyond != nil {
		sel.Beyond, sel.LeftOut, sel.First = d.far.tag, d.far.count, d.comesFirst(d.far.beyond)
	}
	return sel, nil
}

// prepare reads the current tag and decides how all others are read. Who excludes the
// current tag by a rule wants to leave its base, and perhaps its family.
func (d *search) prepare(text string, tags []string) error {
	d.how = reading{runtimes: d.include == nil}
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
	if d.read(&d.running, text); d.running.base.text != "" {
		d.dropped = new(droppedBase)
	}
	return nil
}

// lookElsewhere sets d.elsewhere when the include pattern, which does not admit the current
// tag, admits no other tag of its family either: then the owner wants to leave the family.
func (d *search) lookElsewhere(tags []string) error {
	if err := d.judgeAll(tags, nil); err != nil {
		return err
	}
	d.elsewhere = d.relatives == 0 && d.filtered > 0
	d.forget()
	return nil
}

// selection returns the outcome of a run.
func (d *search) selection() (Selection, error) {
	if best, stands := d.rankedTags(); len(best) > 0 {
		sel := Selection{
			Tag: best[0].tag, Newer: true, Kept: d.kept,
			Tags: d.stepped(best), Leaps: d.leaps(best),
		}
		if stands == offBase || stands == rebuilt {
			sel.Kept, sel.LeftBase = d.kept+d.offBase, d.running.base.text
		}
		return sel, nil
	}
	next, err := d.afterDroppedBase()
	if err != nil || next == "" {
		return Selection{Tag: d.current}, err
	}
	only := []Newer{{Tag: next, Diff: d.Diff(d.current, next)}}
	return Selection{Tag: next, Newer: true, Kept: 1, LeftBase: d.running.base.text, Tags: only}, nil
}

// warn returns what the owner of the container should know.
func (d *search) warn(transformed bool) []phrase.Phrase {
	warnings := slices.Clone(d.warnings)
	add := func(w phrase.Phrase) { warnings = append(warnings, w) }
	if !transformed {
		add(phrase.New("the tag transform does not match the current tag %q, which is read as it is", d.current))
	}
	switch {
	case !d.isVersion:
	case d.filtered == 0:
		add(phrase.New("no tag is left after the include and exclude rules"))
	case d.prefixed == 0:
		add(phrase.New("no tag begins with %q as the current tag does: set an include pattern", d.raw.prefix))
	case d.elsewhere:
		add(phrase.New("the include pattern admits neither the current tag %q nor others like it: tags of other families are offered", d.current))
	}
	return warnings
}

// followPath finds out how far a path lets a search go.
func (d *search) followPath(tags []string) error {
	if d.path == nil || !d.isVersion {
		return nil
	}
	for _, stop := range d.path.Stops {
		numbers := numbersOf(stop)
		if d.running.compareTo(numbers) < 0 {
			d.far.stop = numbers
			break
		}
	}
	if d.path.Line == 0 {
		return nil
	}
	d.far.isSeeking = true
	if err := d.judgeAll(tags, nil); err != nil {
		return err
	}
	d.forget()
	d.far.isSeeking = false
	if d.far.line = d.far.next; d.far.line == nil {
		d.far.line = d.far.elsewhere
	}
	return nil
}

// afterDroppedBase returns the tag of the current version on the nearest base that has the newest of
// the more precise tags; "" when none of these shows that the current base was dropped.
func (d *search) afterDroppedBase() (string, error) {
	b := d.dropped
	if b == nil || len(b.here.main) == 0 || compareMain(&b.later, &b.here) <= 0 {
		return "", nil
	}
	best, slowest := "", d.slowest()
	for i, tag := range b.equals {
		if err := d.spent(slowest, i); err != nil {
			return "", err
		}
		text, _, err := d.transform.apply(tag)
		if err != nil {
			return "", err
		}
		if !d.read(d.judged, text) || compareLists(d.judged.release(), b.later.release()) != 0 {
			continue
		}
		if best == "" || len(tag) < len(best) || (len(tag) == len(best) && tag < best) {
			best = tag
		}
	}
	return best, nil
}
