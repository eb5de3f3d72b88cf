package overview

import (
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
		reason := r.Code + " " + phrase.English(r.Short)
		if byReason[reason] == nil {
			order = append(order, reason)
		}
		byReason[reason] = append(byReason[reason], r)
	}
	slices.Sort(order)
	var lines []containers.Line
	for _, reason := range order {
		rows := byReason[reason]
		text := phrase.Join(", ", phrase.Count(len(rows), "update"), rows[0].Ends(earliest(rows), now))
		if len(rows) > 1 && !earliest(rows).IsZero() {
			text = phrase.New("%s (the first)", text)
		}
		lines = append(lines, containers.About(rows, containers.Line{Kind: "held", Word: phrase.New("held"), Text: text, To: "/containers?state=held"}))
	}
	if rows := rowsIn(all, sdk.StateAutomatic); len(rows) > 0 {
		lines = append(lines, containers.About(rows, containers.Line{
			Kind: "ok", Word: phrase.New("automatic"),
			Text: phrase.New("%s, carried out as soon as it is their turn", phrase.Count(len(rows), "update")), To: "/containers?state=automatic",
		}))
	}
	if len(follow) > 0 {
		updates, at := phrase.Count(len(follow), "update"), words.Relative(now.Sub(earliest(follow)))
		text := phrase.New("%s, carried out %s", updates, at)
		if len(follow) > 1 {
			text = phrase.New("%s, the first carried out %s", updates, at)
		}
		lines = append(lines, containers.About(follow, containers.Line{Kind: "ok", Word: phrase.New("automatic"), Text: text, To: "/containers?state=held"}))
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
