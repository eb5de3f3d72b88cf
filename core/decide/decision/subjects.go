package decision

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// Subjects returns what the updates of stored containers are decided with, for previews of other rules.
func (d *Decisions) Subjects(ctx context.Context) ([]preview.Subject, error) {
	d.commitLock.Lock()
	defer d.commitLock.Unlock()
	stored, known, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	var all []preview.Subject
	for _, c := range stored {
		subject := event.Subject(c)
		all = append(all, preview.Subject{
			Running: c.Image.Tag.Value, Container: c,
			Update: policy.Update{Subject: subject, Candidates: known[subject].Candidates},
			Rules:  d.Rules(c), Facts: d.facts(c), Choices: d.choices(subject),
		})
	}
	return all, nil
}

// Follows reports whether the update of a container is automatic at a time, if nothing changes until then.
func (d *Decisions) Follows(ctx context.Context, c *sdk.Container, at time.Time) (bool, error) {
	known, err := d.Known(ctx, event.Subject(*c))
	if err != nil {
		return false, err
	}
	outcome := d.Decide(c, d.Rules(*c), known, at)
	return outcome.State == policy.Automatic &&
		KeyOf(c, known.Candidates[outcome.Target]).SameTarget(update.KeyOf(c)), nil
}
