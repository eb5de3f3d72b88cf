package wiring

import (
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// Containers fits the store to dispatch.Containers and statestream.Options.
type Containers struct{ *store.Store }

// ByID implements dispatch.Containers.
func (s Containers) ByID(id string) (sdk.Container, bool) { return found(s.Snapshot().Get(id)) }

// ByName implements dispatch.Containers.
func (s Containers) ByName(watcher, name string) (sdk.Container, bool) {
	return found(s.Snapshot().Named(watcher, name))
}

// Uses reports whether a container has its image from a host.
func (s Containers) Uses(host string) bool {
	return slices.ContainsFunc(s.Snapshot().All(), func(r *store.Record) bool {
		return strings.EqualFold(r.Container.Image.Registry.Host, host)
	})
}

func found(r *store.Record, ok bool) (sdk.Container, bool) {
	if !ok {
		return sdk.Container{}, false
	}
	return r.Container, true
}

// Shared returns what is stored now, for statestream.Options; it must not be changed.
func (s Containers) Shared() []*sdk.Container {
	records := s.Snapshot().All()
	all := make([]*sdk.Container, len(records))
	for i, r := range records {
		all[i] = &r.Container
	}
	return all
}

// NextDecision returns when time alone changes a decision next; zero for never.
func (s Containers) NextDecision() (next time.Time) {
	for _, r := range s.Snapshot().All() {
		if d := r.Container.Decision; d != nil && !d.Until.IsZero() && (next.IsZero() || d.Until.Before(next)) {
			next = d.Until.Time
		}
	}
	return next
}
