package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// operationView is the page of an update or a rollback.
type operationView struct {
	ID, Title   string
	Name, Href  string
	From, To    string
	State       stateWord
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
	State stateWord
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
		ID: op.ID, Title: changeNoun(op.Kind) + " of " + op.Name, Name: op.Name, Href: containerPath(op.Watcher, op.Name),
		By: byOf(op), Queued: op.Queued, Began: op.Began, Over: op.Ended, Ended: op.State.Ended(),
		Steps: stepsOf(op, progress),
	}
	v.From, v.To = versionsOf(op.Plan.From, watcher.PlannedImage{
		Reference: op.Image.Reference, Digest: op.Image.Digest, ID: op.Image.ID,
	})
	v.State = operationState(op)
	v.Said, v.Bad = operationEnd(op)
	if v.Ended && !op.Began.IsZero() {
		v.Took = tookWord(op.Ended.Sub(op.Began))
	}
	if op.Outcome != nil {
		v.Warnings, v.Kept, v.Evidence = op.Outcome.Warnings, op.Outcome.Kept, op.Outcome.Evidence
		if left := v.Evidence; left != nil {
			v.Left = operation.LeftText(left.Status, left.ExitCode)
		}
		if op.Outcome.Downtime > 0 {
			v.Downtime = tookWord(op.Outcome.Downtime)
		}
	}
	return v
}

func changeNoun(k operation.Kind) string {
	if k == operation.Rollback {
		return "Rollback"
	}
	return "Update"
}

// operationState is the state of an operation as users read it.
func operationState(op operation.Operation) stateWord {
	switch op.State {
	case operation.Queued:
		return stateWord{"Waiting", "muted"}
	case operation.Running:
		if op.Cancel != nil {
			return stateWord{"Stopping", "minor"}
		}
		if op.Kind == operation.Rollback {
			return stateWord{"Rolling back", "minor"}
		}
		return stateWord{"Updating", "minor"}
	case operation.Succeeded:
		switch {
		case op.Rules.DryRun:
			return stateWord{"Dry run", "ok"}
		case op.Kind == operation.Rollback:
			return stateWord{"Rolled back", "ok"}
		}
		return stateWord{"Updated", "ok"}
	case operation.RolledBack:
		if wasInterrupted(op) {
			return stateWord{"Interrupted", "failed"}
		}
		return stateWord{"Did not work", "failed"}
	case operation.Cancelled:
		return stateWord{"Cancelled", "muted"}
	}
	return stateWord{"Failed", "failed"}
}

// operationEnd says how an operation ended, or what it waits for, and whether that is bad.
func operationEnd(op operation.Operation) (said string, bad bool) {
	_, to := versionsOf(op.Plan.From, watcher.PlannedImage{
		Reference: op.Image.Reference, Digest: op.Image.Digest, ID: op.Image.ID,
	})
	switch op.State {
	case operation.Queued:
		return "It begins when others of its project have ended, and something is free.", false
	case operation.Running:
		if op.Cancel == nil {
			return "", false
		}
		return "It stops before its next step" + stoppedBy(op, ", as %s asked") + ", and the old container runs again.", false
	case operation.Succeeded:
		if op.Rules.DryRun {
			return "The image was pulled, and nothing else was done, as asked.", false
		}
		return op.Name + " runs " + to + " now.", false
	case operation.RolledBack:
		if wasInterrupted(op) {
			return because("It did not come to its end, so the old container is back as it was", op.Error), true
		}
		return because(to+" did not work, so the old container is back as it was", op.Error), true
	case operation.Cancelled:
		if wasStopped(op) {
			return "It was cancelled" + stoppedBy(op, ", by %s") + ". The old container runs again as it was.", false
		}
		return because("Nothing was done to the container", op.Error), false
	}
	return sentenceOf(cmp.Or(op.Error, "it failed")), true
}

// wasInterrupted reports whether an operation returned to the old container since
// Dogwatch or the engine ended in the middle of it, not since the new image failed.
func wasInterrupted(op operation.Operation) bool {
	return op.Outcome != nil && op.Outcome.Reason.Code == watcher.ReasonInterrupted
}

// because is a sentence with its reason, if that is known.
func because(said, why string) string {
	if why == "" {
		return said + "."
	}
	return said + ". The reason: " + sentenceOf(why)
}

// byOf is who or what began an operation; "" where there is no login.
func byOf(op operation.Operation) string {
	if op.Trigger == "" && op.Actor == auth.AnonymousName {
		return ""
	}
	return cmp.Or(op.Trigger, op.Actor)
}

// sentenceOf makes a sentence of an error, whose first word may be a name.
func sentenceOf(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// stepsOf are the steps of an operation: those that were begun, then those of its
// plan that are to come, unless it has ended, stops, or returns to the old container.
func stepsOf(op operation.Operation, progress watcher.StepProgress) []stepView {
	var all []stepView
	begun, returns := map[string]bool{}, false
	for _, s := range op.Steps {
		begun[s.ID] = true
		v := stepView{Text: s.Text, State: stateWord{"done", "ok"}, Error: s.Error}
		switch {
		case s.Error != "":
			v.State, returns = stateWord{"failed", "failed"}, true
		case !s.Ended && op.State.Ended():
			v.State = stateWord{"interrupted", "muted"}
		case !s.Ended:
			v.State, v.Doing = stateWord{"now", "minor"}, true
			v.Progress, v.Current, v.Total = progressWords(progress), progress.Current, progress.Total
		}
		if s.Ended && !s.EndedAt.IsZero() {
			v.Took = tookWord(s.EndedAt.Sub(s.Began))
		}
		all = append(all, v)
	}
	if op.State.Ended() || returns || op.Cancel != nil {
		return all
	}
	for _, s := range op.Plan.Steps {
		if !begun[s.ID] {
			all = append(all, stepView{Text: s.Text, State: stateWord{"to come", "muted"}})
		}
	}
	return all
}

// progressWords say how far a step is: "downloading layer 3, 12.0 MB of 80.5 MB".
func progressWords(p watcher.StepProgress) string {
	const counted = 1000 // more than probes are ever counted, fewer than the bytes of any layer
	switch {
	case p.Total <= 0:
		return p.Message
	case p.Total < counted:
		return joined(", ", p.Message, fmt.Sprintf("%d of %d", p.Current, p.Total))
	}
	return joined(", ", p.Message, cmp.Or(bytesWord(p.Current), "0 KB")+" of "+bytesWord(p.Total))
}

// tookWord is a duration, of which tenths count while it is short.
func tookWord(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", max(d, 0).Seconds())
	}
	return span(d)
}

// versionsOf names two images: by their tags, or by more where those are the same.
func versionsOf(from, to watcher.PlannedImage) (string, string) {
	a, b := tagOf(from.Reference), tagOf(to.Reference)
	if repositoryOf(from.Reference) != "" && repositoryOf(to.Reference) != "" &&
		!sameRepository(from.Reference, to.Reference) {
		return from.Reference, to.Reference
	}
	if a == b {
		a, b = joined(" @", a, shortDigest(cmp.Or(from.Digest, from.ID))),
			joined(" @", b, shortDigest(cmp.Or(to.Digest, to.ID)))
	}
	return cmp.Or(a, "no tag"), cmp.Or(b, "no tag")
}

// sameRepository compares without the registry that is meant where none is named.
func sameRepository(a, b string) bool {
	plain := func(text string) string {
		return strings.TrimPrefix(strings.TrimPrefix(repositoryOf(text), "docker.io/"), "library/")
	}
	return plain(a) == plain(b)
}

// repositoryOf is a reference without its tag and digest.
func repositoryOf(reference string) string {
	reference, _, _ = strings.Cut(reference, "@")
	if at := strings.LastIndexByte(reference, ':'); at > strings.LastIndexByte(reference, '/') {
		return reference[:at]
	}
	return reference
}

// tagOf is the tag of a reference, or the beginning of its digest.
func tagOf(reference string) string {
	named, digest, _ := strings.Cut(reference, "@")
	if repository := repositoryOf(named); len(repository) < len(named) {
		return named[len(repository)+1:]
	}
	if digest != "" {
		return "@" + shortDigest(digest)
	}
	return ""
}

func containerPath(watcherName, name string) string {
	return "/containers/" + url.PathEscape(watcherName) + "/" + url.PathEscape(name)
}

func operationPath(id string) string { return "/operations/" + url.PathEscape(id) }

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
		u.internalError(w, r, "read the operations of the container", err)
		return
	}
	u.live(w, r, "operation", page{Title: v.Title, Nav: "history", Live: followsOperations, Refresh: !v.Ended, Content: v})
}

// offer says what may be done about an operation.
func (u *UI) offer(r *http.Request, op operation.Operation, v *operationView) error {
	actor := u.actor(r)
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
		u.internalError(w, r, "read the operation", err)
	}
	return op, err == nil
}

func (u *UI) operationMissing(w http.ResponseWriter, r *http.Request) {
	u.renderError(w, r, http.StatusNotFound, problem{
		Title: "There is no such operation", Detail: "Operations that ended are forgotten after a while.",
		Back: "To the operations", BackTo: "/operations",
	})
}

// renderRefusal responds with why a change of a container was not begun or cancelled.
func (u *UI) renderRefusal(w http.ResponseWriter, r *http.Request, title string, err error, back, to string) {
	status, detail := refusal(err)
	p := problem{Title: title, Detail: detail, Back: back, BackTo: to}
	var forbidden *updater.ForbiddenError
	if errors.As(err, &forbidden) {
		p.Paste = forbidden.Paste
	}
	u.renderError(w, r, status, p)
}

// refusal is the status and the sentence for why a change is not planned or begun.
func refusal(err error) (int, string) {
	return refusalStatus(err), "Nothing was done: " + sentenceOf(err.Error())
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
