package check

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// known returns what the last checks found, by name. The caller holds commitLock.
func (c *Checker) known(ctx context.Context) (map[string]policy.Found, error) {
	if c.found != nil {
		return c.found, nil
	}
	found := map[string]policy.Found{}
	if c.opt.Candidates != nil {
		var err error
		if found, err = c.opt.Candidates(ctx); err != nil {
			return nil, fmt.Errorf("read the stored candidates: %w", err)
		}
	}
	c.found = found
	return found, nil
}

// remember adds what was found of a container to a change, if it differs from what is known.
// The caller holds commitLock and calls remembered once the change is stored.
func (c *Checker) remember(change *event.Change, name string, found policy.Found) error {
	before, known := c.found[name]
	if known && reflect.DeepEqual(before, found) {
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
func (c *Checker) commit(ctx context.Context, change event.Change) error {
	if err := c.opt.Store.Commit(ctx, change); err != nil {
		return err
	}
	for name, doc := range change.Candidates {
		var found policy.Found
		if err := json.Unmarshal(doc, &found); err != nil {
			return fmt.Errorf("read the stored candidates of %s: %w", name, err)
		}
		c.found[name] = found
	}
	return nil
}

// moveCandidates lets renamed containers keep their candidates. The caller holds commitLock.
func (c *Checker) moveCandidates(change *event.Change) error {
	for _, e := range change.Events {
		if e.Container == nil || e.From == "" {
			continue
		}
		old := *e.Container
		old.Name = e.From
		if found, known := c.found[event.Subject(old)]; known {
			if err := c.remember(change, event.Subject(*e.Container), found); err != nil {
				return err
			}
		}
	}
	return nil
}

// Pinned returns the digest of the image that a container is offered, if a rule asks for its age: which image the
// age is of. It is "" where no rule does, and as long as no check has found it out. It may be called concurrently.
func (c *Checker) Pinned(ctx context.Context, of *sdk.Container) (string, error) {
	if of.Delay == "" {
		return "", nil
	}
	c.commitLock.Lock()
	defer c.commitLock.Unlock()
	known, err := c.known(ctx)
	if err != nil {
		return "", fmt.Errorf("which image %s is offered: %w", event.Subject(*of), err)
	}
	key := update.KeyOf(of)
	for _, k := range known[event.Subject(*of)].Candidates {
		switch {
		case k.Kind != key.Kind || k.Tag != key.ToTag:
		case k.Kind == sdk.KindTag:
			return k.Pinned, nil
		case k.Digest == key.ToDigest:
			return k.Digest, nil
		}
	}
	return "", nil
}
