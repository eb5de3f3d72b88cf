package store

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

func BenchmarkCommit(b *testing.B) {
	b.Run("1000 new", func(b *testing.B) {
		put := fleet(1000)
		for b.Loop() {
			b.StopTimer()
			s := open(b, filepath.Join(b.TempDir(), "store.db"))
			b.StartTimer()
			must(b, s.Commit(context.Background(), event.Change{Put: put}))
			b.StopTimer()
			must(b, s.Close())
			b.StartTimer()
		}
	})
	b.Run("1000 checked again, nothing new", func(b *testing.B) {
		s := open(b, filepath.Join(b.TempDir(), "store.db"))
		put := fleet(1000)
		for i := 0; b.Loop(); i++ {
			for j := range put {
				put[j].Check = sdk.CheckState{State: sdk.CheckOK, At: sdk.TimeOf(start.Add(seconds(i)))}
			}
			must(b, s.Commit(context.Background(), event.Change{Put: put}))
		}
	})
	b.Run("1000 with another result", func(b *testing.B) {
		s := open(b, filepath.Join(b.TempDir(), "store.db"))
		put := fleet(1000)
		for i := 0; b.Loop(); i++ {
			for j := range put {
				put[j].Result = &sdk.Result{Tag: fmt.Sprintf("2.%d.0", i)}
			}
			must(b, s.Commit(context.Background(), event.Change{Put: put}))
		}
	})
	b.Run("one status among 1000", func(b *testing.B) {
		s := open(b, filepath.Join(b.TempDir(), "store.db"))
		put := fleet(1000)
		must(b, s.Commit(context.Background(), event.Change{Put: put}))
		for i := 0; b.Loop(); i++ {
			put[7].Status = fmt.Sprint("status", i)
			must(b, s.Commit(context.Background(), event.Change{Put: put[7:8]}))
		}
	})
}

func BenchmarkListJSON(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "store.db"))
	must(b, s.Commit(context.Background(), event.Change{Put: fleet(1000)}))
	var body bytes.Buffer
	for b.Loop() {
		body.Reset()
		for i, r := range s.Snapshot().All() {
			if i > 0 {
				body.WriteByte(',')
			}
			body.Write(r.JSON)
		}
	}
	b.SetBytes(int64(body.Len()))
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store.db")
	s := open(b, path)
	must(b, s.Commit(context.Background(), event.Change{Put: fleet(1000), Events: happenings(2000)}))
	must(b, s.Close())
	for b.Loop() {
		s, err := Open(context.Background(), path, Options{})
		must(b, err)
		b.StopTimer()
		must(b, s.Close())
		b.StartTimer()
	}
}

func BenchmarkDelivery(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "store.db"))
	ctx := context.Background()
	for i := 0; b.Loop(); i++ {
		_, err := s.Plan(ctx, "dispatch", int64(i), []delivery.Delivery{{
			Trigger: "smtp.main", Subject: "local/a", Fingerprint: fmt.Sprint(i),
		}})
		must(b, err)
		d, ok, err := s.Claim(ctx, "smtp.main", s.now())
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
		must(b,
			s.Finish(ctx, d.ID, delivery.Outcome{State: delivery.Sent}, event.Event{
				Type: event.TriggerSent, Subject: "smtp.main",
			}))
	}
}

// tagList resembles the tags of a repository that has been built for years.
func tagList(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%d.%d.%d%s\n", i/400, i/20%20, i/4%5, []string{"", "-alpine", "-bookworm", "-alpine3.20"}[i%4])
	}
	return b.Bytes()
}

func BenchmarkCache(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "store.db"))
	ctx := context.Background()
	body := tagList(1000)
	b.Run("put 1000 tags", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(b, s.CachePut(ctx, CacheEntry{Key: "tags", Validator: "v", Body: body}))
		}
		packed, err := s.cache.deflate(body)
		must(b, err)
		b.ReportMetric(float64(len(body))/float64(len(packed)), "ratio")
	})
	b.Run("get 1000 tags", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok, err := s.CacheGet(ctx, "tags"); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
}

// BenchmarkImport imports 500 containers, each with an update that users were notified of, into a new store.
func BenchmarkImport(b *testing.B) {
	cs, notified := foreign(500)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := fresh(b)
		b.StartTimer()
		if _, err := s.Import(b.Context(), "wud.json", cs, notified); err != nil {
			b.Fatal(err)
		}
	}
}
