package operations

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// backupLine is a stopped predecessor.
type backupLine struct {
	watcher.Backup
	Space phrase.Phrase
}

func backupsOf(all []watcher.Backup) []backupLine {
	var lines []backupLine
	for _, b := range all {
		lines = append(lines, backupLine{b, words.Bytes(b.Size)})
	}
	return lines
}

// showBackups renders the stopped predecessors of a container, which only its engine knows.
func (h *Handler) showBackups(w http.ResponseWriter, r *http.Request, rec *store.Record) {
	if !page.Partial(r) {
		http.Redirect(w, r, h.Path(page.PathOf(&rec.Container)), http.StatusFound)
		return
	}
	backups, err := h.backups(r.Context(), r, &rec.Container)
	v := struct {
		Changes
		Href    string
		Backups []backupLine
		Failed  string
	}{Href: page.PathOf(&rec.Container), Backups: backups}
	if err == nil {
		v.Changes, err = h.ChangesOf(r, &rec.Container)
	}
	if err != nil {
		v.Failed = phrase.English(phrase.Sentence(phrase.Quote(err.Error())))
	}
	h.Fragment(w, r, "container", "backups", v)
}

// backups returns the backups of a container from whichever plan there can be.
func (h *Handler) backups(ctx context.Context, r *http.Request, c *sdk.Container) ([]backupLine, error) {
	var plan watcher.Plan
	err := fmt.Errorf("list the backups of %s: %w", c.Name, updater.ErrNoUpdate)
	for _, kind := range []operation.Kind{operation.Rollback, operation.Update} {
		if errors.Is(err, updater.ErrNoUpdate) {
			plan, err = h.service.Plan(ctx, h.ActorOf(r), service.Change{Container: c.ID, Kind: kind})
		}
	}
	if err != nil {
		return nil, err
	}
	return backupsOf(plan.Backups), nil
}
