package service

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/sdk"
)

// BenchmarkUpdateHistory has the pictures of the overview made of 100,000 events in ninety
// days, of 200 containers with thirty labels, every tenth of which events is a new name of
// its container: for the first time after a start, and after one more event.
func BenchmarkUpdateHistory(b *testing.B) {
	const events, containers, batch = 100_000, 200, 1000
	s, stored := newService(b, nil)
	now := time.Now()
	labels := map[string]string{}
	for i := range 30 {
		labels[fmt.Sprintf("org.example.label.with.a.name.%d", i)] = "a value of some length, as they have"
	}
	names := make([]string, containers)
	add := func(from, to int, put bool) {
		var change event.Change
		for i := from; i < to; i++ {
			n, round := i%containers, i/containers
			e := event.Event{
				At: now.Add(-89 * 24 * time.Hour).Add(time.Duration(i) * 89 * 24 * time.Hour / events), Type: event.UpdateFound,
			}
			c := sdk.Container{
				ID: fmt.Sprint("c", n), Watcher: "local", Labels: labels, UpdateAvailable: round%2 == 1,
				UpdateKind: sdk.UpdateKind{
					Kind: sdk.KindTag, SemverDiff: []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch}[n%3],
				},
			}
			switch {
			case round == 0:
				e.Type, names[n] = event.ContainerAdded, fmt.Sprintf("app%03d", n)
			case (round+n)%10 == 0:
				e.Type, e.From, names[n] = event.ContainerRenamed, names[n], fmt.Sprintf("app%03d-%d", n, round)
			case round%2 == 0:
				e.Type = event.UpdateCleared
			}
			c.Name = names[n]
			e.Subject, e.Container = event.Subject(c), &c
			change.Events = append(change.Events, e)
			if put {
				change.Put = append(change.Put, c)
			}
		}
		if err := stored.Commit(b.Context(), change); err != nil {
			b.Fatal(err)
		}
	}
	for from := 0; from < events; from += batch {
		add(from, from+batch, from+batch == events)
	}
	look := func(b *testing.B) []history.Day {
		days, err := s.UpdateHistory(b.Context())
		if err != nil || len(days) < history.Days-1 {
			b.Fatalf("%d days (%v)", len(days), err)
		}
		return days
	}
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	b.Run("first", func(b *testing.B) {
		var before float64
		for b.Loop() {
			b.StopTimer()
			s.updates.log = history.Log{}
			before = heap()
			b.StartTimer()
			look(b)
		}
		b.ReportMetric(heap()-before, "MB-kept")
	})
	b.Run("next", func(b *testing.B) {
		look(b)
		for i := events; b.Loop(); i++ {
			b.StopTimer()
			add(i, i+1, false)
			b.StartTimer()
			if days := look(b); days[len(days)-1].Updates > containers {
				b.Fatalf("%d updates of %d containers", days[len(days)-1].Updates, containers)
			}
		}
	})
}
