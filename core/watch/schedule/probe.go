package schedule

import (
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
)

const (
	// firstProbe is the wait before an engine that did not respond is probed again,
	// doubled up to maxProbe.
	firstProbe = 30 * time.Second
	maxProbe   = 5 * time.Minute
)

// probe is the backoff between probes of an engine that does not respond.
type probe struct {
	timer    *time.Timer // nil while the engine responds
	failures int
	expired  bool
}

// set starts the wait for the next probe, unless one is waited for or none is wanted.
func (p *probe) set(failing bool) {
	pauses := backoff.Pauses{First: firstProbe, Longest: maxProbe}
	switch {
	case !failing:
		p.stop()
	case p.timer == nil:
		p.failures = 1
		p.timer = time.NewTimer(pauses.After(p.failures))
	case p.expired:
		p.failures++
		p.timer.Reset(pauses.After(p.failures))
		p.expired = false
	}
}

// fired notes that the timer has fired.
func (p *probe) fired() { p.expired = true }

func (p *probe) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
	*p = probe{}
}

// C is the channel that fires when it is time; nil while nothing is waited for.
func (p *probe) C() <-chan time.Time {
	if p.timer == nil {
		return nil
	}
	return p.timer.C
}
