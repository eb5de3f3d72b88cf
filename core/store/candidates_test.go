package store

import (
	"reflect"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// webFound is in every file that can have it.
var webFound = candidate.Found{From: "sha256:d2", Candidates: []candidate.Candidate{
	{Tag: "2.0.0", Kind: sdk.KindTag, Diff: sdk.DiffMajor, FirstSeen: start},
	{Tag: "1.26.0", Kind: sdk.KindTag, Diff: sdk.DiffMinor, FirstSeen: start, Created: start.Add(-seconds(60))},
	{Tag: "1.25.0", Digest: "sha256:new", Kind: sdk.KindDigest, FirstSeen: start},
}}

func encoded(t *testing.T, f candidate.Found) []byte {
	t.Helper()
	doc, err := f.Encode()
	must(t, err)
	return doc
}

func TestCandidatesAreStoredWithTheirContainer(t *testing.T) {
	s := fresh(t)
	expect := func(title string, want map[string]candidate.Found) {
		t.Helper()
		for range 2 {
			if got, err := s.Candidates(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v", title, got, err)
			}
			s = again(t, s)
		}
	}
	expect("a new store", map[string]candidate.Found{})
	change := put(container("local", "web", "1"))
	change.Candidates = map[string][]byte{"local/web": encoded(t, webFound), "local/db": encoded(t, candidate.Found{})}
	must(t, s.Commit(t.Context(), change))
	expect("stored", map[string]candidate.Found{"local/web": webFound, "local/db": {}})

	invalid := put(container("local", "new", "2"))
	invalid.Candidates = map[string][]byte{"local/new": []byte("{")}
	if err := s.Commit(t.Context(), invalid); err == nil {
		t.Error("candidates that are no JSON are stored")
	}
	if _, stored := s.Snapshot().Get("2"); stored {
		t.Error("a container is stored without its candidates")
	}
	must(t, s.Prune(t.Context(), start))
	expect("pruned", map[string]candidate.Found{"local/web": webFound})
	must(t, s.Commit(t.Context(), event.Change{Remove: []string{"1"}}))
	must(t, s.Prune(t.Context(), start))
	expect("pruned without its container", map[string]candidate.Found{})
}
