package containers

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk"
)

// chip is one filter by state, with how many it leaves.
type chip struct {
	Word         phrase.Phrase
	Class, Query string
	Count        int
	Chosen       bool
}

func (q listQuery) chips(t tally.Counts) []chip {
	all := []chip{
		{Word: phrase.New("all"), Count: t.All}, {Word: phrase.New("updates"), Class: "updates", Count: t.Updates},
		{Word: phrase.New("to approve"), Class: "approval", Count: t.Approval},
		{Word: phrase.New("held"), Class: sdk.StateHeld, Count: t.Held},
		{Word: phrase.New("automatic"), Class: sdk.StateAutomatic, Count: t.Automatic},
		{Word: phrase.New("major"), Class: "major", Count: t.Major}, {Word: phrase.New("minor"), Class: "minor", Count: t.Minor},
		{Word: phrase.New("patch"), Class: "patch", Count: t.Patch}, {Word: phrase.New("prerelease"), Class: "prerelease", Count: t.Prerelease},
		{Word: phrase.New("rebuilt"), Class: "digest", Count: t.Digest},
		{Word: phrase.New("newer"), Class: "other", Count: t.Others},
		{Word: phrase.Translated("failed", phrase.New("check failed")), Class: string(tally.Broken), Count: t.Failed},
		{Word: phrase.New("postponed"), Class: string(tally.Postponed), Count: t.Postponed},
		{Word: phrase.New("not checked"), Class: string(tally.Unchecked), Count: t.Unchecked},
		{Word: phrase.New("unknown"), Class: string(tally.NotCompared), Count: t.Unknown},
		{Word: phrase.New("up to date"), Class: string(tally.Current), Count: t.Current},
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

// filterOptions are the entries of a filter, with one for no filter; none when there is nothing to choose.
func filterOptions(values map[string]bool, chosen string, every phrase.Phrase) []page.SelectOption {
	if chosen != "" {
		values[chosen] = true
	}
	delete(values, "")
	if len(values) < 2 && chosen == "" {
		return nil
	}
	all := []page.SelectOption{{Word: every, Chosen: chosen == ""}}
	for _, value := range SortedKeys(values) {
		all = append(all, page.SelectOption{Value: value, Word: phrase.Verbatim(value), Chosen: value == chosen})
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
	for _, name := range SortedKeys(counts) {
		value := labelGroup + name
		if groupable(name) && (counts[name] > 1 && len(all) < maxLabelChoices || value == chosen) {
			all = append(all, page.SelectOption{Value: value, Word: phrase.New("by label %s", name)})
		}
	}
	return all
}

func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
