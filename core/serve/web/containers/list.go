package containers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/maruel/natural"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/internal/reference"
)

// listView is what the list shows.
type listView struct {
	Query    listQuery
	Here     string
	Sentence phrase.Phrase
	// Silent is whether a watcher has failed, of whose engine there may be more containers.
	Silent bool
	Empty  bool // there are no containers at all
	// Guide says why there are none, and what to do.
	Guide *guide.Guide
	// Outages are failures that several containers share, of which each row says little.
	Outages []Line
	Shown   int
	// Earlier and Later are the parts before and after the one that is shown; nil where there is none.
	Earlier, Later *part
	Version        uint64
	Chips          []chip
	Columns        []column
	Groups         []group
	Grouped        bool
	Watchers       []page.SelectOption
	Statuses       []page.SelectOption
	Registry       []page.SelectOption
	GroupBy        []page.SelectOption
	SortBy         []page.SelectOption
	Triggers       []triggerOption
	// Update is whether any of its containers can be updated.
	Update bool
	// Decide is whether the user can decide about updates.
	Decide    bool
	HasFilter bool
	// Causes is whether these are failed checks, which say why in full.
	Causes bool
	// found are all groups, in their order, without rows; make makes those, and shown are what it made them of.
	found []group
	make  rows
	shown []*store.Record
	// all are all containers there are.
	all []*store.Record
	// counts counts all of them.
	counts tally.Counts
}

// listOf makes the list that a query asks for.
func listOf(records []*store.Record, q listQuery, make rows) listView {
	v := listView{Query: q, Empty: len(records) == 0}
	v.Causes = q.State == string(tally.Broken)
	v.HasFilter = q.Search != "" || q.State != "" || q.Status != "" || q.Watcher != "" || q.Registry != ""
	var all, matching tally.Counts
	found := slices.Grow([]entry{}, len(records))
	var troubles []trouble
	watchers, registries, statuses, labels := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	terms := strings.Fields(strings.ToLower(q.Search))
	for _, rec := range records {
		c := &rec.Container
		v.Update = v.Update || make.updatable(c)
		all.Add(c)
		watchers[c.Watcher], registries[c.Image.Registry.Host], statuses[c.Status] = true, true, true
		for name := range c.Labels {
			labels[name]++
		}
		if !q.matches(rec, terms, make) {
			continue
		}
		matching.Add(c)
		if !inState(c, q.State) {
			continue
		}
		found = append(found, entry{make.placeOf(rec), rec})
		if t := make.troubleOf(c); t.Failed != "" || t.AsOf != nil {
			troubles = append(troubles, t)
		}
	}
	v.Chips, v.Shown, v.counts = q.chips(matching), len(found), all
	v.Outages = slices.Concat(silentOf(troubles), outagesOf(troubles))
	v.found = q.grouped(found)
	v.Grouped = q.Group != "none" && (len(v.found) > 1 || len(v.found) == 1 && v.found[0].Title != "")
	v.make, v.all = make, records
	v.show()
	v.Watchers = filterOptions(watchers, q.Watcher, phrase.New("every watcher"))
	v.Statuses = filterOptions(statuses, q.Status, phrase.New("every status"))
	v.Registry = filterOptions(registries, q.Registry, phrase.New("every registry"))
	v.Columns = q.columns()
	v.GroupBy = []page.SelectOption{{Value: "stack", Word: phrase.New("by stack")}, {Value: "watcher", Word: phrase.New("by watcher")},
		{Value: "registry", Word: phrase.New("by registry")}, {Value: "none", Word: phrase.New("ungrouped")}}
	v.GroupBy = append(v.GroupBy, labelChoices(labels, q.Group)...)
	v.SortBy = []page.SelectOption{{Value: "need", Word: phrase.New("needs attention first")}, {Value: "name", Word: phrase.New("by name")},
		{Value: "age", Word: phrase.New("newest release first")}, {Value: "image", Word: phrase.New("by image")}}
	choose(v.GroupBy, q.Group)
	choose(v.SortBy, q.Sort)
	return v
}

// nameHosts has rows show the host of their registry with a repository that several registries have by the same name.
func nameHosts(shown []group, records []*store.Record) {
	hosts, ambiguous := map[string]string{}, map[string]bool{}
	for _, g := range shown {
		for i := range g.Rows {
			hosts[g.Rows[i].Repository] = g.Rows[i].Registry
		}
	}
	for _, rec := range records {
		repository := reference.Short("", rec.Container.Image.Name)
		if host, known := hosts[repository]; known && host != rec.Container.Image.Registry.Host {
			ambiguous[repository] = true
		}
	}
	for _, g := range shown {
		for i := range g.Rows {
			if r := &g.Rows[i]; ambiguous[r.Repository] {
				r.Repository = r.Image
			}
		}
	}
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

func compare(a, b *place, order string) int {
	byName := natural.Compare(a.lower, b.lower)
	switch order {
	case "name":
		return byName
	case "age":
		return cmp.Or(b.since().Compare(a.since()), byName)
	case "image":
		return cmp.Or(natural.Compare(a.Image, b.Image), byName)
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
