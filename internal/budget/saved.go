package budget

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Saved is what is kept of a host over a restart.
type Saved struct {
	Host      string
	For       string
	Made      []Made
	Estimated bool   `json:",omitempty"`
	Reported  Report `json:",omitzero"`
	Since     int    `json:",omitempty"`
	Questions int    `json:",omitempty"`
	Requests  int    `json:",omitempty"`
	Next      int    `json:",omitempty"`
}

// Made are N requests that were made before a time, in the part of a period that ends then.
type Made struct {
	Before time.Time
	N      int
}

// Saved returns what is to be kept of all hosts, and whether that has changed since the last call
// that returned true. It is of no more than 256 hosts, each with 60 numbers at most.
func (b *Book) Saved() (all []Saved, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.changed {
		return nil, false
	}
	b.changed = false
	now := b.now()
	for _, host := range slices.Sorted(maps.Keys(b.hosts)) {
		c := b.hosts[host]
		s := Saved{
			Host: host, For: c.owner, Estimated: c.estimated, Reported: c.reported, Since: c.since, Questions: c.calls,
			Requests: c.requests, Next: c.next,
		}
		length := int64(c.length())
		for _, bucket := range c.made {
			if bucket.n > 0 && bucket.part > now.UnixNano()/length-parts {
				s.Made = append(s.Made, Made{Before: time.Unix(0, (bucket.part+1)*length).UTC(), N: bucket.n})
			}
		}
		if len(s.Made) > 0 || s.Next > 0 || c.reported.Requests > 0 && now.Before(c.reported.until()) {
			all = append(all, s)
		}
	}
	return all, true
}

// Load adds what another Book has saved, whatever the allowances were then. What is older than
// the period of a host does not count, nor what is later than now, after a clock was set back.
func (b *Book) Load(all []Saved) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for _, s := range all {
		host := strings.ToLower(s.Host)
		if _, known := b.hosts[host]; !known && len(b.hosts) >= maxHosts || s.Questions < 0 || s.Requests < 0 || s.Since < 0 {
			continue
		}
		c := b.count(host, s.For)
		c.estimated, c.calls, c.requests, c.next = s.Estimated, s.Questions, s.Requests, s.Next
		if !s.Reported.At.After(now) {
			c.reported, c.since = s.Reported, s.Since
		}
		for _, saved := range s.Made {
			last := saved.Before.Add(-1)
			if last.After(now) {
				last = now // within the part that was not over yet
			}
			length := int64(c.length())
			if saved.N > 0 && saved.Before.Before(now.Add(maxPer)) && last.UnixNano()/length > now.UnixNano()/length-parts {
				c.add(last, saved.N)
			}
		}
	}
}
