package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
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
