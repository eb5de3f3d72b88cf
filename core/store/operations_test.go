package store

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestPruneKeepsWhatOperationsStillSay: open ones, what a rollback returns to, and what is not to be tried again.
func TestPruneKeepsWhatOperationsStillSay(t *testing.T) {
	ctx := t.Context()
	now := start
	s, err := Open(ctx, filepath.Join(t.TempDir(), "store.db"), Options{
		Bus: new(event.Bus), Now: func() time.Time { return now },
	})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	must(t, s.Commit(ctx, event.Change{
		Put: []sdk.Container{container("local", "web", "1"), container("local", "db", "2")},
	}))
	kept := map[string]bool{}
	add := func(id, name string, kind operation.Kind, state operation.State, keep bool,
		change ...func(*operation.Operation)) {
		t.Helper()
		op := operation.Operation{ID: id, Watcher: "local", Name: name, Kind: kind, State: state}
		for _, c := range change {
			c(&op)
		}
		must(t, s.AddOperation(ctx, op))
		kept[id] = keep
		if state == operation.Queued {
			return
		}
		op.State = operation.Running
		must(t, s.ChangeOperation(ctx, operation.Queued, op))
		must(t, s.PutStep(ctx, id, 0, operation.Step{}))
		if state != operation.Running {
			op.State = state
			must(t, s.ChangeOperation(ctx, operation.Running, op))
		}
	}
	dry := func(op *operation.Operation) { op.Rules.DryRun = true }
	broken := func(op *operation.Operation) { op.Outcome = &watcher.Outcome{State: watcher.Broken} }
	add("a", "web", operation.Update, operation.Succeeded, false)
	add("b", "web", operation.Update, operation.RolledBack, false)
	add("c", "web", operation.Update, operation.Succeeded, true) // the newest
	add("d", "web", operation.Update, operation.Succeeded, true, dry)
	add("e", "web", operation.Rollback, operation.Succeeded, true) // which undid c
	add("f", "web", operation.Update, operation.Failed, true, broken)
	add("g", "web", operation.Update, operation.Failed, false)
	add("h", "web", operation.Update, operation.Cancelled, false)
	add("i", "web", operation.Update, operation.Running, true)
	add("j", "db", operation.Update, operation.Succeeded, false, dry)
	add("k", "db", operation.Update, operation.Queued, true)
	add("l", "gone", operation.Update, operation.Succeeded, false)
	left := func() (ids []string) {
		all, err := s.Operations(ctx, operation.Filter{})
		must(t, err)
		for _, op := range all {
			ids = append(ids, op.ID)
		}
		slices.Sort(ids)
		return ids
	}
	must(t, s.Prune(ctx, start.Add(-time.Hour)))
	if got := left(); len(got) != len(kept) {
		t.Errorf("not old enough: %v are left", got)
	}
	must(t, s.Prune(ctx, start.Add(time.Hour)))
	var want []string
	for id, keep := range kept {
		if keep {
			want = append(want, id)
		}
	}
	slices.Sort(want)
	if got := left(); !slices.Equal(got, want) {
		t.Errorf("%v are left, want %v", got, want)
	}
	var steps int
	must(t,
		s.reader.QueryRow("SELECT count(*) FROM operation_steps WHERE operation NOT IN (SELECT id FROM operations)").Scan(&steps))
	if steps != 0 {
		t.Errorf("%d steps of operations that are gone", steps)
	}
}
