package tag

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Rules is what a container's policy asks of tag selection. Empty strings mean no rule.
type Rules struct {
	Include    string // JavaScript regular expression: only matching tags are candidates
	Exclude    string // JavaScript regular expression: matching tags are no candidates
	Transform  string // "regex => replacement with $1": how tags are read as versions
	Prerelease bool   // offer prereleases to a container that runs a release, too
}

// Selector applies compiled Rules. It is immutable and safe for concurrent use.
type Selector struct {
	include, exclude *filter
	transform        *transform
	prerelease       bool
	warnings         []string // about the rules themselves
}

// Selection is the answer of Select.
type Selection struct {
	Tag      string   // the best tag, or the current one when none is newer
	Newer    bool     // whether Tag is newer than the current tag
	Kept     int      // how many tags are newer and allowed
	LeftBase string   // the base of the current tag (alpine3.19) when Tag is on another one, because nothing newer is on this
	Warnings []string // what the owner of the container should know: rules that have no effect, no tags left
}

// matchBudget bounds the time that one decision spends with backtracking patterns that
// are slow but stay below the timeout of a match.
const matchBudget = 5 * time.Second

// Compile prepares rules. The error is a *RuleError. Rules that compile and yet can
// have no effect become warnings of each Selection.
func Compile(r Rules) (*Selector, error) {
	s := &Selector{prerelease: r.Prerelease}
	var err error
	if s.include, err = compileFilter("include", r.Include); err != nil {
		return nil, err
	}
	if s.exclude, err = compileFilter("exclude", r.Exclude); err != nil {
		return nil, err
	}
	t, warning, err := compileTransform(r.Transform)
	if err != nil {
		return nil, err
	}
	s.transform = t
	for _, w := range []string{s.include.hint(), s.exclude.hint(), warning} {
		if w != "" {
			s.warnings = append(s.warnings, w)
		}
	}
	return s, nil
}

// Transform returns the text that decides what version a tag is: the tag itself when
// there is no transform, it does not match, or it takes too long.
func (s *Selector) Transform(tag string) string {
	text, _, err := s.transform.apply(tag)
	if err != nil {
		return tag
	}
	return text
}

// IsVersion reports whether the transformed tag is a version. Only then can Select find
// a newer tag.
func (s *Selector) IsVersion(tag string) bool {
	var v version
	return s.read(&v, s.Transform(tag))
}

// Diff classifies the step between two tags: "major", "minor", "patch", "prerelease",
// or "unknown" when one is no version or the versions are equal. A fourth number that
// differs is a "patch", and a suffix number (-ls45) is a "prerelease", as WUD says.
func (s *Selector) Diff(current, candidate string) string {
	var a, b version
	if !s.read(&a, s.Transform(current)) || !s.read(&b, s.Transform(candidate)) {
		return "unknown"
	}
	return difference(&a, &b)
}

// Parts returns the numbers of a tag in decimal, for link templates, and the first
// identifier of its prerelease. All are empty when the tag is no version.
func (s *Selector) Parts(tag string) (major, minor, patch, prerelease string) {
	var v version
	if !s.read(&v, s.Transform(tag)) {
		return "", "", "", ""
	}
	return decimal(v.part(0)), decimal(v.part(1)), decimal(v.part(2)), v.prerelease()
}

// Select returns the best of the tags for a container that runs current, whatever their
// order. It never returns a tag that is not strictly newer. The error is a *RuleError
// wrapping ErrTimeout; the rules then cannot be applied to this repository.
func (s *Selector) Select(current string, tags []string) (Selection, error) {
	return s.decide(current, tags, nil)
}

// read reads a transformed text. Without an include pattern, the numbers of runtimes
// and hosts belong to the family.
func (s *Selector) read(v *version, text string) bool {
	return v.read(text, reading{pin: s.include == nil})
}

// decision is one run of a Selector over the tags of a repository.
type decision struct {
	*Selector
	current    string
	isVersion  bool
	running    version // the current tag
	raw        layout  // of the current tag, untransformed
	elsewhere  bool    // the include pattern asks for another family
	months     bool    // the current tag is a year and a month: 22.04, 23.10
	how        reading
	candidate  *version
	best       *version
	stands     standing // of the candidate
	bestStands standing
	bestTag    string
	kept       int // tags that are newer on the current base
	offBase    int // and on another one
	drop       baseDrop
	filtered   int // tags that passed the filters
	prefixed   int // of these, tags with the current prefix
	relatives  int // of these, tags of the current family
	slowBefore time.Time
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
func (s *Selector) decide(current string, tags []string, note func(*decision, string, Reason)) (Selection, error) {
	d := decision{Selector: s, current: current, candidate: new(version), best: new(version), raw: layoutOf(current)}
	d.slowBefore = time.Now().Add(matchBudget)
	text, matched, err := s.transform.apply(current)
	if err != nil {
		return Selection{Tag: current}, err
	}
	if err := d.prepare(text, tags); err != nil {
		return Selection{Tag: current}, err
	}
	if err := d.run(tags, note); err != nil {
		return Selection{Tag: current}, err
	}
	sel := d.selection()
	sel.Warnings = d.warn(matched)
	return sel, nil
}

// prepare reads the current tag and decides how all others are read. Whoever excludes the
// current tag by a rule wants to leave its base, and perhaps its family.
func (d *decision) prepare(text string, tags []string) error {
	d.how = reading{pin: d.include == nil}
	if d.isVersion = d.read(&d.running, text); !d.isVersion {
		return nil
	}
	d.months = d.running.month == paddedMonth || (d.running.month == likeMonth && d.paddedBefore(tags))
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

// paddedBefore reports whether there was a tag such as 22.04 before the current one, which
// makes a month of the 10 in 23.10.
func (d *decision) paddedBefore(tags []string) bool {
	start, end, _ := span(d.current)
	numbers := d.current[start:end]
	for _, tag := range tags {
		from, to, _ := span(tag)
		if monthOf(tag[from:to]) == paddedMonth && tag[from:to] < numbers && strings.EqualFold(tag[:from], d.raw.prefix) {
			return true
		}
	}
	return false
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
	d.kept, d.filtered, d.prefixed, d.relatives = 0, 0, 0, 0
	return nil
}

// read reads a transformed text as this decision does.
func (d *decision) read(v *version, text string) bool { return v.read(text, d.how) }

// selection returns the outcome of a run.
func (d *decision) selection() Selection {
	switch dropped := d.bestStands == offBase || d.bestStands == rebuilt; {
	case dropped:
		return Selection{Tag: d.bestTag, Newer: true, Kept: d.kept + d.offBase, LeftBase: d.running.base.text}
	case d.kept > 0:
		return Selection{Tag: d.bestTag, Newer: true, Kept: d.kept}
	}
	if next := d.afterDrop(); next != "" {
		return Selection{Tag: next, Newer: true, Kept: 1, LeftBase: d.running.base.text}
	}
	return Selection{Tag: d.current}
}

// run judges the tags and remembers the best.
func (d *decision) run(tags []string, note func(*decision, string, Reason)) error {
	backtracks := d.backtracks()
	for _, tag := range tags {
		if backtracks != nil && time.Now().After(d.slowBefore) {
			return &RuleError{Rule: backtracks.rule, Pattern: backtracks.text, Err: ErrTimeout}
		}
		reason, err := d.judge(tag)
		if err != nil {
			return err
		}
		if reason == ReasonNewer || reason == ReasonBase {
			first := d.kept+d.offBase == 0
			if reason == ReasonNewer {
				d.kept++
			} else {
				d.offBase++
			}
			if first || d.better(tag) {
				d.best, d.candidate, d.bestTag, d.bestStands = d.candidate, d.best, tag, d.stands
			}
		}
		if note != nil {
			note(d, tag, reason)
		}
	}
	return nil
}

// backtracks returns a rule that runs on the backtracking engine, or nil.
func (s *Selector) backtracks() *filter {
	for _, f := range []*filter{s.include, s.exclude} {
		if f != nil && f.linear == nil {
			return f
		}
	}
	if s.transform != nil && s.transform.match.linear == nil {
		return &filter{rule: "transform", text: s.transform.text}
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
		return ReasonBase, nil
	}
	return ReasonNewer, nil
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

// related reports whether v may follow the current tag: a version of its family, or one
// without the revisions of the current tag (10.8.13-1), which not every version has.
func (d *decision) related(v *version) bool {
	if d.how.bare {
		return sameFamily(v, &d.running)
	}
	for family, ok := d.running.family, true; ok; family, ok = withoutRevision(family) {
		if bytes.Equal(family, v.family) {
			return true
		}
	}
	return false
}

// better reports whether the candidate is better than the best so far. It is a total
// order, so that the order of the tags does not matter: what stands higher, then the newer
// version, then what is most like the current tag, then the shorter and the lower text.
func (d *decision) better(tag string) bool {
	a, b := d.candidate, d.best
	if d.stands != d.bestStands {
		return d.stands > d.bestStands
	}
	if c := compareCore(a, b); c != 0 {
		return c > 0
	}
	if x, y := sameFamily(a, &d.running), sameFamily(b, &d.running); x != y {
		return x
	}
	if c := len(a.family) - len(b.family); c != 0 {
		return c < 0
	}
	if c := bytes.Compare(a.family, b.family); c != 0 {
		return c < 0
	}
	if c := compareLists(a.lead(), b.lead()); c != 0 {
		return c > 0
	}
	if c := d.nearer(a, b); c != 0 {
		return c > 0
	}
	if c := compareLists(a.numbers, b.numbers); c != 0 {
		return c > 0
	}
	if x, y := a.prefix == d.running.prefix, b.prefix == d.running.prefix; x != y {
		return x
	}
	if d.transform != nil {
		// Tags that a transform makes equal: 4.40.9 and 4.40.10 by "^(\d+\.\d+)".
		if c := compareUntransformed(tag, d.bestTag); c != 0 {
			return c > 0
		}
	}
	if len(tag) != len(d.bestTag) {
		return len(tag) < len(d.bestTag)
	}
	return tag < d.bestTag
}

// compareUntransformed compares two tags as they are; one that is no version is lower.
// It allocates, but only for ties.
func compareUntransformed(a, b string) int {
	var va, vb version
	switch okA, okB := va.read(a, reading{}), vb.read(b, reading{}); {
	case okA && okB:
		if c := compareCore(&va, &vb); c != 0 {
			return c
		}
		return compareLists(va.numbers, vb.numbers)
	case okA:
		return 1
	case okB:
		return -1
	}
	return 0
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
