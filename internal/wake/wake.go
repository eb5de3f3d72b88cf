// Package wake wakes goroutines that wait for work.
package wake

// Signal is the channel from which a goroutine receives when there is work. What is set again before it has received
// is one value. New makes signals; Set may be called concurrently.
type Signal chan struct{}

// New returns a signal that is not set.
func New() Signal { return make(Signal, 1) }

// Set sets the signal. It never blocks.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default: // it is set already
	}
}
