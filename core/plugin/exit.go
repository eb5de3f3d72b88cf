package plugin

import (
	"context"
	"fmt"
	"time"
)

// giveUp opens the circuit breaker: the process is not started again until a user restarts it.
func (s *Supervisor) giveUp(state State, err error) {
	s.mu.Lock()
	s.wanted = false
	s.mu.Unlock()
	s.log.Error("plugin will not run", "state", string(state), "error", err)
	s.set(state, err)
	s.notifyAll(unavailable(fmt.Errorf("plugin %s is %s: %w", s.bundle.name, state, err)))
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
		s.giveUp(Broken, fmt.Errorf("it died %d times in a row, last: %w", maxCrashes, err))
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
