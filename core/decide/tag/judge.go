package tag

import (
	"strings"
)

// judgeAll judges the tags and ranks those that are newer.
func (d *search) judgeAll(tags []string, note func(*search, string, Reason)) error {
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
			d.leaveOut(tag, d.judged)
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

// judge says what becomes of a tag, and leaves its version in d.judged. The rules
// stand in the order of WUD's.
func (d *search) judge(tag string) (Reason, error) {
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
	v := d.judged
	if !d.read(v, text) {
		return ReasonNotVersion, nil
	}
	switch {
	case raw.count != d.raw.count:
		if d.dropped != nil {
			d.dropped.addPrecise(v, &d.running)
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
	case notNewer:
		if d.dropped != nil {
			d.dropped.addEqual(tag, v, &d.running)
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
func (d *search) filter(tag string) (Reason, error) {
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
