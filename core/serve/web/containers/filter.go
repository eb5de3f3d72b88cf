package containers

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// matches reports whether the row of a container has every word and is of the watcher, the registry and the status.
func (q listQuery) matches(rec *store.Record, terms []string, make rows) bool {
	c := &rec.Container
	if q.Watcher != "" && c.Watcher != q.Watcher || q.Registry != "" && c.Image.Registry.Host != q.Registry ||
		q.Status != "" && c.Status != q.Status {
		return false
	}
	if len(terms) == 0 {
		return true
	}
	r := make.Of(rec)
	texts := []string{r.Name, r.Key, r.Image, r.Current, r.New, r.Stack, r.Failed, r.Cause,
		phrase.English(r.Postponed), phrase.English(r.Unknown)}
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(terms, func(term string) bool { return !strings.Contains(text, term) })
}

// inState reports whether a container belongs to one of the filters.
func inState(c *sdk.Container, state string) bool {
	switch state {
	case "":
		return true
	case "updates":
		return c.UpdateAvailable
	case string(tally.Broken), string(tally.Postponed), string(tally.Unchecked), string(tally.NotCompared),
		string(tally.Current):
		return string(tally.PartOf(c)) == state
	case "approval", sdk.StateHeld, sdk.StateAutomatic:
		return decision{State: tally.State(c), Approval: tally.Approval(c)}.Filter() == state
	}
	return tally.Kind(c) == state
}
