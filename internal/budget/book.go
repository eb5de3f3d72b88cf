package budget

import (
	"maps"
	"strings"
	"sync"
	"time"
)

const (
	// believed is for how long at most a report is taken for the truth when the host does not say when it ends.
	believed = time.Hour
	// recent is how many calls count for what one costs: older ones count for half of it.
	recent = 500
)

// Book counts requests by host. Its methods may be called concurrently.
type Book struct {
	now func() time.Time

	mu    sync.Mutex
	hosts map[string]*count
	// changed is true when there is more than Saved has returned.
	changed bool
}

// count has the requests of one host.
type count struct {
	owner   string // the host whose budget it is
	allowed Allowance
	// made are the requests by part of the period: the number of the part since 1970, and how many.
	made [parts]struct {
		part int64
		n    int
	}
	// open are the requests that were taken and may be under way, openPulls those of them that are pulls.
	open, openPulls int
	estimated       bool
	// reported is what the host said last, since what was made since then of what it counts.
	reported Report
	since    int
	// calls were answered with so many requests, of late.
	calls, requests int
	// next is what the next checks want, as Plan has set it.
	next int
}

// NewBook returns a Book of hosts with allowances, by the names of the hosts in lower case.
func NewBook(allowed map[string]Allowance, now func() time.Time) *Book {
	b := &Book{now: now, hosts: map[string]*count{}}
	for host, a := range allowed {
		b.hosts[host] = &count{owner: host, allowed: a}
	}
	return b
}

// Taken are requests that may be made. Done must be called, once.
type Taken struct {
	book *Book
	host string
	n    int
	pull bool
}

// Take takes what a question to a host costs from its allowance, and from what the host itself
// reports. pull says that the question is one that hosts count which count pulls only. When
// there is not enough left, nothing is taken, and fullUntil is when there is again.
func (b *Book) Take(host string, pull bool) (t Taken, fullUntil time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.count(host, host)
	now := b.now()
	n := max(1, c.cost(1))
	if a := c.allowed.Requests; a > 0 {
		n = min(n, a) // or else it would never be asked
	}
	if used, full := c.used(now, n); !full.IsZero() && used > 0 {
		return t, full
	}
	if full := c.fullByReport(now, pull); !full.IsZero() {
		return t, full
	}
	c.open += n
	if pull {
		c.openPulls++
	}
	return Taken{book: b, host: strings.ToLower(host), n: n, pull: pull}, time.Time{}
}

// Done counts the requests that were made in the end, by host; with known false, it counts
// one to the host from which they were taken.
func (t Taken) Done(requests map[string]int, known bool) {
	b := t.book
	b.mu.Lock()
	defer b.mu.Unlock()
	c, kept := b.hosts[t.host]
	if kept {
		c.open = max(0, c.open-t.n)
		if t.pull {
			c.openPulls = max(0, c.openPulls-1)
		}
	} else {
		c = b.count(t.host, t.host)
	}
	if !known {
		requests = map[string]int{t.host: 1}
	}
	c.estimated = !known
	total := 0
	for host, n := range requests {
		host = strings.ToLower(host)
		b.count(host, t.host).add(b.now(), n)
		if host == t.host {
			total = n
		}
	}
	switch {
	case t.pull && c.reported.Pulls:
		c.since++
	case !c.reported.Pulls:
		c.since += total
	}
	if known && total == 0 && len(requests) > 0 {
		b.changed = true
		return // other hosts answered it, which says nothing about what calls to this one cost
	}
	if c.calls++; c.calls > recent {
		c.calls, c.requests = c.calls/2, c.requests/2
	}
	c.requests += total
	b.changed = true
}

// Report remembers what a host says of its limit, if that is new.
func (b *Book) Report(host string, r Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.count(host, host)
	if r.Requests > 0 && r.At.After(c.reported.At) {
		c.reported, c.since, b.changed = r, 0, true
	}
}

// Cost returns about how many requests a number of calls to a host takes.
func (b *Book) Cost(host string, calls int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, known := b.hosts[strings.ToLower(host)]; known {
		return c.cost(calls)
	}
	return calls
}

// Of returns the use of one host.
func (b *Book) Of(host string) Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	host = strings.ToLower(host)
	c, known := b.hosts[host]
	if !known {
		return Use{Host: host, For: host}
	}
	return c.use(host, b.now())
}

// count returns what is counted of a host, to which requests are made for another one. The caller holds mu.
func (b *Book) count(host, owner string) *count {
	host = strings.ToLower(host)
	c, known := b.hosts[host]
	if !known {
		if len(b.hosts) >= maxHosts {
			maps.DeleteFunc(b.hosts, func(_ string, c *count) bool { return c.allowed == Allowance{} && c.open == 0 })
		}
		c = &count{owner: strings.ToLower(owner)}
		b.hosts[host] = c
	}
	return c
}

func (c *count) use(host string, now time.Time) Use {
	u := Use{Host: host, For: c.owner, Allowance: c.allowed, Estimated: c.estimated}
	u.Used, u.FullUntil = c.used(now, 1)
	if c.reported.Requests > 0 && now.Before(c.reported.until()) {
		u.Reported, u.Since = c.reported, c.since+c.pending(c.reported.Pulls)
	}
	if full := c.fullByReport(now, false); full.After(u.FullUntil) {
		u.FullUntil = full
	}
	return u
}

// cost is about how many requests it takes to ask so many calls, rounded up.
func (c *count) cost(calls int) int {
	if c.calls == 0 {
		return calls
	}
	return (calls*c.requests + c.calls - 1) / c.calls
}

func (c *count) pending(pulls bool) int {
	if pulls {
		return c.openPulls
	}
	return c.open
}

// fullByReport returns until when the host has nothing left, as it says; zero when it has.
func (c *count) fullByReport(now time.Time, pull bool) time.Time {
	r := c.reported
	if r.Requests == 0 || r.Pulls && !pull || !now.Before(r.until()) || r.Remaining-c.since-c.pending(r.Pulls) > 0 {
		return time.Time{}
	}
	return r.until().UTC()
}

// add counts requests that are made now.
func (c *count) add(now time.Time, n int) {
	part := now.UnixNano() / int64(c.length())
	slot := &c.made[part%parts]
	if slot.part != part {
		slot.part, slot.n = part, 0
	}
	slot.n += n
}

// length is that of a part. A period has one part less than there are slots, so that the
// oldest part is as a whole outside of it when its slot is used again.
func (c *count) length() time.Duration {
	return Use{Allowance: c.allowed}.Period() / (parts - 1)
}

// used returns how many requests were made in the period before now or are under way, and when want
// more are allowed if that is not now. A part counts as long as any of it is in the period.
func (c *count) used(now time.Time, want int) (n int, fullUntil time.Time) {
	length := c.length()
	current := now.UnixNano() / int64(length)
	oldest := current
	n = c.open
	for _, bucket := range c.made {
		// Parts that are to come were counted before the clock was set back.
		if bucket.n == 0 || bucket.part <= current-parts || bucket.part > current {
			continue
		}
		n += bucket.n
		oldest = min(oldest, bucket.part)
	}
	if c.allowed.Requests > 0 && n+want > c.allowed.Requests {
		fullUntil = time.Unix(0, (oldest+parts)*int64(length)).UTC()
	}
	return n, fullUntil
}
