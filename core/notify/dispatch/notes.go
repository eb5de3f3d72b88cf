package dispatch

import (
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
)

// notesName is the variable that has the release notes of a container.
const notesName = "notes"

// wantNotes reports whether a template of one container reads its release notes.
func (m Messages) wantNotes() bool {
	return slices.Contains(m.Title.Names(), notesName) || slices.Contains(m.Body.Names(), notesName)
}

// sampleNotes stand for the release notes in a sample message, for which no host is asked.
func sampleNotes(containers []sdk.Container) map[string]string {
	samples := map[string]string{}
	for _, c := range containers {
		samples[c.ID] = "(The release notes of " + c.UpdateKind.RemoteValue + " stand here.)"
	}
	return samples
}
