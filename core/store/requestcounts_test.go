package store

import (
	"reflect"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
)

// TestRequestsAreReplaced: what is kept has no more hosts than were saved last, for readers too.
func TestRequestsAreReplaced(t *testing.T) {
	s := fresh(t)
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, want := range [][]budget.Saved{
		{{Host: "docker.io", For: "docker.io", Made: []budget.Made{{Before: at, N: 3}}, Next: 7}, {
			Host: "ghcr.io", For: "ghcr.io",
		}},
		{{
			Host: "docker.io", For: "docker.io",
			Reported: budget.Report{Allowance: budget.Allowance{Requests: 100, Per: time.Hour}, Remaining: 3, At: at},
		}},
		{},
	} {
		if err := s.SaveRequests(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := s.Requests(t.Context())
		if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		r, err := Read(t.Context(), s.path)
		if err != nil {
			t.Fatal(err)
		}
		if read, err := r.Requests(t.Context()); err != nil || len(read) != len(want) {
			t.Errorf("a reader got %+v, %v", read, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
