package overview

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/sdk"
)

// toDecide are the updates that wait for a user, those that need it most first. Those of named, whose updates failed
// just now, are among the failures.
func toDecide(all []containers.Row, named map[string]bool) (rows []containers.Row) {
	for _, r := range all {
		if r.State == sdk.StateOffered && r.Doing == nil && !(r.CameBack() && named[r.Key]) {
			rows = append(rows, r)
		}
	}
	containers.ByNeed(rows)
	return rows
}

// postponedOf are sentences about checks that wait for a registry, one for each reason.
func postponedOf(all []containers.Row) []containers.Line {
	byReason := map[string][]containers.Row{}
	for _, r := range all {
		if r.Postponed != nil {
			reason := r.Postponed.String()
			byReason[reason] = append(byReason[reason], r)
		}
	}
	var lines []containers.Line
	for _, reason := range containers.SortedKeys(byReason) {
		lines = append(lines, containers.About(byReason[reason], containers.Line{Kind: "postponed", Word: phrase.New("postponed"),
			Text: byReason[reason][0].PostponedUntil, To: containers.SearchPath(reason)}))
	}
	return lines
}
