package plugin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Limits bound what a third-party bundle uses, with all that it starts. 0 is no limit.
type Limits struct {
	// Memory is in bytes, and CPU in processors. Both hold where Dogwatch has a control group to give.
	Memory int64
	CPU    float64
	// Processes counts threads, too, in a control group.
	Processes int
	// Temp is how many bytes are in its temporary folder.
	Temp int64
}

// DefaultLimits are those of a bundle of which nothing else is said.
func DefaultLimits() Limits { return Limits{Memory: 256 << 20, Processes: 256, Temp: 64 << 20} }

// limitEvery is the pause between two looks at what the system lets grow.
const limitEvery = 500 * time.Millisecond

// fullLookEvery is how many looks are from one at everything to the next, which finds what grows
// while others make the same room: 10 s.
const fullLookEvery = 20

// limiter ends third-party bundles that exceed what no control group bounds, and collects what
// their processes left behind. It may be used concurrently.
type limiter struct {
	dir string // of the host, whose volume has the temporary folders
	mu  sync.Mutex
	// live are the processes that are looked at, with the log of their bundles.
	live map[*child]hclog.Logger
}

// watch has a process looked at until it has ended.
func (l *limiter) watch(c *child, log hclog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.live) == 0 {
		l.live = map[*child]hclog.Logger{}
		go l.follow()
	}
	l.live[c] = log
}

// follow looks again and again, until all processes have ended. What costs more is done at once when
// what costs little shows growth: the number of threads of the system, and the free space of the volume.
func (l *limiter) follow() {
	const least = 64
	var orphans orphanage
	threadsBefore, _ := threads()
	freeBefore := freeSpace(l.dir)
	for look := 1; l.some(); look++ {
		time.Sleep(limitEvery)
		orphans.collect()
		now, _ := threads()
		threadsBefore = min(threadsBefore, now)
		free := freeSpace(l.dir)
		freeBefore = max(freeBefore, free)
		full := look%fullLookEvery == 0
		crowded, filled := full || now-threadsBefore >= least, full || freeBefore-free >= DefaultLimits().Temp/4
		var processes []entry
		if crowded || filled {
			processes = entries()
		}
		for c, log := range l.all() {
			c.limits(processes, crowded, filled, log)
		}
		if crowded {
			threadsBefore = now
		}
		if filled {
			freeBefore = free
		}
	}
}

// some forgets the processes that have ended, and reports whether others are left.
func (l *limiter) some() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.live {
		select {
		case <-c.exited:
			delete(l.live, c)
		default:
		}
	}
	return len(l.live) > 0
}

func (l *limiter) all() map[*child]hclog.Logger {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[*child]hclog.Logger, len(l.live))
	for c, log := range l.live {
		all[c] = log
	}
	return all
}

// limits ends the process when it has too many others, or too much in its folder, each of
// which is looked at where it may be so.
// processes are those of the system, if it is to be looked at.
func (c *child) limits(processes []entry, crowded, filled bool, log hclog.Logger) {
	limit := c.confined.limits
	if c.confined.group.crowded() {
		log.Warn("plugin can start no further process or thread (plugins.limits)", "limit", limit.Processes)
	}
	if crowded && limit.Processes > 0 && !c.confined.group.bounds("pids") {
		if n := len(c.offspring().living(processes)); n > limit.Processes {
			c.exceed(log,
				fmt.Errorf("it had %d processes, and may have %d (plugins.limits): it was ended with all that it started", n, limit.Processes))
		}
	}
	if filled && limit.Temp > 0 {
		if n := usage(c.confined.dir, c.offspring().living(processes)); n > limit.Temp {
			c.exceed(log,
				fmt.Errorf("it had %s in its temporary folder, and may have %s (plugins.limits): it was ended", size(n),
					size(limit.Temp)))
		}
	}
}

// exceed ends the process for a reason.
func (c *child) exceed(log hclog.Logger, reason error) {
	if c.reason.CompareAndSwap(nil, &reason) {
		log.Error("plugin exceeds its limits", "error", reason)
	}
	_ = c.Kill(context.Background())
}

// exceeded returns why the process was ended, when that was for a limit; nil otherwise.
func (c *child) exceeded() error {
	if reason := c.reason.Load(); reason != nil {
		return *reason
	}
	return nil
}

// size writes a number of bytes: "256 MB".
func size(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
