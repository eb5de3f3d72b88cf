package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// upgraded is a file that a newer Dogwatch has upgraded while an operation that has a
// step was under way.
func upgraded(t *testing.T, code string) (path string, known int) {
	t.Helper()
	s := fresh(t)
	ctx := t.Context()
	must(t, s.Commit(ctx, put(container("local", "web", "1"))))
	op := operation.Operation{ID: "op1", Kind: operation.Update, Watcher: "local", Name: "dogwatch"}
	must(t, s.AddOperation(ctx, op))
	op.State = operation.Running
	must(t, s.ChangeOperation(ctx, operation.Queued, op))
	must(t, s.PutStep(ctx, "op1", 0, operation.Step{
		StepRecord: watcher.StepRecord{Step: watcher.Step{ID: code, Code: code}},
	}))
	migrations, err := embedded()
	must(t, err)
	must(t, s.migrate(ctx, append(migrations, "CREATE TABLE later (a);")))
	must(t, s.Close())
	return s.Path(), len(migrations)
}

// change changes a file as another Dogwatch would.
func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	_, err = db.ExecContext(context.WithoutCancel(t.Context()), statement)
	must(t, errors.Join(err, db.Close()))
}

func TestOpenUndoesTheUpgradeOfAnUpdateThatDidNotWork(t *testing.T) {
	path, known := upgraded(t, watcher.StepHandover)
	change(t, path, "INSERT INTO later VALUES (1)")
	s := open(t, path)
	op, err := s.Operation(t.Context(), "op1")
	if must(t, err); op.State != operation.Running || len(op.Steps) != 1 {
		t.Errorf("%+v", op)
	}
	if got := strings.Join(ids(s), " "); got != "local/web=1" {
		t.Errorf("it holds %s", got)
	}
	if version, err := s.version(t.Context()); err != nil || version != known {
		t.Errorf("version %d, %v", version, err)
	}
	if info, err := os.Stat(fmt.Sprintf("%s.v%d.undone", path, known+1)); err != nil || info.Size() == 0 {
		t.Errorf("the upgraded file is not kept: %v", err)
	}
	if _, err := os.Stat(path + ".restored"); err == nil {
		t.Error("a copy is left behind")
	}
}

func TestOpenKeepsAnUpgradedFileOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		code    string
		prepare func(t *testing.T, path string, backup string)
	}{
		"the update has ended": {watcher.StepHandover, func(t *testing.T, path, _ string) {
			change(t, path, "UPDATE operations SET state = 'succeeded'")
		}},
		"the update was of another container": {watcher.StepStop, nil},
		"another update is under way": {watcher.StepHandover, func(t *testing.T, path, _ string) {
			change(t, path, "UPDATE operation_steps SET doc = '{}'")
		}},
		"there is no backup": {watcher.StepHandover, func(t *testing.T, _, backup string) { must(t, os.Remove(backup)) }},
	} {
		t.Run(name, func(t *testing.T) {
			path, known := upgraded(t, c.code)
			if c.prepare != nil {
				c.prepare(t, path, fmt.Sprintf("%s.v%d.bak", path, known))
			}
			before, err := os.ReadFile(path)
			must(t, err)
			if s, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrNewer) {
				t.Errorf("Open = %v, %v", s, err)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func TestOpenAsIsUndoesNoUpgrade(t *testing.T) {
	path, _ := upgraded(t, watcher.StepHandover)
	if s, err := Open(t.Context(), path, Options{AsIs: true}); !errors.Is(err, ErrNewer) {
		t.Errorf("Open = %v, %v", s, err)
	}
}

// TestUndoWritesThroughNoLink plants links where the copies come.
func TestUndoWritesThroughNoLink(t *testing.T) {
	path, known := upgraded(t, watcher.StepHandover)
	foreign := t.TempDir() + "/foreign"
	must(t, os.WriteFile(foreign, []byte("foreign"), 0o600))
	for _, name := range []string{path + ".restored", fmt.Sprintf("%s.v%d.undone", path, known+1)} {
		must(t, os.Symlink(foreign, name))
	}
	open(t, path)
	if got, err := os.ReadFile(foreign); err != nil || string(got) != "foreign" {
		t.Errorf("the foreign file holds %d bytes, %v", len(got), err)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the store is no file of its own: %v, %v", info, err)
	}
}
