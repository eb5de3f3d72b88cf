package store

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
)

// wrap says which store was doing what when err happened, and the remedy. A nil err stays nil.
func (s *Store) wrap(doing string, err error) error { return wrap(s.path, doing, err) }

// Store is an open store file. Its methods may be called concurrently; writes
// queue up behind each other. A method's context bounds the wait for the writer:
// once begun, a write runs to its end, so that its outcome is always known.
type Store struct {
	path   string
	writer *sql.DB // one connection: its holder is the only writer
	reader *sql.DB
	// cached reads an entry of the registry cache, prepared once: a check reads one for each repository.
	cached *sql.Stmt
	bus    *event.Bus
	now    func() time.Time
	log    hclog.Logger
	snap   atomic.Pointer[Snapshot] // replaced only by the holder of the writer
	// choices are those of the file, by subject, replaced as snap is.
	choices atomic.Pointer[map[string][]choice.Choice]
	cache   cache
}

// Path returns the absolute path of the file.
func (s *Store) Path() string { return s.path }

// tx is a running transaction: the only one that writes.
type tx struct {
	ctx  context.Context
	conn *sql.Conn
}

func (t tx) exec(query string, args ...any) (sql.Result, error) {
	return t.conn.ExecContext(t.ctx, query, args...)
}

func (t tx) row(query string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(t.ctx, query, args...)
}

// each runs one statement for every item, prepared once.
func each[T any](t tx, query string, items []T, args func(T) []any) error {
	if len(items) == 0 {
		return nil
	}
	stmt, err := t.conn.PrepareContext(t.ctx, query)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, item := range items {
		if _, err := stmt.ExecContext(t.ctx, args(item)...); err != nil {
			return err
		}
	}
	return nil
}

// write runs fn as one transaction and, once that is committed, committed (if
// any) before the next writer may begin. On an error nothing has changed.
func (s *Store) write(ctx context.Context, doing string, fn func(tx) error, committed func()) (err error) {
	defer func() { err = s.wrap(doing, err) }()
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := tx{ctx: context.WithoutCancel(ctx), conn: conn}
	if _, err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err = fn(t); err == nil {
		_, err = t.exec("COMMIT")
	}
	if err != nil {
		// A full disk may have ended the transaction already, and then this fails: either way none is left open.
		_, _ = t.exec("ROLLBACK")
		return err
	}
	if committed != nil {
		committed()
	}
	return nil
}

// millis and instant convert between Go's time and the file's, where 0 is "not known".
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
