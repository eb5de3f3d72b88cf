package overview

import (
	"cmp"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// waitingOf are the sentences about updates that wait for no user: the held ones by reason, and the automatic ones.
func waitingOf(all []containers.Row, now time.Time) []containers.Line {
	byReason, order := map[string][]containers.Row{}, []string{}
	var follow []containers.Row
	for _, r := range all {
		if r.State == sdk.StateHeld && r.Follows {
			follow = append(follow, r)
		}
		if r.State != sdk.StateHeld || r.Follows {
			continue
		}
		reason := r.Code + " " + r.Short
		if byReason[reason] == nil {
			order = append(order, reason)
		}
		byReason[reason] = append(byReason[reason], r)
	}
	slices.Sort(order)
	var lines []containers.Line
	for _, reason := range order {
		rows := byReason[reason]
		text := phrase.Count(len(rows), "update").String() + ", " + cmp.Or(rows[0].Short, words.Reason("").String())
		if next := earliest(rows); !next.IsZero() {
			text += ", the next one " + words.Relative(now.Sub(next)).String()
		}
		lines = append(lines, containers.About(rows, containers.Line{Kind: "muted", Word: "held", Text: text, To: "/containers?state=held"}))
	}
	if rows := rowsIn(all, sdk.StateAutomatic); len(rows) > 0 {
		lines = append(lines, containers.About(rows, containers.Line{
			Kind: "ok", Word: "automatic",
			Text: phrase.Count(len(rows), "update").String() + ", carried out as soon as it is their turn", To: "/containers?state=automatic",
		}))
	}
	if len(follow) > 0 {
		text := phrase.Count(len(follow), "update").String() + ", carried out " + words.Relative(now.Sub(earliest(follow))).String()
		if len(follow) > 1 {
			text = phrase.Count(len(follow), "update").String() + ", the first carried out " + words.Relative(now.Sub(earliest(follow))).String()
		}
		lines = append(lines, containers.About(follow, containers.Line{Kind: "ok", Word: "automatic", Text: text, To: "/containers?state=held"}))
	}
	return lines
}

// rowsIn are the rows that a filter of the list leaves.
func rowsIn(all []containers.Row, filter string) []containers.Row {
	var rows []containers.Row
	for _, r := range all {
		if r.Filter() == filter {
			rows = append(rows, r)
		}
	}
	return rows
}

// earliest is when the first of the reasons ends; zero when none does by itself.
func earliest(rows []containers.Row) time.Time {
	var first time.Time
	for _, r := range rows {
		if !r.Until.IsZero() && (first.IsZero() || r.Until.Before(first)) {
			first = r.Until
		}
	}
	return first
}
