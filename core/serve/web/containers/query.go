package containers

import (
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/tally"
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

// matches reports whether a row has every word and is of the watcher, the registry and the status.
func (q listQuery) matches(r *Row, terms []string) bool {
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
func inState(r *Row, state string) bool {
	switch state {
	case "":
		return true
	case "updates":
		return r.Kind != ""
	case string(tally.Broken), string(tally.Postponed), string(tally.Unchecked), string(tally.NotCompared),
		string(tally.Current):
		return string(r.Part) == state
	case "approval", sdk.StateHeld, sdk.StateAutomatic:
		return r.Filter() == state
	}
	return r.Kind == state
}

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
