package plugin

import (
	"context"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Discover finds the third-party executables and learns what they hold, of those that it
// does not know by starting them once. It returns when all have settled, or ctx ends: then
// the others go on. What is wrong with one is its state.
func (h *Host) Discover(ctx context.Context) error { return h.DiscoverEach(ctx, func() {}) }

// DiscoverEach is Discover, and calls each whenever some of the executables have settled.
func (h *Host) DiscoverEach(ctx context.Context, each func()) error {
	if h.opt.Dir == "" {
		return nil
	}
	listed, err := list(h.opt.Dir)
	if err != nil {
		return err
	}
	if _, err := h.update(ctx, listed); err != nil {
		return err
	}
	settled := wake.New()
	var waits sync.WaitGroup
	for _, s := range h.supervisors() {
		if s.bundle.builtin {
			continue
		}
		waits.Go(func() { // until ctx ends
			if s.settled(ctx) == nil {
				settled.Set()
			}
		})
	}
	go func() {
		waits.Wait()
		close(settled)
	}()
	for range settled {
		if ctx.Err() == nil {
			each()
		}
	}
	select {
	case <-h.changes: // each was called
	default:
	}
	return ctx.Err()
}

// sameGrants compares capabilities in any order.
func sameGrants(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// update makes the third-party bundles those of the folder, with what they are granted
// now, and reports whether any went, or has another file while its process goes on. Those that
// came or are started again are announced once they have settled.
func (h *Host) update(ctx context.Context, listed []file) (changed bool, err error) {
	found, err := findBundles(h.opt.Dir)
	if err != nil {
		return false, err
	}
	granted := h.opt.Grants()
	h.mu.Lock()
	before, grantedBefore := h.listed, h.granted
	h.listed, h.granted = listed, granted
	h.mu.Unlock()
	var gone []string
	for _, s := range h.supervisors() {
		if !s.bundle.builtin && !slices.ContainsFunc(found, s.bundle.same) {
			h.log.Info("plugin is removed: its file is gone", "bundle", s.bundle.name)
			h.remove(s)
			gone = append(gone, s.bundle.name)
		}
	}
	came := h.enter(ctx, found)
	h.owners.changed()
	for _, s := range came {
		s.touch(false)
	}
	for _, b := range found {
		have, _ := h.Bundle(b.name)
		switch {
		case have.bundle.builtin || slices.Contains(came, have):
			continue
		case slices.Contains(gone, have.rejectedFor()):
			h.log.Info("plugin is judged again: what held its type is gone", "bundle", b.name)
		case changedFile(b, before, listed):
			if sameGrants(grantedBefore[b.name], granted[b.name]) && have.outlives(ctx) {
				changed = true
				continue
			}
			h.log.Info("plugin is started again: its file changed", "bundle", b.name)
		case !sameGrants(grantedBefore[b.name], granted[b.name]): // what isolates its process may differ
			h.log.Info("plugin is started again: it is granted something else", "bundle", b.name, "grants", granted[b.name])
		default:
			continue
		}
		have.touch(true)
	}
	return changed || len(gone) > 0, nil
}

// enter takes the bundles that are new into the host. None is started before all are
// there, so that each is judged beside the others.
func (h *Host) enter(ctx context.Context, found []bundle) (came []*Supervisor) {
	for _, b := range found {
		have, taken := h.Bundle(b.name)
		if taken && have.bundle.builtin {
			h.log.Error("plugin passed over: its name belongs to a built-in bundle, so rename the file", "bundle", b.name)
		}
		if taken {
			continue
		}
		s := newSupervisor(h, b, nil)
		if h.opt.Trust != nil {
			_, s.known, _ = h.opt.Trust.Checksum(ctx, b.name) // its start says what is wrong with the store
		}
		came = append(came, s)
	}
	queue(came)
	for _, s := range came {
		h.add(s)
	}
	return came
}

// touch has a bundle start, which is announced once it has settled.
func (s *Supervisor) touch(again bool) {
	s.mu.Lock()
	s.announce = true
	if !again {
		s.want()
	}
	s.mu.Unlock()
	if again {
		s.Restart()
	}
}

// isSettled reports whether a start has ended, and no other one begins. s.mu is held.
func (s *Supervisor) isSettled() bool {
	return s.state != Starting && !(s.state == Stopped && s.wanted) && !s.pending
}

// settled waits until the first start of a bundle has ended one way or the other.
func (s *Supervisor) settled(ctx context.Context) error {
	for {
		s.mu.Lock()
		changed, settled := s.changed, s.isSettled()
		s.mu.Unlock()
		if settled {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.done: // it was removed
			return nil
		case <-changed:
		}
	}
}

// MissingGrants returns the sensitive capabilities that t asks for and this bundle is not granted.
func (s *Supervisor) MissingGrants(t kind.Type) []string {
	var missing []string
	for _, c := range s.requested(t) {
		if !s.Granted(c) {
			missing = append(missing, c)
		}
	}
	return missing
}

// requested returns the sensitive capabilities that t asks for.
func (s *Supervisor) requested(t kind.Type) []string {
	if s.bundle.builtin {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Capabilities), func(c string) bool {
		switch c {
		case kind.CapEngine, kind.CapFiles:
			return false
		case kind.CapStateStream, kind.CapProbe, kind.CapMessages, kind.CapProposals:
			return true
		}
		return t.Kind != kind.Trigger // the others offer what these words say
	})
}
