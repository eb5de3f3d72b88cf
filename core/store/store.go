package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/hashicorp/go-hclog"
	"modernc.org/sqlite"
)

// Options are what a Store borrows. The zero value is ready to use.
type Options struct {
	// Bus is woken after each commit that a reader of the log may care about; nil means a private one.
	Bus *event.Bus
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log gets what an operator should know; nil discards it.
	Log hclog.Logger
	// AsIs refuses an older file with ErrOlder instead of bringing it up to date:
	// for those who do not hold the Lock, beside whom an older Dogwatch may run.
	AsIs bool
	// CacheBytes bounds the stored bodies of the registry cache; 0 means 32 MiB.
	CacheBytes int64
}

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
	choices atomic.Pointer[map[string][]policy.Choice]
	cache   cache
}

// Open opens the store at path, creating the file (mode 0600) and its folder
// (mode 0700) when missing, and brings an older file up to date after saving a
// copy beside it. It returns an error that wraps ErrNewer, ErrOlder or ErrCorrupt, and
// leaves the file as it is, when it cannot be used.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.Bus == nil {
		opts.Bus = new(event.Bus)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = hclog.NewNullLogger()
	}
	if opts.CacheBytes == 0 {
		opts.CacheBytes = defaultCacheBytes
	}
	migrations, err := embedded()
	if err != nil {
		return nil, err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	if err := create(path); err != nil {
		return nil, wrap(path, "create the file", err)
	}
	version, err := inspect(ctx, path, len(migrations))
	if errors.Is(err, ErrNewer) && !opts.AsIs {
		kept, undone := undoUpgrade(ctx, path, len(migrations))
		if undone != nil {
			return nil, errors.Join(err, undone)
		}
		if kept != "" {
			opts.Log.Warn("an update of dogwatch did not work out; the store is as it was before its upgrade", "path",
				path, "upgraded", kept)
			version, err = inspect(ctx, path, len(migrations))
		}
	}
	if err != nil {
		return nil, err
	}
	if opts.AsIs && version > 0 && version < len(migrations) {
		return nil,
			fmt.Errorf("store %s: %w: it has version %d, this dogwatch writes %d; dogwatch serve brings it up to date, after saving a copy", path, ErrOlder, version, len(migrations))
	}
	s := &Store{path: path, bus: opts.Bus, now: opts.Now, log: opts.Log, cache: cache{limit: opts.CacheBytes}}
	if err := s.open(ctx, migrations); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open connects, migrates and fills the memory.
func (s *Store) open(ctx context.Context, migrations []string) error {
	var err error
	// Small caches, in KiB: the system caches the file too, and the containers are in memory.
	s.writer, err = connect(s.path, 1, pragmas("busy_timeout(5000)", "journal_mode(wal)", "synchronous(normal)",
		"cache_size(-500)", "temp_store(memory)", "journal_size_limit(4194304)"))
	if err != nil {
		return s.wrap("open", err)
	}
	if err := s.migrate(ctx, migrations); err != nil {
		return err
	}
	s.reader, err = connect(s.path, 2,
		pragmas("busy_timeout(5000)", "query_only(1)", "cache_size(-250)", "temp_store(memory)"))
	if err != nil {
		return s.wrap("open", err)
	}
	s.cached, err = s.reader.PrepareContext(ctx, "SELECT validator, body FROM registry_cache WHERE key = ?")
	if err != nil {
		return s.wrap("open", err)
	}
	return s.load(ctx)
}

// Close writes what is still unwritten and closes the file. No other method
// may be running or be called afterwards.
func (s *Store) Close() error {
	var errs []error
	if s.reader != nil {
		errs = append(errs, s.flushCache(context.Background()), s.reader.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.Close()) // last, so that SQLite folds the log back into the file
	}
	return s.wrap("close", errors.Join(errs...))
}

// Path returns the absolute path of the file.
func (s *Store) Path() string { return s.path }

// create makes the folder and an empty file where there is none. SQLite gives
// its side files the mode of the file it finds.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			return errors.New("there is something else of that name that is not a file")
		}
		return err
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func pragmas(p ...string) url.Values { return url.Values{"_pragma": p} }

// connect returns a pool of at most size connections, none of them opened yet.
func connect(path string, size int, query url.Values) (*sql.DB, error) {
	connector, err := sqlite.NewConnector("file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

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
