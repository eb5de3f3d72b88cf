package containers

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// listQuery is what the address of the list says.
type listQuery struct {
	Search, State, Status, Watcher, Registry, Group, Sort string
	// From is how many rows are before the part that is shown.
	From int
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
	q.From, _ = strconv.Atoi(v.Get("from")) // the list begins where it is no number
	return q
}

// Chosen reports whether one of the choices beside the search differs from the usual.
func (q listQuery) Chosen() bool {
	return q.Status != "" || q.Watcher != "" || q.Registry != "" || q.Group != "stack" || q.Sort != "need"
}

// with returns the query of the same list with one thing changed, or with name
// "" nothing, for links. A changed list is shown from its beginning.
func (q listQuery) with(name, value string) string {
	v := url.Values{}
	for key, value := range map[string]string{
		"q": q.Search, "state": q.State, "status": q.Status, "watcher": q.Watcher, "registry": q.Registry,
		"group": q.Group, "sort": q.Sort, "from": strconv.Itoa(q.From),
	} {
		v.Set(key, value)
	}
	if name != "" {
		v.Del("from")
		v.Set(name, value)
	}
	for key, usual := range map[string]string{
		"q": "", "state": "", "status": "", "watcher": "", "registry": "", "group": "stack", "sort": "need", "from": "0",
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
