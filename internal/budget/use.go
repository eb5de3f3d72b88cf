package budget

import (
	"math"
	"time"
)

// Report is what a host says of its limit.
type Report struct {
	// Allowance is what the host allows. Its period is 0 when the host did not say it.
	Allowance
	// Remaining is how many of them were left at At.
	Remaining int
	At        time.Time
	// ResetsAt is when all are allowed again; zero when the host did not say.
	ResetsAt time.Time
	// Pulls is true when reads of manifests count and nothing else.
	Pulls bool
}

// until is how long the report is believed. The periods of many hosts slide, so that there is
// more again long before the end of one: a request then finds out.
func (r Report) until() time.Time {
	if !r.ResetsAt.IsZero() {
		return r.ResetsAt
	}
	if r.Per == 0 || r.Per > believed {
		return r.At.Add(believed)
	}
	return r.At.Add(r.Per)
}

// Use is what is known of the requests to a host.
type Use struct {
	Host string
	// For is the host of images for which the requests were made. It differs from Host for
	// services of tokens, and where a registry sends on to another host.
	For string
	// Allowance is the zero value where none is set; then Used are those of the last hour.
	Allowance Allowance
	// Used is how many requests were made in the period that ends now.
	Used int
	// Estimated is true while requests are counted as one for each question, because the
	// plugin does not count them.
	Estimated bool
	// Reported is what the host itself said last; the zero value when it said nothing, or
	// that is over. Since is how many of what it counts were made since then.
	Reported Report
	Since    int
	// FullUntil is when the next request may be made; zero when that is now.
	FullUntil time.Time
}

// Period returns over how long Used were made.
func (u Use) Period() time.Duration {
	if u.Allowance.Per == 0 {
		return unlimitedPer
	}
	return u.Allowance.Per
}

// Limited reports whether a budget is set, or the host says how many requests it allows.
func (u Use) Limited() bool { return u.Allowance.Requests > 0 || u.reports() }

// reports is whether what the host reports is about requests of any kind.
func (u Use) reports() bool { return u.Reported.Requests > 0 && !u.Reported.Pulls }

// Left returns how many requests may be made now: as many as one wants where the use is not Limited.
func (u Use) Left() int {
	left := math.MaxInt
	if u.Allowance.Requests > 0 {
		left = max(0, u.Allowance.Requests-u.Used)
	}
	if u.reports() {
		left = min(left, u.LeftAsReported())
	}
	return left
}

// LeftAsReported returns how many of the requests or pulls that the host reported are left.
func (u Use) LeftAsReported() int { return max(0, u.Reported.Remaining-u.Since) }

// ByReport reports whether it is what the host says that leaves the fewest requests, and
// not the budget that is set.
func (u Use) ByReport() bool {
	return u.reports() && (u.Allowance.Requests == 0 || u.LeftAsReported() < u.Allowance.Requests-u.Used)
}
