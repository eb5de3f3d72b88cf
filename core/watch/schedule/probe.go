package schedule

import "time"

const (
	// firstProbe is the wait before an engine that did not respond is probed again,
	// doubled up to maxProbe.
	firstProbe = 30 * time.Second
	maxProbe   = 5 * time.Minute
)

// probe is the backoff between probes of an engine that does not respond.
type probe struct {
	timer   *time.Timer // nil while the engine responds
	pause   time.Duration
	expired bool
}

// set starts the wait for the next probe, unless one is waited for or none is wanted.
func (p *probe) set(failing bool) {
	switch {
	case !failing:
		p.stop()
	case p.timer == nil:
		p.pause = firstProbe
		p.timer = time.NewTimer(p.pause)
	case p.expired:
		p.pause = min(2*p.pause, maxProbe)
		p.timer.Reset(p.pause)
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
