package e2e

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// galleryPast records what happened to the containers of the gallery in three months before
// it opened, so that there is something in its pictures: each was found with
// an older version, fell behind, and was updated some time later.
func galleryPast(t *testing.T, i *installation) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(i.store, "dogwatch.db"), store.Options{})
	must(t, err)
	defer s.Close()
	var past []event.Event
	for n, a := range galleryApps {
		happened := func(days int, what event.Type, tag, newer string) {
			c := sdk.Container{
				ID: "old-" + a.name, Name: a.name, Watcher: "local",
				Image: sdk.Image{Tag: sdk.Tag{Value: tag, Semver: true}}, UpdateKind: sdk.UpdateKind{Kind: sdk.KindUnknown},
			}
			if newer != "" {
				diff := []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, ""}[n%5]
				c.Result, c.UpdateAvailable, c.UpdateKind = &sdk.Result{Tag: newer}, true, sdk.UpdateKind{
					Kind: sdk.KindTag, SemverDiff: diff,
				}
			}
			past = append(past, event.Event{
				At: time.Now().AddDate(0, 0, -days), Type: what, Subject: event.Subject(c), Payload: event.Payload{Container: &c},
			})
		}
		happened(89, event.ContainerAdded, "older-"+a.running, "")
		happened(80-n, event.UpdateFound, "older-"+a.running, "old-"+a.running)
		happened(60-4*n, event.ContainerReplaced, "old-"+a.running, "")
		happened(12-n, event.UpdateFound, "old-"+a.running, a.running)
	}
	slices.SortStableFunc(past, func(a, b event.Event) int { return a.At.Compare(b.At) })
	must(t, s.Commit(t.Context(), event.Change{Events: past}))
}
