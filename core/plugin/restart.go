package plugin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	pauses "github.com/dogwatch/dogwatch/internal/backoff"
)

const (
	firstBackoff = time.Second
	lastBackoff  = 2 * time.Minute
	// resetAfter without an exit forgets earlier ones.
	resetAfter = 10 * time.Minute
	// minUptime is how long a process must live for its exit not to count as a crash.
	minUptime = 10 * time.Second
	// maxCrashes in a row open the circuit breaker: the bundle is broken.
	maxCrashes = 5
)

// backoff decides what follows an exit: a restart at once, one after an
// exponential backoff with jitter, or none, when the circuit breaker opens.
type backoff struct {
	crashes int
	last    time.Time
}

// processExit is how a process, or an attempt to start one, ended.
type processExit struct {
	at time.Time
	// lived is 0 when the process never came up.
	lived time.Duration
	// responded is true when it had responded to a call of one of its instances.
	responded bool
	// outside is true when a signal from outside ended it.
	outside bool
}

// next returns how long to wait before starting again, and false when the bundle is broken.
func (b *backoff) next(e processExit) (time.Duration, bool) {
	if !b.last.IsZero() && e.at.Sub(b.last) > resetAfter {
		b.crashes = 0
	}
	b.last = e.at
	healthy := e.responded && (e.outside || e.lived >= minUptime)
	if healthy {
		b.crashes = 0
		return 0, true
	}
	b.crashes++
	if b.crashes >= maxCrashes {
		return 0, false
	}
	wait := pauses.Pauses{First: firstBackoff, Longest: lastBackoff}.After(b.crashes)
	return wait/2 + rand.N(wait/2+1), true
}

func (b *backoff) reset() { *b = backoff{} }

// giveUp opens the circuit breaker: the process is not started again until a user restarts it.
func (s *Supervisor) giveUp(state State, err error) {
	s.mu.Lock()
	s.wanted = false
	s.mu.Unlock()
	s.log.Error("plugin will not run", "state", string(state), "error", err)
	s.set(state, err)
	s.notifyAll(unavailable(fmt.Errorf("plugin %s is %s: %w", s.bundle.name, state.Word(), err)))
}

// handleExit records the exit of the process, or of an attempt to start one, and
// waits for the backoff that follows.
func (s *Supervisor) handleExit(ctx context.Context, crashes *backoff, end processExit, err error) {
	s.mu.Lock()
	s.restarts++
	end.responded, s.responded = s.responded, false
	s.mu.Unlock()
	end.at = s.host.opt.Now()
	wait, again := crashes.next(end)
	switch {
	case !again:
		s.giveUp(Broken, fmt.Errorf("it crashed %d times in a row and is stopped; last error: %w", maxCrashes, err))
	case wait == 0:
		s.log.Warn("plugin stopped; starting it again", "error", err)
		s.set(Starting, nil)
	default:
		s.log.Warn("plugin stopped; starting it again later", "error", err, "in", wait.Round(time.Millisecond))
		s.set(Backoff, err)
		s.notifyAll(unavailable(fmt.Errorf("plugin %s is down: %w", s.bundle.name, err)))
		s.awaitBackoff(ctx, wait)
	}
}

// awaitBackoff returns when wait is over, or when a restart is requested.
func (s *Supervisor) awaitBackoff(ctx context.Context, wait time.Duration) {
	over := s.host.after(wait)
	for {
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-s.wake:
			s.mu.Lock()
			restart := s.restart
			s.mu.Unlock()
			if restart {
				return
			}
		}
	}
}
