package tag

import "time"

// matchBudget bounds the time of one selection that has patterns, each of which may be slow
// on every tag of a big repository. It is the time on the clock, so that it has to allow
// for a machine that is busy with other things.
const matchBudget = 5 * time.Second

// spent returns an error when the search has been cancelled, or has used up its budget
// after n tags. It looks at the clock as often as the patterns may be slow.
func (d *search) spent(slowest *filter, n int) error {
	if n%64 == 0 {
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	if slowest == nil || (slowest.linear != nil && n%16 != 0) || time.Now().Before(d.deadline) {
		return nil
	}
	return &RuleError{Rule: slowest.rule, Pattern: slowest.text, Err: ErrTimeout}
}

// slowest returns the rule that probably takes most of the time: one that backtracks, or
// else the one with the largest program; nil when there are no patterns.
func (s *Selector) slowest() *filter {
	rules := []*filter{s.include, s.exclude}
	if s.transform != nil {
		rules = append(rules, &filter{rule: "transform", text: s.transform.text, pattern: s.transform.match})
	}
	var slowest *filter
	for _, f := range rules {
		switch {
		case f == nil:
		case slowest == nil,
			f.linear == nil && slowest.linear != nil,
			(f.linear == nil) == (slowest.linear == nil) && f.size > slowest.size:
			slowest = f
		}
	}
	return slowest
}
