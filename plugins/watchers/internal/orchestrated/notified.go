package orchestrated

import (
	"maps"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Notified is what the host knows of each container, so that it is notified of what differs and of nothing else. Its
// methods may be called concurrently.
type Notified struct {
	mu    sync.Mutex
	known map[string]known // nil before the first list
}

// known is what makes the host list again where it differs, and the status, of which it is told.
type known struct {
	name, reference, digest, id, problem string
	platform                             sdk.Platform
	labels                               map[string]string
	status                               string
}

func knownOf(c watcher.Container) known {
	i := c.Image
	return known{
		name: c.Name, reference: i.Host + "/" + i.Name + ":" + i.Tag, digest: i.Digest, id: i.ID, problem: c.Error,
		platform: i.Platform, labels: c.Labels, status: c.Status,
	}
}

// same reports whether nothing but the status differs.
func (k known) same(o known) bool {
	return k.name == o.name && k.reference == o.reference && k.digest == o.digest && k.id == o.id &&
		k.problem == o.problem && k.platform == o.platform && maps.Equal(k.labels, o.labels)
}

// Listed records that the host has been given these containers.
func (n *Notified) Listed(list []watcher.Container) {
	all := knownAll(list)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known = all
}

func knownAll(list []watcher.Container) map[string]known {
	all := make(map[string]known, len(list))
	for _, c := range list {
		all[c.ID] = knownOf(c)
	}
	return all
}

// Missed compares what the host knows with a new list. It returns one ActionChanged when the host has to list again,
// else an ActionStatus for each status that changed. A host that never got a list will list, so what it will get is
// taken for known; unless something has moved: then its list may have failed, or is older.
func (n *Notified) Missed(list []watcher.Container, moved bool) (events []watcher.Event) {
	now := sdk.TimeOf(time.Now())
	relist := []watcher.Event{{Action: watcher.ActionChanged, At: now}}
	is := knownAll(list)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.known == nil && moved:
		return relist
	case n.known == nil:
		n.known = is
		return nil
	case len(is) != len(n.known):
		return relist
	}
	for _, c := range list {
		was, had := n.known[c.ID]
		if !had || !was.same(is[c.ID]) {
			return relist
		}
		if was.status != c.Status {
			events = append(events, watcher.Event{ContainerID: c.ID, Action: watcher.ActionStatus, Status: c.Status, At: now})
		}
	}
	n.known = is
	return events
}
