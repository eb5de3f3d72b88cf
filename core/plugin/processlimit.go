package plugin

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// maxProcesses is how many processes a third-party bundle may have at once, with those that
	// it started. Limits of the kernel count all processes of a user (RLIMIT_NPROC), or need a
	// control group.
	maxProcesses = 256
	// crowdEvery is the pause between two looks at how many there are.
	crowdEvery = 500 * time.Millisecond
)

// crowds ends third-party bundles that have started too many processes. What has left the
// group of its process is not seen (setsid(2)). It may be used concurrently.
type crowds struct {
	mu   sync.Mutex
	live map[*child]hclog.Logger
}

// watch has a process looked at until it has ended.
func (c *crowds) watch(p *child, log hclog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.live) == 0 {
		c.live = map[*child]hclog.Logger{}
		go c.follow()
	}
	c.live[p] = log
}

// follow looks again and again, until all processes have ended. Groups are counted only when
// the system has many more threads than before, apart from those that were counted as
// of a bundle, which costs little to learn.
func (c *crowds) follow() {
	least := 0
	for c.some() {
		now, known := threads()
		least = min(least, now)
		if known && now-least >= maxProcesses/2 {
			least = now - c.limit(groups())
		}
		time.Sleep(crowdEvery)
	}
}

// some forgets the processes that have ended, and reports whether others are left.
func (c *crowds) some() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.live {
		select {
		case <-p.exited:
			delete(c.live, p)
		default:
		}
	}
	return len(c.live) > 0
}

// limit ends what is too large, of groups of these sizes, and returns how large those
// that are looked at are in all.
func (c *crowds) limit(sizes map[int]int) (total int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, log := range c.live {
		n := sizes[p.pid()]
		total += n
		if n > maxProcesses {
			p.crowd.Store(int32(n))
			log.Error("plugin has too many processes, and is ended with all that it started", "processes", n, "limit", maxProcesses)
			_ = p.Kill(context.Background())
		}
	}
	return total
}
