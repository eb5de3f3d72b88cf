package decision

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// known returns what the last checks found, by name. The caller holds commitLock.
func (d *Decisions) known(ctx context.Context) (map[string]candidate.Found, error) {
	if d.found != nil {
		return d.found, nil
	}
	found := map[string]candidate.Found{}
	if d.opt.Candidates != nil {
		var err error
		if found, err = d.opt.Candidates(ctx); err != nil {
			return nil, fmt.Errorf("read the stored candidates: %w", err)
		}
	}
	d.found = found
	return found, nil
}

// read returns the stored containers, and what the last checks found of them. The caller holds commitLock.
func (d *Decisions) read(ctx context.Context) (stored []sdk.Container, known map[string]candidate.Found, err error) {
	if stored, err = d.opt.Store.Containers(ctx); err != nil {
		return nil, nil, fmt.Errorf("read the stored containers: %w", err)
	}
	known, err = d.known(ctx)
	return stored, known, err
}

// remember adds what was found of a container to a change, if it differs from what is known.
// The caller holds commitLock, and commits the change.
func (d *Decisions) remember(change *event.Change, name string, found candidate.Found) error {
	before, known := d.found[name]
	if known && before.Equal(found) {
		return nil
	}
	doc, err := found.Encode()
	if err != nil {
		return fmt.Errorf("encode the candidates of %s: %w", name, err)
	}
	if change.Candidates == nil {
		change.Candidates = map[string][]byte{}
	}
	change.Candidates[name] = doc
	return nil
}

// commit stores a change and, once that is done, knows its candidates. The caller holds commitLock.
func (d *Decisions) commit(ctx context.Context, change event.Change) error {
	if err := d.opt.Store.Commit(ctx, change); err != nil {
		return err
	}
	for name, doc := range change.Candidates {
		var found candidate.Found
		if err := json.Unmarshal(doc, &found); err != nil {
			return fmt.Errorf("read the stored candidates of %s: %w", name, err)
		}
		d.found[name] = found
	}
	return nil
}

// Commit stores what follows from the stored containers; nothing else is stored in between. Containers that are renamed
// keep what was found for them. follows must not call Decisions.
func (d *Decisions) Commit(ctx context.Context, follows func(stored []sdk.Container) event.Change) error {
	d.commitLock.Lock()
	defer d.commitLock.Unlock()
	stored, _, err := d.read(ctx)
	if err != nil {
		return err
	}
	change := follows(stored)
	if len(change.Put)+len(change.Remove) == 0 {
		return nil
	}
	if err := d.moveCandidates(&change); err != nil {
		return err
	}
	if err := d.commit(ctx, change); err != nil {
		return fmt.Errorf("store the containers: %w", err)
	}
	return nil
}

// moveCandidates lets renamed containers keep their candidates. The caller holds commitLock.
func (d *Decisions) moveCandidates(change *event.Change) error {
	for _, e := range change.Events {
		if e.Container == nil || e.From == "" {
			continue
		}
		old := *e.Container
		old.Name = e.From
		if found, known := d.found[event.Subject(old)]; known {
			if err := d.remember(change, event.Subject(*e.Container), found); err != nil {
				return err
			}
		}
	}
	return nil
}

// Known returns what the last check found for a container, by its subject.
func (d *Decisions) Known(ctx context.Context, subject string) (candidate.Found, error) {
	d.commitLock.Lock()
	defer d.commitLock.Unlock()
	known, err := d.known(ctx)
	return known[subject], err
}

// AgedDigest returns the digest of the image that a container is offered, if a rule asks for its age: which image the
// age is of. It is "" where no rule does, and as long as no check has found it out. It may be called concurrently.
func (d *Decisions) AgedDigest(ctx context.Context, c *sdk.Container) (string, error) {
	if c.Delay == "" {
		return "", nil
	}
	known, err := d.Known(ctx, event.Subject(*c))
	if err != nil {
		return "", fmt.Errorf("which image %s is offered: %w", event.Subject(*c), err)
	}
	key := update.KeyOf(c)
	for _, k := range known.Candidates {
		switch {
		case k.Kind != key.Kind || k.Tag != key.ToTag:
		case k.Kind == sdk.KindTag:
			return k.AgedDigest, nil
		case k.Digest == key.ToDigest:
			return k.Digest, nil
		}
	}
	return "", nil
}
