package docker

import (
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// notified is the state of each container that the host was notified of, so that
// after a gap in the event stream it is notified of what it missed and nothing else.
// (Streams end often and for no reason: many proxies cut what is idle for some minutes.)
type notified struct {
	mu     sync.Mutex
	ready  bool // the host has listed at least once
	states map[string]state
}

type state struct{ name, image, status string }

func stateOf(c container.Summary) state {
	return state{name: engine.Name(c), image: c.ImageID, status: statusOf(c.State)}
}

// listed records that the host has been given these containers.
func (n *notified) listed(containers []container.Summary) {
	states := make(map[string]state, len(containers))
	for _, c := range containers {
		states[c.ID] = stateOf(c)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ready, n.states = true, states
}

// status records the status of a container. It reports whether the host knows the
// container, and whether the status is another one than it was notified of.
func (n *notified) status(id, status string) (known, changed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, known := n.states[id]
	if !known {
		return false, true
	}
	changed = s.status != status
	s.status = status
	n.states[id] = s
	return true, changed
}

// missed compares what the host was notified of with a new list. It returns one
// ActionChanged when the host has to list again, else an ActionStatus for each status
// that changed. A host that never got a list will list, or, after a gap, has failed to.
func (n *notified) missed(containers []container.Summary, gap bool) []watcher.Event {
	now := sdk.TimeOf(time.Now())
	relist := []watcher.Event{{Action: watcher.ActionChanged, At: now}}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case !n.ready && gap:
		return relist
	case !n.ready:
		return nil
	}
	if len(containers) != len(n.states) {
		return relist
	}
	var events []watcher.Event
	for _, c := range containers {
		was, known := n.states[c.ID]
		state := stateOf(c)
		if !known || was.name != state.name || was.image != state.image {
			return relist
		}
		if was.status != state.status {
			events = append(events,
				watcher.Event{ContainerID: c.ID, Action: watcher.ActionStatus, Status: state.status, At: now})
		}
	}
	for _, e := range events {
		s := n.states[e.ContainerID]
		s.status = e.Status
		n.states[e.ContainerID] = s
	}
	return events
}
