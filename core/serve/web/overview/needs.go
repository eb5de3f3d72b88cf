package overview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// updatesOf are sentences about the updates that are offered, worst first.
func updatesOf(all []containers.Row) []containers.Line {
	kinds := []struct{ class, noun string }{
		{"major", "major update"}, {"minor", "minor update"}, {"patch", "patch"}, {"prerelease", "prerelease"},
		{"digest", "rebuilt image"}, {"other", "newer version"},
	}
	var lines []containers.Line
	for _, k := range kinds {
		rows := slices.Collect(func(yield func(containers.Row) bool) {
			for _, r := range all {
				if r.Kind == k.class && r.Filter() == sdk.StateOffered && !r.CameBack() && !yield(r) {
					return
				}
			}
		})
		if len(rows) > 0 {
			noun := words.Plural(len(rows), k.noun)
			if k.noun == "patch" && len(rows) > 1 {
				noun = fmt.Sprintf("%d patches", len(rows))
			}
			lines = append(lines, containers.About(rows, containers.Line{Kind: k.class, Word: tally.Word(k.class), Text: noun,
				To: "/containers?state=" + k.class}))
		}
	}
	return lines
}

// postponedOf are sentences about checks that wait for a registry, one for each reason.
func postponedOf(all []containers.Row) []containers.Line {
	byReason := map[string][]containers.Row{}
	for _, r := range all {
		if r.Postponed != "" {
			byReason[r.Postponed] = append(byReason[r.Postponed], r)
		}
	}
	var lines []containers.Line
	for _, reason := range containers.SortedKeys(byReason) {
		lines = append(lines, containers.About(byReason[reason], containers.Line{Kind: "postponed", Word: "postponed",
			Text: strings.TrimPrefix(reason, "postponed "), To: containers.SearchPath(reason)}))
	}
	return lines
}
