package decision

import (
	"context"
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// Dated stores the date of a release with every container that is offered it.
// Its event is a change that means nothing to triggers.
func (d *Decisions) Dated(ctx context.Context, r candidate.Release, created sdk.Time) error {
	d.commitLock.Lock()
	defer d.commitLock.Unlock()
	stored, _, err := d.read(ctx)
	if err != nil {
		return err
	}
	var change event.Change
	for i := range stored {
		have := &stored[i]
		if offered, undated := candidate.Undated(have); !undated || offered != r {
			continue
		}
		have.Result.Created = created
		change.Put = append(change.Put, *have)
		change.Events = append(change.Events, d.released(have))
	}
	if len(change.Put) == 0 {
		return nil
	}
	return d.opt.Store.Commit(ctx, change)
}

// released returns the event of what became known of a release.
func (d *Decisions) released(c *sdk.Container) event.Event {
	return event.Event{
		At: d.opt.Now(), Type: event.ContainerChanged, Subject: event.Subject(*c),
		Payload: event.Payload{Container: c, Aspect: event.Released},
	}
}

// Versioned stores the version of an image with every container that runs it or is offered
// it behind the tag that it runs, and decides again about updates whose step is known by that.
func (d *Decisions) Versioned(ctx context.Context, r candidate.Release, version string) error {
	steps, err := d.storeVersion(ctx, r, version)
	if err != nil || !steps {
		return err
	}
	return d.Redecide(ctx)
}

// storeVersion is Versioned but for the decisions. steps is whether an update has a step by now.
func (d *Decisions) storeVersion(ctx context.Context, r candidate.Release, version string) (steps bool, err error) {
	d.commitLock.Lock()
	defer d.commitLock.Unlock()
	stored, known, err := d.read(ctx)
	if err != nil {
		return false, err
	}
	var change event.Change
	for i := range stored {
		have := &stored[i]
		if have.Image.Registry.Host != r.Host || have.Image.Name != r.Name {
			continue
		}
		changed := false
		for _, unversioned := range candidate.Unversioned(have) {
			if unversioned.Digest != r.Digest {
				continue
			}
			changed = true
			if have.Image.Digest.Repo == r.Digest {
				have.Image.Version = version
			} else {
				have.Result.Version = version
			}
		}
		if !changed {
			continue
		}
		e := d.released(have)
		if tally.Rebuilt(have) {
			have.UpdateKind.SemverDiff = candidate.Diff(have.Image.Version, have.Result.Version)
			if err := d.remember(&change, e.Subject, measured(known[e.Subject], have)); err != nil {
				return false, err
			}
		}
		if have.UpdateKind.SemverDiff != "" {
			steps, e.Aspect = true, ""
		}
		change.Put = append(change.Put, *have)
		change.Events = append(change.Events, e)
	}
	if len(change.Put) == 0 {
		return false, nil
	}
	return steps, d.commit(ctx, change)
}

// measured returns what was found of a container with the version and the step of its new digest.
func measured(found candidate.Found, c *sdk.Container) candidate.Found {
	found.Candidates = slices.Clone(found.Candidates)
	for i := range found.Candidates {
		if k := &found.Candidates[i]; k.Kind == sdk.KindDigest && k.Digest == c.Result.Digest {
			k.Version, k.Diff = c.Result.Version, c.UpdateKind.SemverDiff
		}
	}
	return found
}
