package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestNotesOfMajorUpdatesAreReadAhead: what pages want is read once while Run runs, if it is a major update of whose
// notes none is kept; the others are left to whoever asks for them.
func TestNotesOfMajorUpdatesAreReadAhead(t *testing.T) {
	asked := make(chan string, 8)
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode([]map[string]any{{"tag_name": "v2.0.0", "body": "## Breaking changes\n\n- `x` is gone.\n"}})
		asked <- r.URL.Path
	})
	prefetcher := NewPrefetcher(b.Reader, func() time.Time { return b.now })
	major := func(name string) *sdk.Container {
		c := updating("https://github.com/me/"+name, "1.0.0", "2.0.0")
		c.Image.Name, c.UpdateKind.SemverDiff = "me/"+name, sdk.DiffMajor
		return c
	}
	kept := major("kept")
	if n := b.Known(t.Context(), kept); len(n.Notes) != 0 || n.Repository == "" || len(asked) != 0 {
		t.Fatalf("before it was read: %+v, %d requests", n, len(asked))
	}
	b.Of(t.Context(), kept)
	if n := b.Known(t.Context(), kept); len(n.Notes) != 1 || !slices.Equal(n.Notes[0].Breaking, []string{"`x` is gone."}) {
		t.Fatalf("once it was read: %+v", n)
	}
	b.now = b.now.Add(2 * fresh) // it is kept all the same
	minor := major("minor")
	minor.UpdateKind.SemverDiff = sdk.DiffMinor
	gone := major("gone")
	gone.UpdateAvailable, gone.Result = false, nil
	for range 3 {
		for _, c := range []*sdk.Container{kept, minor, gone, major("one"), major("two")} {
			prefetcher.Want(c)
		}
	}
	if len(prefetcher.wanted) != 3 {
		t.Errorf("%d wait, want each major update once", len(prefetcher.wanted))
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- prefetcher.Run(ctx) }()
	var paths []string
	for range 3 {
		paths = append(paths, <-asked)
	}
	prefetcher.Want(major("last")) // what was wanted before it is done
	paths = append(paths, <-asked)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	want := []string{"kept", "one", "two", "last"}
	for i := range want {
		want[i] = fmt.Sprintf("/repos/me/%s/releases", want[i])
	}
	if !slices.Equal(paths, want) {
		t.Errorf("requested %v, want %v", paths, want)
	}
	if n := b.Known(t.Context(), major("two")); len(n.Notes) != 1 {
		t.Errorf("what was prefetched is not known: %+v", n)
	}
}

// TestWhatWaitsToBeReadIsBounded: what has no room is left out, and wanted again later.
func TestWhatWaitsToBeReadIsBounded(t *testing.T) {
	b := newBench(t, func(http.ResponseWriter, *http.Request) { t.Error("a host was asked") })
	prefetcher := NewPrefetcher(b.Reader, func() time.Time { return b.now })
	for i := range maxWaiting + 10 {
		c := updating("https://github.com/me/app", "1.0.0", fmt.Sprintf("%d.0.0", i+2))
		c.UpdateKind.SemverDiff = sdk.DiffMajor
		prefetcher.Want(c)
	}
	if len(prefetcher.wanted) != maxWaiting || len(prefetcher.until) != maxWaiting {
		t.Errorf("%d wait, %d are remembered, want %d", len(prefetcher.wanted), len(prefetcher.until), maxWaiting)
	}
}
