package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// operationChoice is a filter of the list of operations.
type operationChoice struct {
	Name, Label string
	states      []operation.State
}

var operationChoices = []operationChoice{
	{"", "any", nil},
	{"open", "under way", []operation.State{operation.Queued, operation.Running}},
	{"succeeded", "succeeded", []operation.State{operation.Succeeded}},
	{"rolled-back", "did not work", []operation.State{operation.RolledBack}},
	{"failed", "failed", []operation.State{operation.Failed}},
	{"cancelled", "cancelled", []operation.State{operation.Cancelled}},
}

// operationsPage is a page of updates and rollbacks, newest first.
type operationsPage struct {
	State, Container string
	States           []operationChoice
	Wrong            []string
	Rows             []operationRow
	Older, Newest    string
	Filtered         bool
	Empty            *guide.Empty
}

// operationRow is an operation in a list.
type operationRow struct {
	ID, About, Path, Link string
	State                 words.State
	Said                  string
	Error, By             string
	At                    time.Time
}

type operationQuery struct{ State, Container, before string }

func parseOperations(values url.Values) (q operationQuery, f operation.Filter, wrong []string) {
	q = operationQuery{
		State: values.Get("state"), Container: strings.TrimSpace(values.Get("container")), before: values.Get("before"),
	}
	at := slices.IndexFunc(operationChoices, func(c operationChoice) bool { return c.Name == q.State })
	if at < 0 {
		wrong = append(wrong, fmt.Sprintf("There is no state %q: all operations are shown.", q.State))
		q.State, at = "", 0
	}
	f = operation.Filter{States: operationChoices[at].states, Before: q.before, Limit: page.Size + 1}
	if q.Container != "" {
		var both bool
		if f.Watcher, f.Name, both = strings.Cut(q.Container, "/"); !both {
			f.Watcher, f.Name = "", q.Container
		}
	}
	return q, f, wrong
}

func (q operationQuery) values(before string) string {
	v := url.Values{}
	for name, value := range map[string]string{"state": q.State, "container": q.Container, "before": before} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func newOperationsPage(q operationQuery, wrong []string, found []operation.Operation) operationsPage {
	p := operationsPage{
		State: q.State, Container: q.Container, States: operationChoices, Wrong: wrong, Filtered: q.values("") != "",
	}
	if len(found) > page.Size {
		found = found[:page.Size]
		p.Older = q.values(found[page.Size-1].ID)
	}
	if q.before != "" {
		p.Newest = "/operations" + q.values("")
	}
	p.Rows = operationRows(found)
	return p
}

func operationRows(all []operation.Operation) []operationRow {
	var rows []operationRow
	for _, op := range all {
		from, to := words.Versions(op.Plan.From, watcher.PlannedImage{
			Reference: op.Image.Reference, Digest: op.Image.Digest, ID: op.Image.ID,
		})
		row := operationRow{
			ID: op.ID, About: op.Watcher + "/" + op.Name, Path: page.ContainerPath(op.Watcher, op.Name),
			Link: page.OperationPath(op.ID), State: words.OperationState(op),
			Said: strings.ToLower(words.ChangeNoun(op.Kind)) + ", " + from + " → " + to, Error: op.Error, By: byOf(op),
			At: op.Queued,
		}
		if words.Stopped(op) {
			row.Error = ""
		}
		if op.State.Ended() {
			row.At = op.Ended
		} else if now := words.StepNow(op); now != "" {
			row.Said += ": " + now
		}
		rows = append(rows, row)
	}
	return rows
}

func (u *UI) showOperations(w http.ResponseWriter, r *http.Request) {
	q, filter, wrong := parseOperations(r.URL.Query())
	found, err := u.Service.Operations(r.Context(), filter)
	if err != nil {
		u.InternalError(w, r, "read the operations", err)
		return
	}
	p := newOperationsPage(q, wrong, found)
	p.Empty = u.guide.Empty(r.Context(), u.ActorOf(r), len(p.Rows))
	open := slices.ContainsFunc(found, func(op operation.Operation) bool { return !op.State.Ended() })
	u.Live(w, r, "operations", page.Page{
		Title: "Operations", Nav: "history", Live: page.FollowsOperations, Refresh: open, Content: p,
	})
}

// underWay returns the operations that have not ended, by "watcher/name".
func (u *UI) underWay(ctx context.Context) map[string]operation.Operation {
	open, err := u.Service.Operations(ctx, operation.Filter{
		States: []operation.State{operation.Queued, operation.Running},
	})
	if err != nil {
		u.Log.Warn("read the operations under way", "error", err) // pages show all else
	}
	byKey := make(map[string]operation.Operation, len(open))
	for _, op := range open {
		byKey[op.Watcher+"/"+op.Name] = op
	}
	return byKey
}

// shownEnds is how long the overview shows operations that ended badly.
const shownEnds = 24 * time.Hour

// operationsOf are sentences about operations that are under way or ended badly lately, newest first.
func operationsOf(open map[string]operation.Operation, ended []operation.Operation, now time.Time) []line {
	var lines []line
	for _, key := range sortedKeys(open) {
		op := open[key]
		lines = append(lines, line{
			Kind: words.OperationState(op).Class, Word: "under way", Text: op.Name + ": " + words.Doing(op),
			To: page.OperationPath(op.ID), Act: "See how it goes",
		})
	}
	newest := map[string]bool{}
	for _, op := range ended {
		key := op.Watcher + "/" + op.Name
		if op.Ended.Before(now.Add(-shownEnds)) || newest[key] {
			continue
		}
		newest[key] = true
		if _, again := open[key]; again || op.State != operation.RolledBack && op.State != operation.Failed {
			continue
		}
		said, _ := words.OperationEnd(op)
		lines = append(lines, line{
			Kind: "failed", Word: strings.ToLower(words.OperationState(op).Word), Text: op.Name + ": " + said,
			To: page.OperationPath(op.ID), Act: "See what happened",
		})
	}
	return lines
}

// operationsShown is how many ended operations the overview looks through.
const operationsShown = 30

// operationLines is how many operations the page of a container shows.
const operationLines = 5

// changes is what the page of a container says about its updates and rollbacks.
type changes struct {
	// Update and Rollback say which buttons there are, Previous to what a rollback returns.
	Update, Rollback bool
	Previous         string
	// Forbidden says why updates are not allowed, and what allows them; see forbiddenText.
	Forbidden string
	// Paste has the lines that allow them.
	Paste config.Paste
	// Doing is what is being done, at DoingPath.
	Doing, DoingPath string
	Rows             []operationRow
	More             string
	// Kept is whether there may be backups.
	Kept bool
}

// changesOf returns what was and can be done to a container.
func (u *UI) changesOf(r *http.Request, c *sdk.Container) (changes, error) {
	permission := u.Service.UpdatePermission(u.ActorOf(r), c.Watcher)
	v := changes{Update: permission.Allowed && c.UpdateAvailable && c.Base == nil, Forbidden: forbiddenText(permission)}
	v.Paste = permission.Paste
	found, err := u.Service.Operations(r.Context(), operation.Filter{
		Watcher: c.Watcher, Name: c.Name, Limit: operationLines + 1,
	})
	if err != nil {
		return v, err
	}
	for _, op := range found {
		switch {
		case !op.State.Ended():
			v.Doing, v.DoingPath = words.Doing(op), page.OperationPath(op.ID)
			v.Update = false
		case op.State == operation.Succeeded && op.ContainerID == c.ID &&
			!op.Rules.DryRun: // the next check says what is newer
			v.Update = false
		}
		if op.Outcome != nil && len(op.Outcome.Kept) > 0 {
			v.Kept = true
		}
	}
	if len(found) > operationLines {
		found, v.More = found[:operationLines], "/operations?container="+url.QueryEscape(c.Watcher+"/"+c.Name)
	}
	v.Rows = operationRows(found)
	if permission.Allowed && v.Doing == "" && len(found) > 0 {
		previous, err := u.Service.PreviousImage(r.Context(), *c)
		if err != nil {
			return v, err
		}
		v.Rollback, v.Previous = previous != "", words.TagOf(previous)
	}
	return v, nil
}
