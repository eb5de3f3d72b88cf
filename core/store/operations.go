package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// AddOperation stores a new operation as Queued, with its events, in one
// transaction. It returns ErrConflict when its container has one that has not ended,
// or one of the same Delivery.
func (s *Store) AddOperation(ctx context.Context, op operation.Operation, ev ...event.Event) error {
	op.State = operation.Queued
	return s.write(ctx, "add operation "+op.ID, func(t tx) error {
		var other string
		err := t.row("SELECT id FROM operations WHERE watcher = ?1 AND name = ?2 AND (state IN ('queued', 'running') OR delivery = ?3 AND ?3 <> '')", op.Watcher, op.Name, op.IdempotencyKey).Scan(&other)
		if err == nil {
			return fmt.Errorf("%s/%s has operation %s, which has not ended or has the same idempotency key: %w", op.Watcher,
				op.Name, other, ErrConflict)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		doc, err := encodeOperation(op)
		if err != nil {
			return err
		}
		if _, err := t.exec("INSERT INTO operations (id, kind, watcher, name, offer, delivery, state, updated_at, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			op.ID, string(op.Kind), op.Watcher, op.Name, op.Update, op.IdempotencyKey, string(op.State), millis(s.now()),
			doc); err != nil {
			return err
		}
		return s.append(t, ev)
	}, s.bus.Wake)
}

// ChangeOperation stores an operation, but for its steps, with the events about the
// change, in one transaction. It returns ErrNotFound for an unknown id, and
// ErrConflict when the stored operation is not in state from.
func (s *Store) ChangeOperation(
	ctx context.Context, from operation.State, op operation.Operation, ev ...event.Event,
) error {
	return s.write(ctx, "change operation "+op.ID, func(t tx) error {
		if err := t.inState(op.ID, from); err != nil {
			return err
		}
		doc, err := encodeOperation(op)
		if err != nil {
			return err
		}
		if _, err := t.exec("UPDATE operations SET state = ?, updated_at = ?, doc = ? WHERE id = ?", string(op.State),
			millis(s.now()), doc, op.ID); err != nil {
			return err
		}
		return s.append(t, ev)
	}, s.bus.Wake)
}

// PutStep stores the step of a Running operation that has this number, counted from
// 0, with the events about it, in one transaction. It returns ErrNotFound or
// ErrConflict when there is no such operation, or it does not run.
func (s *Store) PutStep(ctx context.Context, id string, number int, step operation.Step, ev ...event.Event) error {
	return s.write(ctx, fmt.Sprintf("store step %d of operation %s", number, id), func(t tx) error {
		if err := t.inState(id, operation.Running); err != nil {
			return err
		}
		doc, err := encode(step)
		if err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO operation_steps (operation, number, doc) VALUES (?, ?, ?)
			ON CONFLICT (operation, number) DO UPDATE SET doc = excluded.doc`, id, number, string(doc)); err != nil {
			return err
		}
		return s.append(t, ev)
	}, s.bus.Wake)
}

// inState returns an error unless an operation is in a state.
func (t tx) inState(id string, want operation.State) error {
	var state operation.State
	if err := t.row("SELECT state FROM operations WHERE id = ?", id).Scan(&state); err != nil {
		return foundOperation(err, id)
	}
	if state != want {
		return fmt.Errorf("operation %s is %s, not %s: %w", id, state, want, ErrConflict)
	}
	return nil
}

// foundOperation turns "no rows" into ErrNotFound, which is an operation.ErrNotFound as well.
func foundOperation(err error, id string) error {
	if err = found(err, "operation %s", id); errors.Is(err, ErrNotFound) {
		return sdk.WithKind(operation.ErrNotFound, err)
	}
	return err
}

// encodeOperation leaves out the steps, which have rows of their own.
func encodeOperation(op operation.Operation) (string, error) {
	op.Steps = nil
	doc, err := encode(op)
	return string(doc), err
}

const operationColumns = `doc, (SELECT json_group_array(json(doc)) FROM (SELECT doc FROM operation_steps WHERE operation = operations.id ORDER BY number))`

// Operations returns operations with their steps, newest first.
func (s *Store) Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error) {
	states, err := encode(append([]operation.State{}, f.States...))
	if err != nil {
		return nil, err
	}
	return queryRows(ctx, s, "read operations", "SELECT "+operationColumns+` FROM operations
		WHERE (?1 = '' OR id < ?1) AND (?2 = '[]' OR state IN (SELECT value FROM json_each(?2)))
			AND (?3 = '' OR watcher = ?3) AND (?4 = '' OR name = ?4) AND (?5 = '' OR delivery = ?5)
			AND (?7 = '' OR doc ->> '$.containerId' = ?7) ORDER BY id DESC LIMIT ?6`,
		[]any{f.Before, string(states), f.Watcher, f.Name, f.IdempotencyKey, orDefault(f.Limit), f.ContainerID},
		scanOperation)
}

// Operation returns one operation with its steps, or ErrNotFound.
func (s *Store) Operation(ctx context.Context, id string) (operation.Operation, error) {
	op, err := scanOperation(s.reader.QueryRowContext(ctx, "SELECT "+operationColumns+" FROM operations WHERE id = ?",
		id).Scan)
	return op, s.wrap("read an operation", foundOperation(err, id))
}

// OpenOperations returns those that have not ended, in the order in which they were queued.
func (s *Store) OpenOperations(ctx context.Context) ([]operation.Operation, error) {
	return queryRows(ctx, s, "read the operations that have not ended", "SELECT "+operationColumns+` FROM operations
		WHERE state IN ('queued', 'running') ORDER BY id`, nil, scanOperation)
}

// Tried returns the updates of a container, the latest first, that did not work out, since an
// operation for it changed the container and came back or left it broken, or that worked,
// and a rollback of the container followed. One that was interrupted counts
// once operation.MaxAttempts were.
func (s *Store) Tried(ctx context.Context, watcherName, name string) ([]operation.Trial, error) {
	return queryRows(ctx, s, "read which updates were tried", `SELECT offer, coalesce(doc ->> '$.endedAt', ''), (SELECT doc FROM operations AS r
			WHERE o.state = 'succeeded' AND coalesce(o.doc ->> '$.rules.DryRun', 0) = 0 AND r.watcher = o.watcher AND r.name = o.name AND r.id > o.id
				AND r.kind = 'rollback' AND r.state IN ('queued', 'running', 'succeeded') ORDER BY r.id LIMIT 1) AS undo
		FROM operations AS o WHERE watcher = ?1 AND name = ?2 AND offer <> '' AND (
			state = 'rolled-back' AND (coalesce(doc ->> '$.outcome.Reason.Code', '') <> ?4 OR ?5 <= (
				SELECT count(*) FROM operations AS i WHERE i.watcher = o.watcher AND i.name = o.name AND i.offer = o.offer
					AND i.state = 'rolled-back' AND i.doc ->> '$.outcome.Reason.Code' = ?4))
			OR state = 'failed' AND doc ->> '$.outcome.State' = ?3 OR state = 'succeeded' AND undo IS NOT NULL) ORDER BY id DESC`,
		[]any{watcherName, name, string(watcher.Broken), watcher.ReasonInterrupted, operation.MaxAttempts},
		func(scan scanner) (trial operation.Trial, err error) {
			var ended string
			var undo []byte
			if err := scan(&trial.Update, &ended, &undo); err != nil {
				return trial, err
			}
			trial.Ended, _ = time.Parse(time.RFC3339Nano, ended) // zero for what has not ended
			if undo == nil {
				return trial, nil
			}
			var back operation.Operation
			if err := json.Unmarshal(undo, &back); err != nil {
				return trial, fmt.Errorf("rollback of %s: %w", trial.Update, err)
			}
			trial.Undone = &operation.Undo{By: back.Actor, At: back.Queued}
			return trial, nil
		})
}

func scanOperation(scan scanner) (op operation.Operation, err error) {
	var doc, steps []byte
	if err := scan(&doc, &steps); err != nil {
		return op, err
	}
	if err := json.Unmarshal(doc, &op); err != nil {
		return op, fmt.Errorf("operation %s: %w", op.ID, err)
	}
	if err := json.Unmarshal(steps, &op.Steps); err != nil {
		return op, fmt.Errorf("steps of operation %s: %w", op.ID, err)
	}
	return op, nil
}

// pruneOperations deletes the operations that ended before a time, but for those that
// still say something about a container that exists. A rollback is kept for as long as
// the update that it undid.
func (t tx) pruneOperations(before time.Time) error {
	const old = `SELECT o.id FROM operations AS o WHERE o.state NOT IN ('queued', 'running') AND o.updated_at < ?1 AND NOT (
		EXISTS (SELECT 1 FROM containers AS c WHERE c.watcher = o.watcher AND c.name = o.name) AND (
			o.state = 'succeeded' AND o.id >= coalesce((SELECT max(n.id) FROM operations AS n WHERE n.watcher = o.watcher AND n.name = o.name
				AND n.state = 'succeeded' AND n.kind = 'update' AND coalesce(n.doc ->> '$.rules.DryRun', 0) = 0), '~')
			OR o.id = coalesce((SELECT max(n.id) FROM operations AS n WHERE n.watcher = o.watcher AND n.name = o.name
				AND (n.state = 'rolled-back' OR n.state = 'failed' AND n.doc ->> '$.outcome.State' = ?2)), '')))`
	if _, err := t.exec("DELETE FROM operation_steps WHERE operation IN ("+old+")", millis(before),
		string(watcher.Broken)); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM operations WHERE id IN ("+old+")", millis(before), string(watcher.Broken))
	return err
}
