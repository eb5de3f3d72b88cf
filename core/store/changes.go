package store

import (
	"context"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// Changes returns up to limit changes of updates that follow the event with id after,
// oldest first. Of each event it reads what they need, not all of the container.
func (s *Store) Changes(ctx context.Context, after int64, limit int) ([]history.Change, error) {
	return queryRows(ctx, s, "read the history of updates", `SELECT id, at, type, subject,
			coalesce(json_extract(doc, '$.from'), ''),
			coalesce(json_extract(doc, '$.container.updateAvailable'), 0),
			coalesce(json_extract(doc, '$.container.updateKind.kind'), ''),
			coalesce(json_extract(doc, '$.container.updateKind.semverDiff'), '')
		FROM events WHERE id > ?
			AND type IN ('container.added', 'container.replaced', 'container.renamed', 'container.changed', 'container.removed', 'update.found', 'update.cleared')
			AND (type <> 'container.changed' OR coalesce(json_extract(doc, '$.aspect'), '') NOT IN ('released', 'postponed', 'levels'))
		ORDER BY id LIMIT ?`, []any{after, orDefault(limit)}, func(scan scanner) (history.Change, error) {
		var ch history.Change
		var when int64
		var c sdk.Container
		var from string
		if err := scan(&ch.ID, &when, &ch.Type, &ch.Subject, &from, &c.UpdateAvailable, &c.UpdateKind.Kind,
			&c.UpdateKind.SemverDiff); err != nil {
			return ch, err
		}
		ch.At, ch.Kind = instant(when), tally.Kind(&c)
		if from != "" {
			watcher, _, _ := strings.Cut(ch.Subject, "/")
			ch.From = event.Subject(sdk.Container{Watcher: watcher, Name: from})
		}
		return ch, nil
	})
}
