package plugin

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// floodTime is the time in which a third-party bundle may log floodLines lines. A long
	// line counts as one for each floodText bytes that it has.
	floodTime  = 10 * time.Second
	floodLines = 500
	floodText  = 1 << 10
)

// flood leaves out what a bundle logs beyond a limit, so that the log stays readable and
// the disk free. A nil flood leaves out nothing. It may be used concurrently.
type flood struct {
	now func() time.Time

	mu      sync.Mutex
	began   time.Time
	lines   int
	skipped int
}

// admits reports whether a line of a size may be logged, and says in log, once per
// floodTime, that lines were left out.
func (f *flood) admits(log hclog.Logger, size int) bool {
	if f == nil {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); now.Sub(f.began) >= floodTime || now.Before(f.began) {
		if f.skipped > 0 {
			log.Warn("lines of the plugin were left out, since it logs too much", "lines", f.skipped)
		}
		f.began, f.lines, f.skipped = now, 0, 0
	}
	f.lines += 1 + size/floodText
	if f.lines <= floodLines {
		return true
	}
	if f.skipped == 0 {
		log.Warn("the plugin logs too much: what it logs in the next seconds is left out", "limit", floodLines,
			"within", floodTime)
	}
	f.skipped++
	return false
}
