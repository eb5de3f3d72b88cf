package schedule

import "time"

const (
	// Engine events come in bursts: a check starts when there has been none for
	// debounceQuiet, or debounceMax after the first one under a steady stream.
	debounceQuiet = 5 * time.Second
	debounceMax   = 30 * time.Second
)

// debounce turns a burst of engine events into one check.
type debounce struct {
	timer *time.Timer
	first time.Time
}

func (d *debounce) note() {
	now := time.Now()
	if d.timer == nil {
		d.first = now
		d.timer = time.NewTimer(debounceQuiet)
		return
	}
	d.timer.Reset(min(debounceQuiet, max(d.first.Add(debounceMax).Sub(now), 0)))
}

// C is the channel that fires when it is time; nil while nothing is waited for.
func (d *debounce) C() <-chan time.Time {
	if d.timer == nil {
		return nil
	}
	return d.timer.C
}
