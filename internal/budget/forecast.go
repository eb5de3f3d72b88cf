package budget

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Forecast is the use of a host, and what will be wanted of it.
type Forecast struct {
	Use
	// Next is about how many requests the next checks make.
	Next int
}

// Spreads reports whether the next checks want more than they may have now.
func (f Forecast) Spreads() bool { return f.Limited() && f.Next > f.Left() }

// Brief says how many requests were made: "61 of 100 requests in 6 h used".
func (f Forecast) Brief() string {
	about := ""
	if f.Estimated {
		about = "about "
	}
	if f.Allowance.Requests == 0 {
		return about + requests(f.Used) + " in the last hour"
	}
	return fmt.Sprintf("%s%d of %s used", about, f.Used, f.Allowance)
}

// String is Brief with what the host reports, and what the next checks want of that.
func (f Forecast) String() string {
	text := f.Brief()
	if f.Estimated {
		text += " (one for each question, as the plugin does not count them)"
	}
	if f.reports() {
		text += fmt.Sprintf("; the host reports %d of %s left", f.LeftAsReported(), f.Reported)
	}
	text += "; the next checks need about " + requests(f.Next)
	switch {
	case f.Spreads():
		text += fmt.Sprintf(", of which %d are left for later ones", f.Next-f.Left())
	case !f.Limited():
		text += "; no limit is set"
	}
	return text
}

func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return strconv.Itoa(n) + " requests"
}

// Plan sets how many calls the next checks ask, by host, and returns the Forecasts of all
// hosts in their order.
func (b *Book) Plan(calls map[string]int) []Forecast {
	b.mu.Lock()
	defer b.mu.Unlock()
	for host := range calls {
		b.count(host, host)
	}
	var all []Forecast
	for _, host := range slices.Sorted(maps.Keys(b.hosts)) {
		c := b.hosts[host]
		if next := c.cost(calls[host]); c.next != next {
			c.next, b.changed = next, true
		}
		all = append(all, Forecast{Use: c.use(host, b.now()), Next: c.next})
	}
	return all
}

// Forecasts returns what is saved, as it is now with the given allowances.
func Forecasts(allowed map[string]Allowance, saved []Saved, now time.Time) []Forecast {
	b := NewBook(allowed, func() time.Time { return now })
	b.Load(saved)
	var all []Forecast
	for _, host := range slices.Sorted(maps.Keys(b.hosts)) {
		c := b.hosts[host]
		all = append(all, Forecast{Use: c.use(host, now), Next: c.next})
	}
	return all
}
