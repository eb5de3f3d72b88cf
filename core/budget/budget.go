// Package budget counts requests to hosts against what they are allowed in a period of
// time. It knows nothing of HTTP: who makes a request takes it from the Book first.
package budget

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// slices of a period are counted together, so that memory does not grow with requests.
	parts = 60
	// unlimitedPer is the period over which the requests to hosts without an allowance are counted.
	unlimitedPer = time.Hour
	// maxHosts bounds the hosts without an allowance that are counted.
	maxHosts = 256
	// The bounds of an allowance.
	maxRequests = 1_000_000
	minPer      = time.Minute
	maxPer      = 31 * 24 * time.Hour
)

// Allowance is how many requests a host gets in any period of a length.
type Allowance struct {
	Requests int
	Per      time.Duration
}

// String returns "100 requests in 6h".
func (a Allowance) String() string {
	per := strings.TrimSuffix(strings.TrimSuffix(a.Per.String(), "0s"), "0m")
	if a.Requests == 1 {
		return "1 request in " + per
	}
	return strconv.Itoa(a.Requests) + " requests in " + per
}

// Parse reads "docker.io=100/6h": a host as it stands in names of images, and its allowance. The
// period may be a unit alone: "100/h". The error says what is wrong with which part.
func Parse(text string) (host string, a Allowance, err error) {
	host, allowed, found := strings.Cut(text, "=")
	number, per, divided := strings.Cut(allowed, "/")
	host, per = strings.ToLower(strings.TrimSpace(host)), strings.TrimSpace(per)
	if !found || !divided || host == "" {
		return "", a, fmt.Errorf("%q: want a host, a number of requests and a period: docker.io=100/6h", text)
	}
	if strings.ContainsAny(host, "/ ") {
		return "", a, fmt.Errorf("%q: the host %q is none: want it as in names of images, such as ghcr.io or registry.example.org:5000", text, host)
	}
	if host == "registry-1.docker.io" || host == "index.docker.io" || host == "hub.docker.com" {
		return "", a, fmt.Errorf("%q: want the host of Docker Hub as docker.io", text)
	}
	if a.Requests, err = strconv.Atoi(strings.TrimSpace(number)); err != nil || a.Requests < 1 || a.Requests > maxRequests {
		return "", a, fmt.Errorf("%q: %q is no number of requests: want 1 to %d", text, number, maxRequests)
	}
	if a.Per, err = period(per); err != nil || a.Per < minPer || a.Per > maxPer {
		return "", a, fmt.Errorf("%q: %q is no period: want 1m to %dh, such as h, 6h or 24h", text, per, int(maxPer.Hours()))
	}
	return host, a, nil
}

func period(text string) (time.Duration, error) {
	if text == "d" || text == "day" {
		return 24 * time.Hour, nil
	}
	if strings.Trim(text, "hm") == "" {
		text = "1" + text
	}
	return time.ParseDuration(text)
}

// Use is what is known of the requests to a host.
type Use struct {
	Host string
	// Allowance is the zero value where none is set; then Used are those of the last hour.
	Allowance Allowance
	// Used is how many requests were made in the period that ends now.
	Used int
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

// Left returns how many requests may be made now; it means something only with an Allowance.
func (u Use) Left() int { return max(0, u.Allowance.Requests-u.Used) }

// Forecast is the use of a host, and what will be wanted of it.
type Forecast struct {
	Use
	// Next is how many requests the next checks make at most.
	Next int
}

// Spreads reports whether the next checks want more than they may have now.
func (f Forecast) Spreads() bool { return f.Allowance.Requests > 0 && f.Next > f.Left() }

// Book counts requests by host. Its methods may be called concurrently.
type Book struct {
	now func() time.Time

	mu    sync.Mutex
	hosts map[string]*count
}

// count has the requests of one host.
type count struct {
	allowed Allowance
	// made are the requests by part of the period: the number of the part since 1970, and how many.
	made [parts]struct {
		part int64
		n    int
	}
}

// NewBook returns a Book of hosts with allowances, by the names of the hosts in lower case.
func NewBook(allowed map[string]Allowance, now func() time.Time) *Book {
	b := &Book{now: now, hosts: map[string]*count{}}
	for host, a := range allowed {
		b.hosts[host] = &count{allowed: a}
	}
	return b
}

// Take counts a request to a host. When its allowance is used up, it counts nothing, and
// returns when the next request may be made.
func (b *Book) Take(host string) (fullUntil time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	host = strings.ToLower(host)
	c, known := b.hosts[host]
	if !known {
		if len(b.hosts) >= maxHosts {
			maps.DeleteFunc(b.hosts, func(_ string, c *count) bool { return c.allowed == Allowance{} })
		}
		c = &count{}
		b.hosts[host] = c
	}
	now := b.now()
	if _, full := c.used(now); !full.IsZero() {
		return full
	}
	part := now.UnixNano() / int64(c.length())
	slot := &c.made[part%parts]
	if slot.part != part {
		slot.part, slot.n = part, 0
	}
	slot.n++
	return time.Time{}
}

// Of returns the use of one host.
func (b *Book) Of(host string) Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	host = strings.ToLower(host)
	c, known := b.hosts[host]
	if !known {
		return Use{Host: host}
	}
	u := Use{Host: host, Allowance: c.allowed}
	u.Used, u.FullUntil = c.used(b.now())
	return u
}

// Hosts returns the hosts that have an allowance or got a request, in their order.
func (b *Book) Hosts() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.hosts))
}

// length is that of a part. A period has one part less than there are slots, so that the
// oldest part is as a whole outside of it when its slot is used again.
func (c *count) length() time.Duration {
	return Use{Allowance: c.allowed}.Period() / (parts - 1)
}

// used returns how many requests were made in the period before now, and when the next is allowed if
// that is not now. A part counts as long as any of it is in the period.
func (c *count) used(now time.Time) (n int, fullUntil time.Time) {
	length := c.length()
	current := now.UnixNano() / int64(length)
	oldest := int64(0)
	for _, made := range c.made {
		if made.n == 0 || made.part <= current-parts {
			continue
		}
		n += made.n
		if oldest == 0 || made.part < oldest {
			oldest = made.part
		}
	}
	if c.allowed.Requests > 0 && n >= c.allowed.Requests {
		fullUntil = time.Unix(0, (oldest+parts)*int64(length)).UTC()
	}
	return n, fullUntil
}
