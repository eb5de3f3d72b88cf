package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// listQuery is what the address of the list says.
type listQuery struct {
	Search, State, Status, Watcher, Registry, Group, Sort string
}

// labelGroup begins the value of group that stands for the value of a label.
const labelGroup = "label:"

func parseListQuery(v url.Values) listQuery {
	q := listQuery{
		Search: strings.TrimSpace(v.Get("q")), State: v.Get("state"), Status: v.Get("status"),
		Watcher: v.Get("watcher"), Registry: v.Get("registry"), Group: v.Get("group"), Sort: v.Get("sort"),
	}
	if !slices.Contains([]string{"stack", "watcher", "registry", "none"}, q.Group) &&
		!strings.HasPrefix(q.Group, labelGroup) {
		q.Group = "stack"
	}
	if !slices.Contains([]string{"need", "name", "age", "image"}, q.Sort) {
		q.Sort = "need"
	}
	return q
}

// with returns the query of the same list with one thing changed, or with name
// "" nothing, for links.
func (q listQuery) with(name, value string) string {
	v := url.Values{}
	for key, value := range map[string]string{
		"q": q.Search, "state": q.State, "status": q.Status, "watcher": q.Watcher, "registry": q.Registry,
		"group": q.Group, "sort": q.Sort,
	} {
		v.Set(key, value)
	}
	if name != "" {
		v.Set(name, value)
	}
	for key, usual := range map[string]string{
		"q": "", "state": "", "status": "", "watcher": "", "registry": "", "group": "stack", "sort": "need",
	} {
		if v.Get(key) == usual {
			v.Del(key)
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// chip is one filter by state, with how many it leaves.
type chip struct {
	Word, Class, Query string
	Count              int
	Chosen             bool
}

// group is a titled part of the list.
type group struct {
	Title string
	Needs int
	Rows  []row
}

// listView is what the list shows.
type listView struct {
	Query    listQuery
	Here     string
	Sentence string
	Empty    bool // there are no containers at all
	// Guide says why there are none, and what to do.
	Guide *guide.Guide
	// Outages are failures that several containers share, of which each row says little.
	Outages  []line
	Shown    int
	Version  uint64
	Chips    []chip
	Groups   []group
	Grouped  bool
	Watchers []page.SelectOption
	Statuses []page.SelectOption
	Registry []page.SelectOption
	GroupBy  []page.SelectOption
	SortBy   []page.SelectOption
	Triggers []triggerChoice
	// Update is whether any of its containers can be updated.
	Update bool
	// Decide is whether the user can decide about updates.
	Decide    bool
	HasFilter bool
}

// listOf makes the list that a query asks for.
func listOf(records []*store.Record, q listQuery, make rows) listView {
	v := listView{Query: q, Empty: len(records) == 0, Here: "/containers" + q.with("", "")}
	v.HasFilter = q.Search != "" || q.State != "" || q.Status != "" || q.Watcher != "" || q.Registry != ""
	var all, matching tally.Counts
	var found []row
	watchers, registries, statuses, labels := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	terms := strings.Fields(strings.ToLower(q.Search))
	for _, rec := range records {
		r := make.of(rec)
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
	v.Sentence, v.Chips, v.Shown, v.Outages = words.Counts(all), q.chips(matching), len(found), outagesOf(found)
	v.Groups = grouped(found, q.Sort)
	v.Grouped = q.Group != "none" && (len(v.Groups) > 1 || len(v.Groups) == 1 && v.Groups[0].Title != "")
	v.Watchers = choices(watchers, q.Watcher, "every watcher")
	v.Statuses = choices(statuses, q.Status, "every state")
	v.Registry = choices(registries, q.Registry, "every registry")
	v.GroupBy = []page.SelectOption{{Value: "stack", Word: "by stack"}, {Value: "watcher", Word: "by watcher"},
		{Value: "registry", Word: "by registry"}, {Value: "none", Word: "ungrouped"}}
	v.GroupBy = append(v.GroupBy, labelChoices(labels, q.Group)...)
	v.SortBy = []page.SelectOption{{Value: "need", Word: "what needs you first"}, {Value: "name", Word: "by name"},
		{Value: "age", Word: "newest release first"}, {Value: "image", Word: "by image"}}
	choose(v.GroupBy, q.Group)
	choose(v.SortBy, q.Sort)
	return v
}

// matches reports whether a row has every word and is of the watcher, the registry and the status.
func (q listQuery) matches(r *row, terms []string) bool {
	if q.Watcher != "" && r.Watcher != q.Watcher || q.Registry != "" && r.Registry != q.Registry ||
		q.Status != "" && r.Status != q.Status {
		return false
	}
	if len(terms) == 0 {
		return true
	}
	texts := []string{r.Name, r.Key, r.Image, r.Current, r.New, r.Stack, r.Failed, r.Cause, r.Postponed, r.Unknown}
	text := strings.ToLower(strings.Join(texts, "\n"))
	for _, term := range terms {
		if !strings.Contains(text, term) {
			return false
		}
	}
	return true
}

// inState reports whether a row belongs to one of the filters.
func inState(r *row, state string) bool {
	switch state {
	case "":
		return true
	case "updates":
		return r.Kind != ""
	case string(tally.Broken), string(tally.Postponed), string(tally.Unchecked), string(tally.NotCompared),
		string(tally.Current):
		return string(r.Part) == state
	case "approval", sdk.StateHeld, sdk.StateAutomatic:
		return r.filter() == state
	}
	return r.Kind == state
}

func (q listQuery) groupOf(rec *store.Record, r *row) string {
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

// grouped sorts rows into groups: those that need the user first.
func grouped(rows []row, order string) []group {
	at := map[string]int{}
	var groups []group
	for _, r := range rows {
		i, known := at[r.group]
		if !known {
			i = len(groups)
			at[r.group] = i
			groups = append(groups, group{Title: r.group})
		}
		groups[i].Rows = append(groups[i].Rows, r)
		if r.needs() {
			groups[i].Needs++
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g.Rows, func(a, b row) int { return compare(&a, &b, order) })
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(compareBool(b.Needs > 0, a.Needs > 0), compareBool(a.Title == "", b.Title == ""),
			strings.Compare(a.Title, b.Title))
	})
	return groups
}

func compare(a, b *row, order string) int {
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

func (q listQuery) chips(t tally.Counts) []chip {
	all := []chip{
		{Word: "all", Count: t.All}, {Word: "updates", Class: "updates", Count: t.Updates},
		{Word: "to approve", Class: "approval", Count: t.Approval},
		{Word: "held", Class: sdk.StateHeld, Count: t.Held},
		{Word: "automatic", Class: sdk.StateAutomatic, Count: t.Automatic},
		{Word: "major", Class: "major", Count: t.Major}, {Word: "minor", Class: "minor", Count: t.Minor},
		{Word: "patch", Class: "patch", Count: t.Patch}, {Word: "prerelease", Class: "prerelease", Count: t.Prerelease},
		{Word: "rebuilt", Class: "digest", Count: t.Digest},
		{Word: "newer", Class: "other", Count: t.Others}, {Word: "failed", Class: string(tally.Broken),
			Count: t.Failed},
		{Word: "postponed", Class: string(tally.Postponed), Count: t.Postponed},
		{Word: "not checked", Class: string(tally.Unchecked), Count: t.Unchecked},
		{Word: "unknown", Class: string(tally.NotCompared), Count: t.Unknown},
		{Word: "up to date", Class: string(tally.Current), Count: t.Current},
	}
	var shown []chip
	for _, c := range all {
		c.Chosen = c.Class == q.State
		if c.Count == 0 && !c.Chosen && c.Class != "" {
			continue
		}
		c.Query = q.with("state", c.Class)
		shown = append(shown, c)
	}
	return shown
}

// choices are the entries of a filter, with one for no filter; none when there is nothing to choose.
func choices(values map[string]bool, chosen, every string) []page.SelectOption {
	if chosen != "" {
		values[chosen] = true
	}
	delete(values, "")
	if len(values) < 2 && chosen == "" {
		return nil
	}
	all := []page.SelectOption{{Word: every, Chosen: chosen == ""}}
	for _, value := range sortedKeys(values) {
		all = append(all, page.SelectOption{Value: value, Word: value, Chosen: value == chosen})
	}
	return all
}

func choose(all []page.SelectOption, value string) {
	for i := range all {
		all[i].Chosen = all[i].Value == value
	}
}

// groupable reports whether a label may group containers as users think of them.
func groupable(name string) bool {
	for _, prefix := range []string{"com.docker.", "org.opencontainers.", "org.label-schema.", "io.podman.", "wud.",
		"dogwatch.", "maintainer", "desktop.docker."} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return true
}

// maxLabelChoices keeps the list of labels to group by readable.
const maxLabelChoices = 20

func labelChoices(counts map[string]int, chosen string) []page.SelectOption {
	var all []page.SelectOption
	for _, name := range sortedKeys(counts) {
		if value := labelGroup + name; counts[name] > 1 && len(all) < maxLabelChoices || value == chosen {
			all = append(all, page.SelectOption{Value: value, Word: "by label " + name})
		}
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// triggerChoice is a trigger that can be run for containers.
type triggerChoice struct {
	ID string
	// Acts is true for triggers that may change containers, which the user has to confirm.
	Acts bool
}

// triggerChoices are those of triggers that can be run.
func triggerChoices(triggers []service.Component) []triggerChoice {
	var all []triggerChoice
	for _, t := range triggers {
		if t.Usable {
			all = append(all, triggerChoice{ID: t.ID, Acts: t.Acts})
		}
	}
	return all
}
