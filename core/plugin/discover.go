package plugin

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/dogwatch/dogwatch/sdk/kind"
)

// rejectedError says why a bundle cannot be used although it may run.
type rejectedError struct{ reason error }

func (e *rejectedError) Error() string { return e.reason.Error() }
func (e *rejectedError) Unwrap() error { return e.reason }

// Discover finds the third-party executables and learns what they hold. It
// returns when each of them was started once; what is wrong with one is its state.
func (h *Host) Discover(ctx context.Context) error {
	if h.opt.Dir == "" {
		return nil
	}
	listed, err := list(h.opt.Dir)
	if err != nil {
		return err
	}
	_, err = h.update(ctx, listed)
	return err
}

// sameGrants compares capabilities in any order.
func sameGrants(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// update makes the third-party bundles those of the folder, with what they are granted
// now, and returns whether any came, went or changed. Those that did are settled then.
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
	for _, s := range h.supervisors() {
		if !s.bundle.builtin && !slices.ContainsFunc(found, s.bundle.same) {
			h.log.Info("plugin is removed: its file is gone", "bundle", s.bundle.name)
			h.remove(s)
			changed = true
		}
	}
	var touched []*Supervisor
	var last *Supervisor
	for _, b := range found {
		have, taken := h.Bundle(b.name)
		switch {
		case !taken:
			s := newSupervisor(h, b, nil)
			s.before, last = last, s
			h.add(s)
			s.mu.Lock()
			s.want()
			s.mu.Unlock()
			touched = append(touched, s)
		case have.bundle.builtin:
			h.log.Error("plugin passed over: its name belongs to a built-in bundle, so rename the file", "bundle", b.name)
		case changedFile(b, before, listed):
			if sameGrants(grantedBefore[b.name], granted[b.name]) && have.outlives(ctx) {
				changed = true
				continue
			}
			h.log.Info("plugin is started again: its file changed", "bundle", b.name)
			have.Restart()
			touched = append(touched, have)
		case !sameGrants(grantedBefore[b.name], granted[b.name]): // what isolates its process may differ
			h.log.Info("plugin is started again: it is granted something else", "bundle", b.name, "grants", granted[b.name])
			have.Restart()
			touched = append(touched, have)
		}
	}
	for _, s := range touched {
		if err := s.settled(ctx); err != nil {
			return true, err
		}
	}
	if len(touched) > 0 {
		select {
		case <-h.described: // the caller is notified of all
		default:
		}
	}
	return changed || len(touched) > 0, nil
}

// settled waits until the first start of a bundle has ended one way or the other.
func (s *Supervisor) settled(ctx context.Context) error {
	for {
		s.mu.Lock()
		state, changed, wanted, pending := s.state, s.changed, s.wanted, s.pending
		s.mu.Unlock()
		if state != Starting && !(state == Stopped && wanted) && !pending {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// describe reads the types that a third-party bundle holds and refuses clashes.
func (s *Supervisor) describe(ctx context.Context, p *process) error {
	timed, cancel := context.WithTimeout(ctx, configureTimeout)
	defer cancel()
	d, err := p.client.Describe(timed)
	if err != nil {
		return fmt.Errorf("ask plugin %s what it holds: %w", s.bundle.name, err)
	}
	for first := s.before; first != nil; first = first.before { // of two that hold the same type the first by name counts
		if err := first.settled(ctx); err != nil {
			return err
		}
	}
	if len(d.Types) == 0 {
		return &rejectedError{fmt.Errorf("plugin %s holds no types", s.bundle.name)}
	}
	for _, t := range d.Types {
		if owner, _, taken := s.host.Find(t.Kind, t.Name); taken && owner != s {
			return &rejectedError{fmt.Errorf("plugin %s holds %s type %q, which %s already provides: remove one of them", s.bundle.name, t.Kind, t.Name, owner.bundle.name)}
		}
	}
	s.mu.Lock()
	before := s.sdk
	other := !reflect.DeepEqual(s.held, d.Types)
	s.version, s.sdk, s.held = d.Version, d.SDKVersion, d.Types
	s.mu.Unlock()
	if before != d.SDKVersion {
		s.logSDK(d.SDKVersion)
	}
	if other {
		select {
		case s.host.described <- struct{}{}:
		default: // one is noted already
		}
	}
	return nil
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
		case kind.CapStateStream, kind.CapProbe, kind.CapMessages:
			return true
		}
		return t.Kind != kind.Trigger // the others offer what these words say
	})
}
