package operations

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// operationsPage is a page of updates and rollbacks, newest first.
type operationsPage struct {
	page.List
	State, Container string
	States           []operationFilter
	Rows             []operationRow
	Empty            *guide.Empty
	// Allow is a line that lets a watcher update; "" where one may already.
	Allow string
}

// operationRow is an operation in a list.
type operationRow struct {
	ID, About, Path, Link string
	// Full is the container as the API has it: "local/web".
	Full     string
	State    words.State
	Sentence phrase.Phrase
	Error    string
	// Told says in one sentence what did not work; nil for anything else.
	Told phrase.Phrase
	By   phrase.Phrase
	At   time.Time
}

func newOperationsPage(
	q operationQuery, wrong []phrase.Phrase, found []operation.Operation, names page.Names,
) operationsPage {
	p := operationsPage{State: q.State, Container: q.Container, States: operationFilters}
	found, p.List = page.ListOf("/operations", found, q.before, func(op operation.Operation) string { return op.ID }, q.values)
	p.Wrong, p.Rows = wrong, operationRows(found, names)
	return p
}

func operationRows(all []operation.Operation, names page.Names) []operationRow {
	var rows []operationRow
	for _, op := range all {
		full := op.Watcher + "/" + op.Name
		from, to := words.Versions(op.Plan.From, watcher.PlannedImage{
			Reference: op.Image.Reference, Digest: op.Image.Digest, ID: op.Image.ID,
		})
		row := operationRow{
			ID: op.ID, About: names.Of(full, ""), Full: full, Path: page.ContainerPath(op.Watcher, op.Name),
			Link: page.OperationPath(op.ID), State: words.OperationState(op),
			Sentence: changed(op.Kind, from, to), Error: op.Error, By: byOf(op),
			At: op.Queued,
		}
		if row.State.Class == "failed" {
			row.Told = words.Undone(op, from, to)
		}
		if words.Stopped(op) {
			row.Error = ""
		}
		if op.State.Ended() {
			row.At = op.Ended
		} else if now := words.StepNow(op); now != nil {
			row.Sentence = phrase.Join(": ", row.Sentence, now)
		}
		rows = append(rows, row)
	}
	return rows
}

func changed(k operation.Kind, from, to phrase.Phrase) phrase.Phrase {
	if k == operation.Rollback {
		return phrase.New("rollback, %s → %s", from, to)
	}
	return phrase.New("update, %s → %s", from, to)
}

func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	q, filter, wrong := parseOperations(r.URL.Query())
	names := h.Names()
	if subjects := names.Find(filter.Name); len(subjects) == 1 && names.Of(subjects[0], "") == filter.Name {
		filter.Watcher, filter.Name, _ = strings.Cut(subjects[0], "/")
	}
	found, err := h.service.Operations(r.Context(), filter)
	if err != nil {
		h.InternalError(w, r, "read the operations", err)
		return
	}
	p := newOperationsPage(q, wrong, found, names)
	p.Empty = h.guide.Empty(r.Context(), h.ActorOf(r), len(p.Rows))
	p.Allow = h.guide.AllowUpdates(h.ActorOf(r))
	open := slices.ContainsFunc(found, func(op operation.Operation) bool { return !op.State.Ended() })
	h.Live(w, r, "operations", page.Page{
		Title: phrase.New("Operations"), Nav: "operations", Live: page.FollowsOperations, Refresh: open, Content: p,
	})
}
