package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

// limitPages lets the file grow by at most spare pages; 0 lifts the limit.
func limitPages(t *testing.T, s *Store, spare int) {
	t.Helper()
	var pages int
	must(t, s.writer.QueryRow("PRAGMA page_count").Scan(&pages))
	if spare == 0 {
		pages = 1 << 30
	}
	must(t, s.writer.QueryRow(fmt.Sprint("PRAGMA max_page_count = ", pages+spare)).Scan(&pages))
}

// TestStoreRecoversFromFullDisk makes SQLite itself run out of pages at every kind of write.
func TestStoreRecoversFromFullDisk(t *testing.T) {
	big := offer("a", "local/big", "f")
	big.Payload = noise(100_000)
	for title, write := range map[string]func(*Store) error{
		"commit": func(s *Store) error {
			return s.Commit(t.Context(), event.Change{Put: fleet(300), Remove: []string{"1"}, Events: happenings(100)})
		},
		"events": func(s *Store) error { return s.Commit(t.Context(), event.Change{Events: happenings(100)}) },
		"plan": func(s *Store) error {
			_, err := s.Plan(t.Context(), "dispatch", 7, []delivery.Delivery{offer("a", "local/small", "f"), big})
			return err
		},
		"finish": func(s *Store) error {
			return s.Finish(t.Context(), 1, delivery.Outcome{State: delivery.Sent}, happenings(100)...)
		},
		"cache": func(s *Store) error { return s.CachePut(t.Context(), CacheEntry{Key: "new", Body: noise(100_000)}) },
		"trust": func(s *Store) error { return s.Trust(t.Context(), strings.Repeat("long", 25_000), nil) },
	} {
		t.Run(title, func(t *testing.T) {
			bus := new(event.Bus)
			s := fresh(t, func(o *Options) { o.Bus = bus })
			must(t, s.Commit(t.Context(), put(container("local", "web", "1"))))
			plan(t, s, offer("a", "local/web", "f"))
			must(t, s.CachePut(t.Context(), CacheEntry{Key: "old", Body: []byte("x")}))
			must(t, s.Prune(t.Context(), start)) // touches written
			sub := bus.Subscribe()
			defer sub.Close()
			before := state(t, s)
			version := s.Snapshot().Version()

			limitPages(t, s, 3)
			for range 2 { // the connection must survive the failure
				err := write(s)
				if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), s.Path()) ||
					!strings.Contains(err.Error(), "free space") {
					t.Fatalf("error is %v", err)
				}
			}
			if after := state(t, s); !slices.Equal(after, before) || s.Snapshot().Version() != version || len(sub.C()) != 0 {
				t.Errorf("a failed write left\n%v\nfor\n%v", after, before)
			}
			must(t, s.Commit(t.Context(), event.Change{Put: nil, Remove: []string{"9"}})) // what needs no room still works

			limitPages(t, s, 0)
			must(t, write(s))
			if after := state(t, s); slices.Equal(after, before) {
				t.Error("the write with room changed nothing")
			}
		})
	}
}

// state describes all that a store holds.
func state(t *testing.T, s *Store) []string {
	t.Helper()
	out := ids(s)
	for _, query := range []string{
		"SELECT count(*) || ' containers' FROM containers", "SELECT count(*) || ' events' FROM events",
		"SELECT group_concat(id || state || attempts) FROM deliveries", "SELECT 'cursor ' || sum(event) FROM cursors",
		"SELECT group_concat(key) FROM registry_cache", "SELECT count(*) || ' plugins' FROM plugins",
		"SELECT count(*) || ' types' FROM type_owners", "SELECT count(*) || ' descriptions' FROM plugin_descriptions",
	} {
		var text string
		must(t, s.reader.QueryRow(query).Scan(&text))
		out = append(out, text)
	}
	return out
}

func TestCacheUseIsNotLostOnAFullDisk(t *testing.T) {
	now := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now } })
	must(t, s.CachePut(t.Context(), CacheEntry{Key: "a", Body: []byte("x")}))
	now = start.Add(time.Hour)
	has(t, s, "a")
	limitPages(t, s, 3)
	if err := s.CachePut(t.Context(), CacheEntry{Key: "b", Body: noise(100_000)}); !errors.Is(err, ErrFull) {
		t.Fatalf("error is %v", err)
	}
	limitPages(t, s, 0)
	must(t, s.Prune(t.Context(), start))
	var used int64
	must(t, s.reader.QueryRow("SELECT used_at FROM registry_cache WHERE key = 'a'").Scan(&used))
	if used != millis(now) {
		t.Errorf("last used %v, want %v", instant(used), now)
	}
}
