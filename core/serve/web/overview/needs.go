package overview

import (
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// toDecide are the updates that wait for the approval of a user, and the others that a user may carry out, those that
// need it most first. Those of named, whose updates failed just now, are among the failures.
func toDecide(all []containers.Row, named map[string]bool) (approvals, rows []containers.Row) {
	for _, r := range all {
		switch {
		case r.State != sdk.StateOffered || r.Doing != nil || r.CameBack() && named[r.Key]:
		case r.Approval || r.CameBack():
			approvals = append(approvals, r)
		default:
			rows = append(rows, r)
		}
	}
	containers.ByNeed(approvals)
	containers.ByNeed(rows)
	return approvals, rows
}

// list lists the updates that a user may decide about, without those of named.
func (h *Handler) list(r *http.Request, v *overviewView, records []*store.Record, all []containers.Row,
	named map[string]bool) {
	startable := func(r containers.Row) bool { return r.Update != "" }
	approvals, rows := toDecide(all, named)
	v.Approvals, v.Rows = approvals, rows[:min(len(rows), rowsShown)]
	v.More, v.Starts = len(rows)-len(v.Rows), slices.ContainsFunc(rows, startable)
	v.Decides = h.MayChoose(r) && slices.ContainsFunc(approvals, startable)
	h.containers.Warn(r.Context(), records, v.Approvals, v.Rows)
	h.containers.Write(r, v.Approvals, v.Rows)
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
