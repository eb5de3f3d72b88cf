package store

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"
)

// CacheEntry is a response of a registry.
type CacheEntry struct {
	Key string
	// Validator is the ETag of a conditional request; "" when Body never changes.
	Validator string
	Body      []byte
}

// CacheGet returns the entry for key, or false. That it was used is noted in
// memory and written with the next CachePut, Prune or Close.
func (s *Store) CacheGet(ctx context.Context, key string) (CacheEntry, bool, error) {
	e := CacheEntry{Key: key}
	var body []byte
	err := s.cached.QueryRowContext(ctx, key).Scan(&e.Validator, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return CacheEntry{}, false, nil
	}
	if err == nil {
		e.Body, err = inflate(body)
	}
	if err != nil {
		return CacheEntry{}, false, s.wrap("read the registry cache", fmt.Errorf("entry %s: %w", key, err))
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.cache.used == nil {
		s.cache.used = map[string]time.Time{}
	}
	s.cache.used[key] = s.now()
	return e, true, nil
}

// CachePut adds or replaces entries in one transaction, then drops the least
// recently used ones until the cache is within its bound again. An entry that
// would take more than an eighth of that for itself is not stored.
func (s *Store) CachePut(ctx context.Context, entries ...CacheEntry) error {
	type stored struct {
		CacheEntry
		body []byte
	}
	var rows []stored
	for _, e := range entries {
		body, err := s.cache.deflate(e.Body)
		if err != nil {
			return s.wrap("write the registry cache", fmt.Errorf("entry %s: %w", e.Key, err))
		}
		if int64(len(body)) <= s.cache.limit/8 {
			rows = append(rows, stored{e, body})
		}
	}
	used := s.cache.take()
	var room int64
	err := s.write(ctx, "write the registry cache", func(t tx) (err error) {
		if err = t.touch(used); err != nil {
			return err
		}
		now := millis(s.now())
		if err = each(t, `INSERT INTO registry_cache (key, validator, used_at, size, body) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET validator = excluded.validator, used_at = excluded.used_at,
				size = excluded.size, body = excluded.body`, rows, func(r stored) []any {
			return []any{r.Key, r.Validator, now, len(r.body), r.body}
		}); err != nil {
			return err
		}
		room = s.cache.room
		for _, r := range rows {
			room -= int64(len(r.body)) // as if no row was replaced
		}
		if room < 0 {
			room, err = t.shrink(s.cache.limit)
		}
		return err
	}, func() { s.cache.room = room })
	if err != nil {
		s.cache.restore(used)
	}
	return err
}

// flushCache writes which entries were used.
func (s *Store) flushCache(ctx context.Context) error {
	used := s.cache.take()
	if len(used) == 0 {
		return nil
	}
	err := s.write(ctx, "write the registry cache", func(t tx) error { return t.touch(used) }, nil)
	if err != nil {
		s.cache.restore(used)
	}
	return err
}

func (t tx) touch(used map[string]time.Time) error {
	type use struct {
		key string
		at  time.Time
	}
	uses := make([]use, 0, len(used))
	for key, usedAt := range used {
		uses = append(uses, use{key, usedAt})
	}
	return each(t, "UPDATE registry_cache SET used_at = max(used_at, ?) WHERE key = ?", uses, func(u use) []any {
		return []any{millis(u.at), u.key}
	})
}

// shrink drops the least recently used entries beyond limit bytes, and returns how many bytes there is room for then.
func (t tx) shrink(limit int64) (room int64, err error) {
	const total = "SELECT coalesce(sum(size), 0) FROM registry_cache"
	var size int64
	if err = t.row(total).Scan(&size); err != nil || size <= limit {
		return limit - size, err
	}
	if _, err = t.exec(`DELETE FROM registry_cache WHERE rowid IN (
		SELECT rowid FROM (
			SELECT rowid, sum(size) OVER (ORDER BY used_at DESC, size, rowid ROWS UNBOUNDED PRECEDING) AS upto FROM registry_cache
		) WHERE upto > ?)`, limit); err != nil {
		return 0, err
	}
	err = t.row(total).Scan(&size)
	return limit - size, err
}

func inflate(stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	switch form, rest := stored[0], stored[1:]; form {
	case plain:
		return rest, nil
	case deflated:
		return io.ReadAll(flate.NewReader(bytes.NewReader(rest)))
	default:
		return nil, fmt.Errorf("stored in unknown form %d", form)
	}
}
