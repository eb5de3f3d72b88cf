package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// operationView is the page of an update or a rollback.
type operationView struct {
	ID, Title   string
	Name, Href  string
	From, To    string
	State       words.State
	Said        string
	Bad, Ended  bool
	Steps       []stepView
	By          string
	Queued      time.Time
	Began, Over time.Time
	Took        string
	Downtime    string
	Warnings    []watcher.Reason
	Kept        []string
	Evidence    *watcher.Evidence
	// Left is how the Evidence says that the new container was.
	Left string
	// Notice is about what the user just did.
	Notice string
	// Cancel and Rollback say which buttons there are; Again is the page of another plan, "" for none.
	Cancel, Rollback bool
	Again            string
}

// stepView is a step that was taken, is under way, or is still to come.
type stepView struct {
	Text  string
	State words.State
	Took  string
	Error string
	// Progress is that of the step under way, Doing whether it is that one.
	Doing    bool
	Progress string
	// Current and Total are for a bar; a Total of 0 is not known.
	Current, Total int64
}

// operationOf makes the page of an operation, of which progress is that of its step under way.
func operationOf(op operation.Operation, progress watcher.StepProgress) operationView {
	v := operationView{
		ID: op.ID, Title: words.ChangeNoun(op.Kind) + " of " + op.Name, Name: op.Name,
		Href: page.ContainerPath(op.Watcher, op.Name),
		By:   byOf(op), Queued: op.Queued, Began: op.Began, Over: op.Ended, Ended: op.State.Ended(),
		Steps: stepsOf(op, progress),
	}
	v.From, v.To = words.Versions(op.Plan.From, watcher.PlannedImage{
		Reference: op.Image.Reference, Digest: op.Image.Digest, ID: op.Image.ID,
	})
	v.State = words.OperationState(op)
	v.Said, v.Bad = words.OperationEnd(op)
	if v.Ended && !op.Began.IsZero() {
		v.Took = words.Took(op.Ended.Sub(op.Began))
	}
	if op.Outcome != nil {
		v.Warnings, v.Kept, v.Evidence = op.Outcome.Warnings, op.Outcome.Kept, op.Outcome.Evidence
		if left := v.Evidence; left != nil {
			v.Left = operation.LeftText(left.Status, left.ExitCode)
		}
		if op.Outcome.Downtime > 0 {
			v.Downtime = words.Took(op.Outcome.Downtime)
		}
	}
	return v
}

// byOf is who or what began an operation; "" where there is no login.
func byOf(op operation.Operation) string {
	if op.Trigger == "" && op.Actor == auth.AnonymousName {
		return ""
	}
	return cmp.Or(op.Trigger, op.Actor)
}

// stepsOf are the steps of an operation: those that were begun, then those of its
// plan that are to come, unless it has ended, stops, or returns to the old container.
func stepsOf(op operation.Operation, progress watcher.StepProgress) []stepView {
	var all []stepView
	begun, returns := map[string]bool{}, false
	for _, s := range op.Steps {
		begun[s.ID] = true
		v := stepView{Text: s.Text, State: words.State{Word: "done", Class: "ok"}, Error: s.Error}
		switch {
		case s.Error != "":
			v.State, returns = words.State{Word: "failed", Class: "failed"}, true
		case !s.Ended && op.State.Ended():
			v.State = words.State{Word: "interrupted", Class: "muted"}
		case !s.Ended:
			v.State, v.Doing = words.State{Word: "now", Class: "minor"}, true
			v.Progress, v.Current, v.Total = words.StepProgress(progress), progress.Current, progress.Total
		}
		if s.Ended && !s.EndedAt.IsZero() {
			v.Took = words.Took(s.EndedAt.Sub(s.Began))
		}
		all = append(all, v)
	}
	if op.State.Ended() || returns || op.Cancel != nil {
		return all
	}
	for _, s := range op.Plan.Steps {
		if !begun[s.ID] {
			all = append(all, stepView{Text: s.Text, State: words.State{Word: "to come", Class: "muted"}})
		}
	}
	return all
}

// operationNotices are the sentences that the address of the page can select.
var operationNotices = map[string]string{
	"already": "This was under way already, so nothing else was begun.",
}

func (u *UI) showOperation(w http.ResponseWriter, r *http.Request) {
	op, found := u.operation(w, r)
	if !found {
		return
	}
	progress, _ := u.Service.OperationProgress(op.ID)
	v := operationOf(op, progress)
	if !v.Ended {
		v.Notice = operationNotices[r.URL.Query().Get("did")]
	}
	if err := u.offer(r, op, &v); err != nil {
		u.InternalError(w, r, "read the operations of the container", err)
		return
	}
	u.Live(w, r, "operation", page.Page{Title: v.Title, Nav: "history", Live: page.FollowsOperations, Refresh: !v.Ended, Content: v})
}

// offer says what may be done about an operation.
func (u *UI) offer(r *http.Request, op operation.Operation, v *operationView) error {
	actor := u.ActorOf(r)
	rec, known := u.Service.Containers().Named(op.Watcher, op.Name)
	if !known {
		v.Href = "" // it was removed since
	}
	if !u.Service.UpdatePermission(actor, op.Watcher).Allowed {
		return nil
	}
	// An operation that cannot be recovered is given up only when it is cancelled again.
	v.Cancel = !v.Ended && (op.Cancel == nil || u.Now().Sub(op.Cancel.At) > cancelAgain)
	if !v.Ended || !known {
		return nil
	}
	newest, err := u.Service.Operations(r.Context(), operation.Filter{Watcher: op.Watcher, Name: op.Name, Limit: 1})
	if err != nil || len(newest) == 0 || newest[0].ID != op.ID {
		return err
	}
	switch {
	case op.State == operation.Succeeded && op.Kind == operation.Update && !op.Rules.DryRun:
		previous, err := u.Service.PreviousImage(r.Context(), rec.Container)
		v.Rollback = previous != ""
		return err
	case op.State != operation.Succeeded && op.Kind == operation.Rollback:
		v.Again = v.Href + "/rollback"
	case op.State != operation.Succeeded && rec.Container.UpdateAvailable:
		v.Again = v.Href + "/update"
	}
	return nil
}

// operation returns the operation that the path names. When there is none, it renders an error and returns false.
func (u *UI) operation(w http.ResponseWriter, r *http.Request) (operation.Operation, bool) {
	op, err := u.Service.Operation(r.Context(), strings.ToLower(r.PathValue("id")))
	switch {
	case errors.Is(err, service.ErrNotFound):
		u.operationMissing(w, r)
	case err != nil:
		u.InternalError(w, r, "read the operation", err)
	}
	return op, err == nil
}

func (u *UI) operationMissing(w http.ResponseWriter, r *http.Request) {
	u.RenderError(w, r, http.StatusNotFound, page.Problem{
		Title: "There is no such operation", Detail: "Operations that ended are forgotten after a while.",
		Back: "To the operations", BackTo: "/operations",
	})
}

// renderRefusal responds with why a change of a container was not begun or cancelled.
func (u *UI) renderRefusal(w http.ResponseWriter, r *http.Request, title string, err error, back, to string) {
	status, detail := refusal(err)
	p := page.Problem{Title: title, Detail: detail, Back: back, BackTo: to}
	var forbidden *updater.ForbiddenError
	if errors.As(err, &forbidden) {
		p.Paste = forbidden.Paste
	}
	u.RenderError(w, r, status, p)
}

// refusal is the status and the sentence for why a change is not planned or begun.
func refusal(err error) (int, string) {
	return refusalStatus(err), "Nothing was done: " + words.Sentence(err.Error())
}

func refusalStatus(err error) int {
	status := http.StatusBadGateway // the registry or the engine could not be reached
	switch {
	case errors.Is(err, service.ErrForbidden):
		status = http.StatusForbidden
	case errors.Is(err, service.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, updater.ErrUnsupported):
		status = http.StatusUnprocessableEntity
	case errors.Is(err, updater.ErrNoUpdate), errors.Is(err, updater.ErrConflict), errors.Is(err, updater.ErrChanged),
		errors.Is(err, updater.ErrUnplanned),
		errors.Is(err, updater.ErrBlocked):
		status = http.StatusConflict
	case errors.Is(err, updater.ErrStopping), errors.Is(err, context.Canceled):
		status = http.StatusServiceUnavailable
	}
	return status
}
