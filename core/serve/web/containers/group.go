package containers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/store"
)

func (q listQuery) groupOf(rec *store.Record, r *Row) string {
	switch {
	case q.Group == "watcher":
		return r.Watcher
	case q.Group == "registry":
		return r.Registry
	case q.Group == "stack":
		return r.Stack
	case strings.HasPrefix(q.Group, labelGroup):
		return rec.Container.Labels[strings.TrimPrefix(q.Group, labelGroup)]
	}
	return ""
}

// group is a titled part of the list.
type group struct {
	Title string
	Needs int
	Rows  []Row
}

// grouped sorts rows into groups: those that need the user first.
func grouped(rows []Row, order string) []group {
	index := map[string]int{}
	var groups []group
	for _, r := range rows {
		i, known := index[r.group]
		if !known {
			i = len(groups)
			index[r.group] = i
			groups = append(groups, group{Title: r.group})
		}
		groups[i].Rows = append(groups[i].Rows, r)
		if r.needs() {
			groups[i].Needs++
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g.Rows, func(a, b Row) int { return compare(&a, &b, order) })
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(compareBool(b.Needs > 0, a.Needs > 0), compareBool(a.Title == "", b.Title == ""),
			strings.Compare(a.Title, b.Title))
	})
	return groups
}
