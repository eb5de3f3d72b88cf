package docker

import (
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// ledger is what the host has been told of each container, so that after a gap in the
// event stream it is told what it missed, and nothing when it missed nothing.
// (Streams end often and for no reason: many proxies cut what is idle for some minutes.)
type ledger struct {
	mu     sync.Mutex
	ready  bool // the host has listed at least once
	states map[string]state
}

type state struct{ name, image, status string }

func stateOf(c container.Summary) state {
	return state{name: containerName(c), image: c.ImageID, status: statusOf(c.State)}
}

// listed records that the host has been given these containers.
func (l *ledger) listed(containers []container.Summary) {
	states := make(map[string]state, len(containers))
	for _, c := range containers {
		states[c.ID] = stateOf(c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ready, l.states = true, states
}

// status records that a container's status is this now. It reports whether the host
// knows the container, and whether the status is news to it.
func (l *ledger) status(id, status string) (known, news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known := l.states[id]
	if !known {
		return false, true
	}
	news = s.status != status
	s.status = status
	l.states[id] = s
	return true, news
}

// missed compares what the host was told with what is. It returns one ActionChanged
// when the host has to list again, else an ActionStatus for each other status. A host
// that never got a list will ask for one, or, after a gap, has asked in vain.
func (l *ledger) missed(containers []container.Summary, gap bool) []watcher.Event {
	at := sdk.TimeOf(time.Now())
	changed := []watcher.Event{{Action: watcher.ActionChanged, At: at}}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.ready && gap:
		return changed
	case !l.ready:
		return nil
	}
	if len(containers) != len(l.states) {
		return changed
	}
	var events []watcher.Event
	for _, c := range containers {
		told, known := l.states[c.ID]
		is := stateOf(c)
		if !known || told.name != is.name || told.image != is.image {
			return changed
		}
		if told.status != is.status {
			events = append(events, watcher.Event{ContainerID: c.ID, Action: watcher.ActionStatus, Status: is.status, At: at})
		}
	}
	for _, e := range events {
		s := l.states[e.ContainerID]
		s.status = e.Status
		l.states[e.ContainerID] = s
	}
	return events
}
