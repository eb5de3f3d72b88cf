package plugin

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// hold returns the process that may be called, and counts a call of it, which letGo ends; nil when
// there is none. A process does not fall asleep during a call. s.mu is held.
func (s *Supervisor) hold() *process {
	if s.proc == nil || s.proc.gone.Load() {
		return nil
	}
	s.proc.calls++
	return s.proc
}

// letGo ends a call of p; nil is fine.
func (s *Supervisor) letGo(p *process, r retry) {
	if p == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.calls--; r != onlyAwake {
		p.used = time.Now()
	}
}

// sleepAfter returns after which time without a call the process of the bundle ends.
func (s *Supervisor) sleepAfter() time.Duration {
	if !s.bundle.sleeps || s.host.opt.Sleep <= 0 {
		return math.MaxInt64
	}
	return s.host.opt.Sleep
}

// fallAsleep has the bundle do without its process p until the next call, if p was not called for long enough.
// Otherwise it returns how long to wait at least before it may.
func (s *Supervisor) fallAsleep(ctx context.Context, p *process) (left time.Duration) {
	paused := s.keepLimits(ctx, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	left = s.sleepAfter() - time.Since(p.used)
	if paused || p.calls > 0 || p.gone.Load() {
		left = s.sleepAfter()
	}
	if left <= 0 {
		p.gone.Store(true)
		s.asleep, s.wanted = true, false
		s.log.Debug("plugin is asleep until it is called: nothing has called it", "for", s.sleepAfter())
	}
	return left
}

// keepLimits keeps what the registries of p know of the limits of their hosts, and reports whether
// one of these wants no requests for now, which p must not forget.
func (s *Supervisor) keepLimits(ctx context.Context, p *process) (paused bool) {
	s.mu.Lock()
	all := slices.Clone(s.instances)
	s.mu.Unlock()
	for _, in := range all {
		if in.spec.Kind != kind.Registry {
			continue
		}
		timed, cancel := context.WithTimeout(ctx, limitsTimeout)
		limits, _ := p.client.Registry(in.spec.ID).Limits(timed) // one that does not tell loses them
		cancel()
		paused = paused || slices.ContainsFunc(limits, func(l registry.Limit) bool {
			return l.PausedUntil.After(s.host.opt.Now())
		})
		s.mu.Lock()
		in.limits = perHost(slices.Concat(limits, in.limits))
		s.mu.Unlock()
	}
	return paused
}

// keptLimits are the limits of a registry that its process knew before the bundle fell asleep.
func (s *Supervisor) keptLimits(id string) []registry.Limit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.instance(id); in != nil {
		return in.limits
	}
	return nil
}
