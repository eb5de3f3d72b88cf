package agent

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// calmBeat is for many links at once on a busy machine.
const calmBeat = 10 * time.Second

// Site is a controller that serves.
type Site = site

// NewSite starts a controller. linked is ControllerOptions.Linked.
func NewSite(t *testing.T, linked func(name string, err error)) *Site {
	return newSite(t, func(o *ControllerOptions) { o.Linked, o.beat = linked, calmBeat })
}

// ID is the id of an agent's watcher.
func ID(name string) string { return idOf(name) }

// Join returns the folder of an agent that has joined.
func (s *site) Join(t *testing.T, name string) string { return s.join(t, name) }

// Host runs the agent in a folder until the test, or stop, ends it. With kill it takes no more step than one that is
// killed.
func (s *site) Host(t *testing.T, dir string, source Source, limits Limits) (stop, kill func()) {
	var operations *Operations
	stop = s.host(t, dir, source, func(o *HostOptions) {
		operations = o.Watcher.operations
		o.Watcher.limits, o.beat = limits, calmBeat
	})
	return stop, func() { operations.end() }
}

// CutAfter cuts the link once after some bytes in either direction, and Bytes is how many there were.
func (s *site) CutAfter(n int64) { s.relay.cutAfter.Store(n) }
func (s *site) Bytes() int64     { return s.relay.bytes.Load() }

// Cut cuts the link, and Refuse has no other made until it is taken back.
func (s *site) Cut()                { s.relay.cut() }
func (s *site) Refuse(refuses bool) { s.relay.refuses.Store(refuses) }

// Log is what all of them have logged.
func (s *site) Log() string { return s.log.String() }

// RecordsFolder is in the folder of an agent.
const RecordsFolder = recordsFolder

// BlocksOf are those of a plan for an agent called nas.
func BlocksOf(l Limits, plan watcher.Plan, all []watcher.Container) []watcher.Reason {
	return l.blocks("nas", plan, all)
}
