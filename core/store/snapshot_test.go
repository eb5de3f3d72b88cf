package store

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func named(watcher, name, tag string) *Record {
	c := sdk.Container{
		ID: watcher + "\x00" + name + "\x00" + tag, Watcher: watcher, Name: name, Image: sdk.Image{Tag: sdk.Tag{Value: tag}},
	}
	return &Record{Container: c, order: orderOf(&c)}
}

func TestSortIsNatural(t *testing.T) {
	for title, want := range map[string][]string{
		"characters":               {"_x", "-y", ".z", "1", "10", "2", "a", "A", "b", "B", "z", "é"},
		"prefixes first":           {"", "a", "a_", "a-", "a.b", "a1", "aa", "Aa", "ab"},
		"case decides last":        {"ab", "aB", "Ab", "AB", "abc", "ABD", "abe"},
		"case of the first letter": {"web1", "Web1", "web2"},
		"space before all":         {" ", "_", "$", "0"},
	} {
		t.Run(title, func(t *testing.T) {
			var records []*Record
			for _, name := range want {
				records = append(records, named("local", name, ""))
			}
			rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			var got []string
			for _, r := range newSnapshot(1, records).All() {
				got = append(got, r.Container.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("sorted %q\n  want %q", got, want)
			}
		})
	}
}

func TestSortByWatcherThenNameThenTag(t *testing.T) {
	want := []*Record{named("a", "a", "1"), named("a", "a", "2"), named("a", "A", "1"), named("a", "b", "1"),
		named("A", "a", "1"), named("b", "a", "0")}
	got := slices.Clone(want)
	slices.Reverse(got)
	if !slices.Equal(newSnapshot(1, got).All(), want) {
		t.Error("not sorted by watcher, name, tag")
	}
}

// TestSortIsTotal sorts random records in random orders: whatever order they come in, they leave in one.
func TestSortIsTotal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aAbBzZ019_-. ~é\u212aK\x01") // K, k and the Kelvin sign fold to one letter
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(4) {
			b.WriteRune(alphabet[rnd.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 200 {
		var records []*Record
		seen := map[string]bool{}
		for range 30 {
			if r := named(text(), text(), text()); !seen[r.Container.ID] {
				seen[r.Container.ID] = true
				records = append(records, r)
			}
		}
		first := slices.Clone(newSnapshot(1, slices.Clone(records)).All())
		rnd.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		if !slices.Equal(newSnapshot(1, records).All(), first) {
			t.Fatal("the same containers were sorted in two ways")
		}
	}
}
