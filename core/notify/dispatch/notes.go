package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// notesTimeout is how long a message waits for the release notes of its containers, all together.
const notesTimeout = 5 * time.Second

// notesName is the variable that has the release notes of a container.
const notesName = "notes"

// wantNotes reports whether a template of one container reads its release notes.
func (m Messages) wantNotes() bool {
	return slices.Contains(m.Title.Names(), notesName) || slices.Contains(m.Body.Names(), notesName)
}

// notes returns excerpts of release notes for a message, by container, if its templates read
// them. What does not come in time is left out: a message does not depend on it.
func (d *Dispatcher) notes(ctx context.Context, m Messages, containers []sdk.Container) map[string]string {
	if d.opt.Notes == nil || !m.wantNotes() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notesTimeout)
	defer cancel()
	found := map[string]string{}
	for i := range containers {
		if ctx.Err() != nil {
			break
		}
		found[containers[i].ID] = d.opt.Redact(d.opt.Notes(ctx, &containers[i]))
	}
	return found
}

// sampleNotes stand for the release notes in a sample message, for which no host is asked.
func sampleNotes(containers []sdk.Container) map[string]string {
	samples := map[string]string{}
	for _, c := range containers {
		samples[c.ID] = "(The release notes of " + c.UpdateKind.RemoteValue + " stand here.)"
	}
	return samples
}
