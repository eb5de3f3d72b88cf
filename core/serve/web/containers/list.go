package containers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/internal/reference"
)

// listView is what the list shows.
type listView struct {
	Query    listQuery
	Here     string
	Sentence phrase.Phrase
	Empty    bool // there are no containers at all
	// Guide says why there are none, and what to do.
	Guide *guide.Guide
	// Outages are failures that several containers share, of which each row says little.
	Outages  []Line
	Shown    int
	Version  uint64
	Chips    []chip
	Columns  []column
	Groups   []group
	Grouped  bool
	Watchers []page.SelectOption
	Statuses []page.SelectOption
	Registry []page.SelectOption
	GroupBy  []page.SelectOption
	SortBy   []page.SelectOption
	Triggers []triggerOption
	// Update is whether any of its containers can be updated.
	Update bool
	// Decide is whether the user can decide about updates.
	Decide    bool
	HasFilter bool
	// Causes is whether these are failed checks, which say why in full.
	Causes bool
}

// listOf makes the list that a query asks for.
func listOf(records []*store.Record, q listQuery, make rows) listView {
	v := listView{Query: q, Empty: len(records) == 0, Here: "/containers" + q.with("", "")}
	v.Causes = q.State == string(tally.Broken)
	v.HasFilter = q.Search != "" || q.State != "" || q.Status != "" || q.Watcher != "" || q.Registry != ""
	var all, matching tally.Counts
	var found []Row
	watchers, registries, statuses, labels := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	terms, ambiguous := strings.Fields(strings.ToLower(q.Search)), ambiguousRepositories(records)
	for _, rec := range records {
		r := make.Of(rec)
		if ambiguous[r.Repository] {
			r.Repository = r.Image
		}
		v.Update = v.Update || r.Update != ""
		all.Add(&rec.Container)
		watchers[r.Watcher], registries[r.Registry], statuses[r.Status] = true, true, true
		for name := range rec.Container.Labels {
			if groupable(name) {
				labels[name]++
			}
		}
		if !q.matches(&r, terms) {
			continue
		}
		matching.Add(&rec.Container)
		if !inState(&r, q.State) {
			continue
		}
		r.group = q.groupOf(rec, &r)
		found = append(found, r)
	}
	v.Sentence, v.Chips, v.Shown = words.Counts(all), q.chips(matching), len(found)
	v.Outages = slices.Concat(silentOf(found), outagesOf(found))
	v.Groups = grouped(found, q.Sort)
	v.Grouped = q.Group != "none" && (len(v.Groups) > 1 || len(v.Groups) == 1 && v.Groups[0].Title != "")
	v.Watchers = filterOptions(watchers, q.Watcher, phrase.New("every watcher"))
	v.Statuses = filterOptions(statuses, q.Status, phrase.New("every state"))
	v.Registry = filterOptions(registries, q.Registry, phrase.New("every registry"))
	v.Columns = q.columns()
	v.GroupBy = []page.SelectOption{{Value: "stack", Word: phrase.New("by stack")}, {Value: "watcher", Word: phrase.New("by engine")},
		{Value: "registry", Word: phrase.New("by registry")}, {Value: "none", Word: phrase.New("ungrouped")}}
	v.GroupBy = append(v.GroupBy, labelChoices(labels, q.Group)...)
	v.SortBy = []page.SelectOption{{Value: "need", Word: phrase.New("needs attention first")}, {Value: "name", Word: phrase.New("by name")},
		{Value: "age", Word: phrase.New("newest release first")}, {Value: "image", Word: phrase.New("by image")}}
	choose(v.GroupBy, q.Group)
	choose(v.SortBy, q.Sort)
	return v
}

// ambiguousRepositories are those that several registries have by the same name.
func ambiguousRepositories(records []*store.Record) map[string]bool {
	hosts, ambiguous := map[string]string{}, map[string]bool{}
	for _, rec := range records {
		host, repository := rec.Container.Image.Registry.Host, reference.Short("", rec.Container.Image.Name)
		if known, seen := hosts[repository]; seen && known != host {
			ambiguous[repository] = true
		}
		hosts[repository] = host
	}
	return ambiguous
}

// column is a heading of the list. Query is the list sorted by it; "" for one that sorts nothing.
type column struct {
	Word         phrase.Phrase
	Query, Class string
	Chosen       bool
}

// Headings are those of the columns of rows.
func Headings() []phrase.Phrase {
	return []phrase.Phrase{phrase.New("Name"), phrase.New("Image"), phrase.New("Version"), phrase.New("State"),
		phrase.New("Age or note")}
}

// columns are the headings of the list.
func (q listQuery) columns() []column {
	all := make([]column, 0, 5)
	sorts := []string{"name", "image", "", "need", "age"}
	for i, word := range Headings() {
		c := column{Word: word, Class: sorts[i]}
		if c.Class != "" {
			c.Query, c.Chosen = "/containers"+q.with("sort", c.Class), c.Class == q.Sort
		}
		all = append(all, c)
	}
	return all
}

func compare(a, b *Row, order string) int {
	byName := strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	switch order {
	case "name":
		return byName
	case "age":
		return cmp.Or(b.since().Compare(a.since()), byName)
	case "image":
		return cmp.Or(strings.Compare(a.Image, b.Image), byName)
	}
	return cmp.Or(a.need-b.need, byName)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
