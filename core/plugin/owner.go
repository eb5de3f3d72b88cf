package plugin

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Records remember over restarts which third-party bundle holds a type, and what files
// said of themselves. Those of a command record nothing.
type Records interface {
	// TypeOwners calls each for every type, such as "trigger.lamp", with the name of the
	// bundle that holds it and the key of its publisher; "" for one that is not signed.
	TypeOwners(ctx context.Context, each func(typ, bundle, key string)) error
	// SetTypeOwner records the owner of a type; a bundle of "" is none.
	SetTypeOwner(ctx context.Context, typ, bundle, key string) error
	// PluginDescription returns what SavePluginDescription has kept of the file with a
	// SHA-256, for the same build; nil for nothing.
	PluginDescription(ctx context.Context, sha256 []byte, build string) ([]byte, error)
	SavePluginDescription(ctx context.Context, sha256 []byte, build string, doc []byte) error
}

// Installed is a file that was installed.
type Installed struct {
	SHA256 string // in hexadecimal
	// Key is that of the publisher whose signature was verified then, as artifact.ParseKey
	// reads it; "" for a file that is not signed.
	Key string
	// Types are what it holds, as "trigger.lamp".
	Types []string
}

// owner is the third-party bundle that holds a type, and the key of its publisher.
type owner struct{ bundle, key string }

// String names both, for users.
func (o owner) String() string {
	if k, err := artifact.ParseKey(o.key); o.key != "" && err == nil {
		return o.bundle + " (signed by " + k.String() + ")"
	}
	return o.bundle + " (not signed)"
}

// owners are the third-party bundles that hold types, by the full names of these. A bundle
// is its owner as long as its file is in the folder, in whatever state, so that no other
// one gets its options and messages because it is down, or comes first by name.
type owners struct {
	mu   sync.Mutex
	all  map[string]owner
	read bool // all are those of the records
	// fresh is true once the bundles that are signed have been looked at.
	fresh bool
}

// changed notes that the folder holds other files.
func (o *owners) changed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fresh = false
}

func fullName(k kind.Kind, name string) string { return string(k) + "." + name }

// prepareOwners reads the owners of types, and has the bundles that are signed hold what
// no bundle does: what they hold is known before any of them is started. h.owners.mu is held.
func (h *Host) prepareOwners(ctx context.Context) error {
	if !h.owners.read && h.opt.Records != nil {
		err := h.opt.Records.TypeOwners(ctx, func(typ, bundle, key string) { h.owners.all[typ] = owner{bundle, key} })
		if err != nil {
			return err
		}
	}
	h.owners.read = true
	if h.owners.fresh {
		return nil
	}
	installed := h.opt.Installed()
	for _, s := range h.supervisors() {
		if err := h.seed(ctx, s.bundle.name, s.bundle.path, installed[s.bundle.name]); err != nil {
			return err
		}
	}
	h.owners.fresh = true
	return nil
}

// seed makes a bundle the owner of the types that no bundle holds, if its file is the one
// that was installed with a signature. h.owners.mu is held.
func (h *Host) seed(ctx context.Context, bundle, path string, pin Installed) error {
	var vacant []string
	for _, typ := range pin.Types {
		if _, taken := h.ownerOf(typ); !taken && h.builtinWith(typ) == "" {
			vacant = append(vacant, typ)
		}
	}
	if len(vacant) == 0 || pin.Key == "" {
		return nil
	}
	if sum, err := Checksum(path); err != nil || hex.EncodeToString(sum) != pin.SHA256 {
		return nil // it is another file now, and judged as such
	}
	for _, typ := range vacant {
		if err := h.setOwner(ctx, typ, owner{bundle, pin.Key}); err != nil {
			return err
		}
	}
	return nil
}

// ownerOf returns the owner of a type whose file is in the folder. h.owners.mu is held.
func (h *Host) ownerOf(typ string) (owner, bool) {
	o, known := h.owners.all[typ]
	if !known {
		return owner{}, false
	}
	_, there := h.Bundle(o.bundle)
	return o, there
}

// setOwner records the owner of a type; the zero owner is none. h.owners.mu is held.
func (h *Host) setOwner(ctx context.Context, typ string, o owner) error {
	if h.opt.Records != nil {
		if err := h.opt.Records.SetTypeOwner(ctx, typ, o.bundle, o.key); err != nil {
			return err
		}
	}
	if before, known := h.owners.all[typ]; known && o.bundle != "" && before.bundle != o.bundle {
		h.log.Warn("a type has another plugin from now on: the file of the one before is gone",
			"type", typ, "before", before.String(), "bundle", o.String())
	}
	h.owners.all[typ] = o
	if o.bundle == "" {
		delete(h.owners.all, typ)
	}
	return nil
}

// builtinWith returns the built-in bundle that holds a type; "" for none.
func (h *Host) builtinWith(typ string) string { return builtinWith(h.opt.Builtins, typ) }

func builtinWith(all []Builtin, typ string) string {
	for _, b := range all {
		if slices.ContainsFunc(b.Types, func(t kind.Type) bool { return fullName(t.Kind, t.Name) == typ }) {
			return b.Name
		}
	}
	return ""
}

// heldError says that another bundle holds a type.
type heldError struct {
	error
	by string
}

// claim makes a bundle the owner of the types that it holds, and of no others. The error
// is a *rejectedError when one of them is built in, or held by another file.
func (h *Host) claim(ctx context.Context, s *Supervisor, types []kind.Type) error {
	h.owners.mu.Lock()
	defer h.owners.mu.Unlock()
	if err := h.prepareOwners(ctx); err != nil {
		return err
	}
	mine := owner{bundle: s.bundle.name}
	if pin := h.opt.Installed()[s.bundle.name]; pin.SHA256 == hex.EncodeToString(s.checksum()) {
		mine.key = pin.Key
	}
	var names []string
	for _, t := range types {
		typ := fullName(t.Kind, t.Name)
		names = append(names, typ)
		if by := h.builtinWith(typ); by != "" {
			return &rejectedError{fmt.Errorf("plugin %s holds %s type %q, which is built in (%s): "+
				"remove it, or build it with a type of another name", mine, t.Kind, t.Name, by)}
		}
		if o, taken := h.ownerOf(typ); taken && o.bundle != mine.bundle {
			err := fmt.Errorf("plugin %s holds %s type %q, which is held by %s already: remove one of the two files from plugins.dir",
				mine, t.Kind, t.Name, o)
			return &rejectedError{&heldError{err, o.bundle}}
		}
	}
	for _, typ := range names {
		if h.owners.all[typ] == mine {
			continue
		}
		if err := h.setOwner(ctx, typ, mine); err != nil {
			return err
		}
	}
	return h.giveBack(ctx, mine.bundle, names)
}

// giveBack has a bundle own no types but these, and judges again those that were rejected
// for the others. h.owners.mu is held.
func (h *Host) giveBack(ctx context.Context, bundle string, but []string) error {
	freed := false
	for typ, o := range h.owners.all {
		if o.bundle != bundle || slices.Contains(but, typ) {
			continue
		}
		if err := h.setOwner(ctx, typ, owner{}); err != nil {
			return err
		}
		freed = true
	}
	if freed {
		for _, s := range h.supervisors() {
			if s.rejectedFor() == bundle {
				s.Restart()
			}
		}
	}
	return nil
}

// rejectedFor returns the bundle that holds the type for which this one was rejected; "" when that is not why.
func (s *Supervisor) rejectedFor() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heldBy()
}

// heldBy is rejectedFor for callers that hold mu.
func (s *Supervisor) heldBy() string {
	var held *heldError
	if s.state == Rejected && errors.As(s.err, &held) {
		return held.by
	}
	return ""
}

// checksum is that of the file that was verified last.
func (s *Supervisor) checksum() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bundle.checksum
}

// turnTime is how long a bundle waits for those that come before it, to hold a type that
// none has held so far. It is less than its own start took until then, which is half of
// all: at first sight it is started once more, for its components.
func turnTime(took time.Duration) time.Duration { return max(took*3/4, 50*time.Millisecond) }

// awaitTurn waits for the bundles that come before this one where a type of it is new:
// for those that were trusted before, if it was not, and for others for a while.
func (s *Supervisor) awaitTurn(ctx context.Context, began time.Time, types []kind.Type) error {
	vacant, err := s.host.anyVacant(ctx, types)
	if err != nil || !vacant {
		return err
	}
	timed, cancel := context.WithTimeout(ctx, s.host.turn(time.Since(began)))
	defer cancel()
	for _, first := range s.ahead {
		limit := timed
		if first.known && !s.known {
			limit = ctx
		}
		_ = first.settled(limit) // one that is not settled by then has lost its turn
	}
	return ctx.Err()
}

// anyVacant reports whether no bundle holds one of these types.
func (h *Host) anyVacant(ctx context.Context, types []kind.Type) (bool, error) {
	h.owners.mu.Lock()
	defer h.owners.mu.Unlock()
	if err := h.prepareOwners(ctx); err != nil {
		return false, err
	}
	return slices.ContainsFunc(types, func(t kind.Type) bool {
		_, taken := h.ownerOf(fullName(t.Kind, t.Name))
		return !taken
	}), nil
}

// queue puts bundles that came together in the order in which they may hold types that
// none has held so far: those that were trusted before come first, then by name.
func queue(came []*Supervisor) {
	slices.SortStableFunc(came, func(a, b *Supervisor) int {
		first := map[bool]int{true: 0, false: 1}
		return cmp.Or(cmp.Compare(first[a.known], first[b.known]), cmp.Compare(a.bundle.name, b.bundle.name))
	})
	for i, s := range came {
		s.ahead = came[:i:i]
	}
}
