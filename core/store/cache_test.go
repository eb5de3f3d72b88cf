package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

func has(t *testing.T, s *Store, key string) bool {
	t.Helper()
	_, ok, err := s.CacheGet(t.Context(), key)
	must(t, err)
	return ok
}

func noise(n int) []byte {
	rnd := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

func TestCacheReturnsWhatWasPut(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	bodies := map[string][]byte{"empty": {}, "short": []byte("a"), "tags": tagList(1000), "noise": noise(10_000)}
	for key, body := range bodies {
		must(t, s.CachePut(ctx, CacheEntry{Key: key, Validator: key + " v", Body: body}))
	}
	must(t, s.CachePut(ctx))
	twice(t, s, func(s *Store) {
		for key, body := range bodies {
			e, ok, err := s.CacheGet(ctx, key)
			if err != nil || !ok || e.Key != key || e.Validator != key+" v" || !bytes.Equal(e.Body, body) {
				t.Errorf("%s: %v, %v", key, ok, err)
			}
		}
		if has(t, s, "unknown") {
			t.Error("an unknown key was answered")
		}
	})
}

func TestCacheReplacesAndPacks(t *testing.T) {
	s := fresh(t)
	body := tagList(5000)
	must(t,
		s.CachePut(t.Context(), CacheEntry{Key: "k", Validator: "1", Body: []byte("old")}, CacheEntry{
			Key: "k", Validator: "2", Body: body,
		}))
	e, _, err := s.CacheGet(t.Context(), "k")
	must(t, err)
	if e.Validator != "2" || !bytes.Equal(e.Body, body) {
		t.Errorf("validator %s, %d bytes", e.Validator, len(e.Body))
	}
	var rows, size int
	must(t, s.reader.QueryRow("SELECT count(*), sum(length(body)) FROM registry_cache").Scan(&rows, &size))
	if rows != 1 || size > len(body)/3 {
		t.Errorf("%d rows of %d bytes for %d", rows, size, len(body))
	}
}

func TestCacheDropsTheLeastRecentlyUsed(t *testing.T) {
	now := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now }; o.CacheBytes = 10_000 })
	ctx := t.Context()
	add := func(key string) {
		now = now.Add(time.Minute)
		must(t, s.CachePut(ctx, CacheEntry{Key: key, Body: noise(999)})) // 1,000 as stored
	}
	for i := range 10 {
		add(fmt.Sprint(i))
	}
	now = now.Add(time.Minute)
	if !has(t, s, "0") || !has(t, s, "3") {
		t.Fatal("dropped before the cache was full")
	}
	add("10")
	add("11")
	for key, want := range map[string]bool{
		"0": true, "1": false, "2": false, "3": true, "4": true, "10": true, "11": true,
	} {
		if has(t, s, key) != want {
			t.Errorf("%s kept: %v, want %v", key, !want, want)
		}
	}
	must(t, s.CachePut(ctx, CacheEntry{Key: "huge", Body: noise(5000)}))
	if has(t, s, "huge") || !has(t, s, "0") {
		t.Error("one entry pushed out the others")
	}
}

// TestCacheStaysWithinItsBound puts and replaces entries of all sizes, after a restart, too: no more is stored
// than the bound, nor is anything dropped long before it is reached.
func TestCacheStaysWithinItsBound(t *testing.T) {
	const bound = 20_000
	limited := func(o *Options) { o.CacheBytes = bound }
	path := filepath.Join(t.TempDir(), "store.db")
	most := 0
	for range 2 {
		s := open(t, path, limited)
		for i := range 200 {
			must(t, s.CachePut(t.Context(), CacheEntry{Key: fmt.Sprint(i % 60), Body: noise(1 + i*37%2000)}))
			var size int
			must(t, s.reader.QueryRowContext(t.Context(), "SELECT coalesce(sum(size), 0) FROM registry_cache").Scan(&size))
			if size > bound {
				t.Fatalf("%d bytes after %d entries, want %d at most", size, i+1, bound)
			}
			most = max(most, size)
		}
		must(t, s.Close())
	}
	if most < bound-2000 {
		t.Errorf("never more than %d bytes of %d", most, bound)
	}
}

// TestCacheReadsWriteNothing reads, then restarts: which entries were used is known, yet no read wrote.
func TestCacheReadsWriteNothing(t *testing.T) {
	now := start
	clock := func(o *Options) { o.Now = func() time.Time { return now } }
	s := fresh(t, clock)
	must(t, s.CachePut(t.Context(), CacheEntry{Key: "a", Body: []byte("a")}))
	used := func() (at int64) {
		must(t, s.reader.QueryRow("SELECT used_at FROM registry_cache").Scan(&at))
		return at
	}
	before := used()
	now = start.Add(time.Hour)
	has(t, s, "a")
	if used() != before {
		t.Error("a read wrote")
	}
	must(t, s.Close())
	s = open(t, s.Path(), clock)
	if got := used(); got != millis(now) {
		t.Errorf("last used %v, want %v", instant(got), now)
	}
}

func TestCacheSaysWhichEntryIsDamaged(t *testing.T) {
	s := fresh(t)
	for _, body := range [][]byte{{}, {7}, {deflated, 0xff}} {
		must(t, s.CachePut(t.Context(), CacheEntry{Key: "the key", Body: []byte("a")}))
		_, err := s.writer.Exec("UPDATE registry_cache SET body = ?", body)
		must(t, err)
		if _, ok, err := s.CacheGet(t.Context(), "the key"); ok || err == nil ||
			!bytes.Contains([]byte(err.Error()), []byte("the key")) {
			t.Errorf("%v: %v, %v", body, ok, err)
		}
	}
}

func TestPluginsAreTrustedByChecksum(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	if _, trusted, err := s.Checksum(ctx, "file"); trusted || err != nil {
		t.Errorf("an unknown plugin: %v, %v", trusted, err)
	}
	for _, sum := range [][]byte{{1}, {2}} {
		must(t, s.Trust(ctx, "file", sum))
		if got, trusted, err := again(t, s).Checksum(ctx, "file"); err != nil || !bytes.Equal(got, sum) || !trusted {
			t.Errorf("%x, %v, %v", got, trusted, err)
		}
		s = open(t, s.Path())
	}
}
