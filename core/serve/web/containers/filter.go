package containers

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// matches reports whether a row has every word and is of the watcher, the registry and the status.
func (q listQuery) matches(r *Row, terms []string) bool {
	if q.Watcher != "" && r.Watcher != q.Watcher || q.Registry != "" && r.Registry != q.Registry ||
		q.Status != "" && r.Status != q.Status {
		return false
	}
	if len(terms) == 0 {
		return true
	}
	texts := []string{r.Name, r.Key, r.Image, r.Current, r.New, r.Stack, r.Failed, r.Cause,
		phrase.English(r.Postponed), phrase.English(r.Unknown)}
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
