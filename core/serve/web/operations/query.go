package operations

import (
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/update/operation"
)

// operationFilter is a filter of the list of operations.
type operationFilter struct {
	Name   string
	Label  phrase.Phrase
	states []operation.State
}

var operationFilters = []operationFilter{
	{"", phrase.New("any"), nil},
	{"open", phrase.New("under way"), []operation.State{operation.Queued, operation.Running}},
	{"succeeded", phrase.New("succeeded"), []operation.State{operation.Succeeded}},
	{"rolled-back", phrase.New("did not work"), []operation.State{operation.RolledBack}},
	{"failed", phrase.New("failed"), []operation.State{operation.Failed}},
	{"cancelled", phrase.New("cancelled"), []operation.State{operation.Cancelled}},
}

type operationQuery struct{ State, Container, before string }

func parseOperations(values url.Values) (q operationQuery, f operation.Filter, wrong []phrase.Phrase) {
	q = operationQuery{
		State: values.Get("state"), Container: strings.TrimSpace(values.Get("container")), before: values.Get("before"),
	}
	i := slices.IndexFunc(operationFilters, func(c operationFilter) bool { return c.Name == q.State })
	if i < 0 {
		wrong = append(wrong, phrase.New("There is no state %q: all operations are shown.", q.State))
		q.State, i = "", 0
	}
	f = operation.Filter{States: operationFilters[i].states, Before: q.before, Limit: page.Size + 1}
	if q.Container != "" {
		var both bool
		if f.Watcher, f.Name, both = strings.Cut(q.Container, "/"); !both {
			f.Watcher, f.Name = "", q.Container
		}
	}
	return q, f, wrong
}

func (q operationQuery) values(before string) string {
	return page.Query(map[string]string{"state": q.State, "container": q.Container, "before": before})
}
