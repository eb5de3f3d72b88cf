package containers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/maruel/natural"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func (q listQuery) groupOf(c *sdk.Container) string {
	switch {
	case q.Group == "watcher":
		return c.Watcher
	case q.Group == "registry":
		return c.Image.Registry.Host
	case q.Group == "stack":
		return c.Stack
	case strings.HasPrefix(q.Group, labelGroup):
		return c.Labels[strings.TrimPrefix(q.Group, labelGroup)]
	}
	return ""
}

// group is a titled part of the list.
type group struct {
	Title string
	// Needs is how many need the user, and Open how many have an update, held ones included, or failed.
	Needs, Open int
	// Entries are all that it has, and Rows those that are shown.
	Entries []*entry
	Rows    []Row
	// Continued is whether the part of the list before has its heading.
	Continued bool
}

// entry is a container of the list, whose row is made where it is shown.
type entry struct {
	place
	rec *store.Record
}

// grouped sorts containers into groups: those that need the user most first.
func (q listQuery) grouped(all []entry) []group {
	index := map[string]int{}
	var groups []group
	for n := range all {
		c := &all[n].rec.Container
		title := q.groupOf(c)
		i, known := index[title]
		if !known {
			i = len(groups)
			index[title] = i
			groups = append(groups, group{Title: title})
		}
		groups[i].Entries = append(groups[i].Entries, &all[n])
		if needs(c) {
			groups[i].Needs++
		}
		if tally.Kind(c) != "" || tally.Failed(c) {
			groups[i].Open++
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g.Entries, func(a, b *entry) int { return compare(&a.place, &b.place, q.Sort) })
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		order := compareBool(b.Needs > 0, a.Needs > 0)
		if q.Sort == "need" { // the first entry is what is needed most
			order = cmp.Compare(a.Entries[0].need, b.Entries[0].need)
		}
		return cmp.Or(order, compareBool(a.Title == "", b.Title == ""), natural.Compare(a.Title, b.Title))
	})
	return groups
}
