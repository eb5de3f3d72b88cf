package hostlimit

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// startLimit is how many requests a host gets at a time before more is known of it.
	startLimit = 8
	// slowRatio is how many times as long as usually an answer takes that does not come as fast as before.
	slowRatio = 1.75
	// lateAnswer is after which time an answer is too late, whatever other ones take (5 s as in AIMDLimit).
	lateAnswer = 5 * time.Second
	// leastRound is how many answers a round has at least (N_RTT_SAMPLE in RFC 9406).
	leastRound = 8
	// idleTime is after which time without a request what was learnt of a host counts as old: its connections are
	// closed, and others may use it now.
	idleTime = time.Minute
)

// concurrency is how many requests a host gets at a time: more while it answers as fast as before, half as many as
// soon as it refuses one for its load or slows down. It is the congestion control of TCP, with slow start and additive
// increase (RFC 5681). Slow-downs are seen before a refusal, from round to round (as HyStart++ does, RFC 9406, section
// 4.2): by the ratio of what answers take now to a longer average, as Gradient2Limit of Netflix' concurrency-limits
// does (https://github.com/Netflix/concurrency-limits). It may be used concurrently.
type concurrency struct {
	most float64

	mu       sync.Mutex
	limit    float64
	underWay int
	waiting  []chan struct{} // each is closed when its request gets a slot
	// doubles is up to which limit each answer makes room for one more; beyond it only each round does.
	doubles float64
	// usual is a moving average of what answers take, which only rounds with few requests can make longer; 0 when it is
	// not known.
	usual time.Duration
	// cutAt is when the limit was halved last: what was asked earlier says nothing about the new one.
	cutAt time.Time
	// usedAt is when the last request ended.
	usedAt time.Time
	// round is how many answers the round that goes on has, as many as requests may be under way when it begins, and
	// answers what those took that are there.
	round   int
	answers []time.Duration
}

func newConcurrency(most int) *concurrency {
	c := &concurrency{most: float64(max(most, 1))}
	c.limit, c.doubles = min(startLimit, c.most), c.most
	c.begin()
	return c
}

// enter waits for a slot, in the order of the calls. The caller must call leave, unless there is an error, which is
// that of ctx.
func (c *concurrency) enter(ctx context.Context, now time.Time) error {
	c.mu.Lock()
	if c.underWay == 0 && !c.usedAt.IsZero() && now.Sub(c.usedAt) > idleTime {
		c.restart()
	}
	if len(c.waiting) == 0 && c.underWay < int(c.limit) {
		c.underWay++
		c.mu.Unlock()
		return nil
	}
	slot := make(chan struct{})
	c.waiting = append(c.waiting, slot)
	c.mu.Unlock()
	select {
	case <-slot:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiting, slot); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	} else { // it got its slot meanwhile
		c.underWay--
		c.admit()
	}
	return ctx.Err()
}

// leave frees the slot of a request that was made.
func (c *concurrency) leave(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.underWay--
	c.usedAt = now
	c.admit()
}

// admit gives free slots to those who wait. The caller holds mu.
func (c *concurrency) admit() {
	for len(c.waiting) > 0 && c.underWay < int(c.limit) {
		close(c.waiting[0])
		c.waiting = c.waiting[1:]
		c.underWay++
	}
}

// restart begins anew after a time without requests, as RFC 5681 does in section 4.1, with what the limit was as that
// up to which it doubles. The caller holds mu.
func (c *concurrency) restart() {
	c.doubles = max(c.doubles, c.limit)
	c.limit = min(c.limit, startLimit)
	c.begin()
}

// begin begins a round. The caller holds mu.
func (c *concurrency) begin() {
	c.round, c.answers = max(int(c.limit), leastRound), c.answers[:0]
}

// answered is called before leave when the host has answered a request that was begun then, and took so long for it.
// It returns the limits before and after when it was halved.
func (c *concurrency) answered(began, now time.Time, took time.Duration) (before, after int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if took > lateAnswer {
		return c.cut(began, now)
	}
	if began.Before(c.cutAt) {
		return 0, 0
	}
	if c.answers = append(c.answers, took); len(c.answers) == c.round && c.judge() {
		return c.cut(began, now)
	}
	fast := c.usual == 0 || float64(took) <= slowRatio*float64(c.usual)
	if fast && 2*c.underWay >= int(c.limit) { // else the limit is not what bounds the requests
		more := 1.0
		if c.limit >= c.doubles {
			more = 1 / c.limit
		}
		c.limit = min(c.limit+more, c.most)
	}
	return 0, 0
}

// judge ends a round, and reports whether the host has slowed down in it: whether even the faster quarter of its
// answers was not as fast as before. What makes some late, such as a busy processor here, is not the host's. The caller
// holds mu.
func (c *concurrency) judge() (slow bool) {
	slices.Sort(c.answers)
	now := c.answers[len(c.answers)/4]
	if c.usual == 0 || now < c.usual {
		c.usual = now
	}
	slow = float64(now) > slowRatio*float64(c.usual)
	// With more requests at a time the average would follow what these themselves cause.
	if c.round <= startLimit {
		c.usual = (c.usual + now) / 2
	}
	c.begin()
	return slow
}

// overloaded is called before leave when the host has refused a request that was begun then for its load. It returns
// the limits before and after when it was halved.
func (c *concurrency) overloaded(began, now time.Time) (before, after int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut(began, now)
}

// cut halves the limit, once for all requests that were under way then (as RFC 6582 has one loss of a window count).
// The caller holds mu.
func (c *concurrency) cut(began, now time.Time) (before, after int) {
	if began.Before(c.cutAt) {
		return 0, 0
	}
	before = int(c.limit)
	c.limit = max(c.limit/2, 1)
	c.doubles, c.cutAt = c.limit, now
	c.begin()
	return before, int(c.limit)
}

// now returns the limit.
func (c *concurrency) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.limit)
}
