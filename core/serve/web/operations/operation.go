package operations

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// operationView is the page of an update or a rollback.
type operationView struct {
	ID          string
	Title       phrase.Phrase
	Name, Href  string
	From, To    phrase.Phrase
	State       words.State
	Sentence    phrase.Phrase
	Bad, Ended  bool
	Steps       []stepView
	By          phrase.Phrase
	Queued      time.Time
	Began, Over time.Time
	Took        phrase.Phrase
	Downtime    phrase.Phrase
	Warnings    []watcher.Reason
	Kept        []string
	Evidence    *watcher.Evidence
	// Left is how the Evidence says that the new container was.
	Left phrase.Phrase
	// Progress is nil unless it is being carried out. Next says what to do now; nil for nothing.
	Progress *progressView
	Next     phrase.Phrase
	// Notice is about what the user just did.
	Notice phrase.Phrase
	// Cancel and Rollback say which buttons there are; Again is the page of another plan, "" for none, and AgainWord
	// what leads there.
	Cancel, Rollback bool
	Again            string
	AgainWord        phrase.Phrase
}

// operationOf makes the page of an operation on a container that users call name; progress is that of its step under
// way.
func operationOf(op operation.Operation, name string, progress watcher.StepProgress) operationView {
	href := page.ContainerPath(op.Watcher, op.Name)
	op.Name = name

	v := operationView{
		ID: op.ID, Title: words.ChangeOf(op.Kind, op.Name), Name: op.Name,
		Href: href,
		By:   byOf(op), Queued: op.Queued, Began: op.Began, Over: op.Ended, Ended: op.State.Ended(),
		Steps: stepsOf(op, progress),
	}
	v.From, v.To = words.Versions(op.Plan.From, watcher.PlannedImage{
		Reference: op.Image.Reference, Digest: op.Image.Digest, ID: op.Image.ID,
	})
	v.State = words.OperationState(op)
	v.Sentence, v.Bad = words.OperationEnd(op)
	v.Downtime, v.Next = words.Downtime(op), nextOf(op)
	if v.Ended && !op.Began.IsZero() {
		v.Took = words.Took(op.Ended.Sub(op.Began))
	}
	if op.Outcome != nil {
		v.Warnings, v.Kept, v.Evidence = op.Outcome.Warnings, op.Outcome.Kept, op.Outcome.Evidence
		if left := v.Evidence; left != nil {
			v.Left = words.Left(left.Status, left.ExitCode)
		}
	}
	return v
}

// byOf is who or what began an operation: "by ana", "automatically (policy careful)"; nil where there is no login.
func byOf(op operation.Operation) phrase.Phrase {
	who := cmp.Or(op.Trigger, op.Actor)
	if strings.HasPrefix(who, "rule ") {
		return phrase.New("automatically (%s)", policypreview.Source(who))
	}
	return policypreview.By(who)
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	op, found := h.operation(w, r)
	if !found {
		return
	}
	progress, _ := h.service.OperationProgress(op.ID)
	v := operationOf(op, h.Names().Of(op.Watcher+"/"+op.Name, ""), progress)
	if v.Progress = progressOf(op, progress, h.Now()); v.Progress != nil {
		v.Progress.Usual = h.usual(r.Context(), op)
	}
	if !v.Ended && r.URL.Query().Get("did") == "already" {
		v.Notice = phrase.New("This was under way already, so nothing else was begun.")
	}
	if err := h.offer(r, op, &v); err != nil {
		h.InternalError(w, r, "read the operations of the container", err)
		return
	}
	h.Live(w, r, "operation", page.Page{
		Title: v.Title, Nav: "operations", Live: page.FollowsOperations, Refresh: !v.Ended, Content: v,
	})
}

// offer says what may be done about an operation.
func (h *Handler) offer(r *http.Request, op operation.Operation, v *operationView) error {
	actor := h.ActorOf(r)
	rec, known := h.service.Containers().Named(op.Watcher, op.Name)
	if !known {
		v.Href = "" // it was removed since
	}
	if !h.service.UpdatePermission(actor, op.Watcher).Allowed {
		return nil
	}
	// An operation that cannot be recovered is given up only when it is cancelled again.
	v.Cancel = !v.Ended && (op.Cancel == nil || h.Now().Sub(op.Cancel.At) > cancelAgain)
	if !v.Ended || !known {
		return nil
	}
	newest, err := h.service.Operations(r.Context(), operation.Filter{Watcher: op.Watcher, Name: op.Name, Limit: 1})
	if err != nil || len(newest) == 0 || newest[0].ID != op.ID {
		return err
	}
	switch {
	case op.State == operation.Succeeded && op.Kind == operation.Update && !op.Rules.DryRun:
		previous, err := h.service.PreviousImage(r.Context(), rec.Container)
		v.Rollback = previous != ""
		return err
	case op.State != operation.Succeeded && op.Kind == operation.Rollback:
		v.Again, v.AgainWord = v.Href+"/rollback", phrase.New("Plan it again")
	case op.State != operation.Succeeded && rec.Container.UpdateAvailable:
		v.Again, v.AgainWord = h.again(r, op, &rec.Container)
	}
	return nil
}

// again is the page of another plan of an update, for the version that it was about as long as that is offered.
func (h *Handler) again(r *http.Request, op operation.Operation, c *sdk.Container) (string, phrase.Phrase) {
	path, byHand := page.ChangePath(operation.Update, c), h.service.ByHand(r.Context(), *c)
	tag, said := words.TagOf(op.Image.Reference), phrase.New("Plan it again")
	switch {
	case byHand.Result == nil || byHand.Result.Tag == tag:
		return path, said
	case c.Result.Tag == tag || slices.ContainsFunc(tally.Levels(c), func(l tally.Level) bool { return l.Tag == tag }):
		return path + page.Query(map[string]string{"version": tag}), said
	}
	return path, phrase.New("Plan %s", words.Tag(byHand.Result.Tag))
}

// operation returns the operation that the path names. When there is none, it renders an error and returns false.
func (h *Handler) operation(w http.ResponseWriter, r *http.Request) (operation.Operation, bool) {
	op, err := h.service.Operation(r.Context(), strings.ToLower(r.PathValue("id")))
	switch {
	case errors.Is(err, service.ErrNotFound):
		h.missing(w, r)
	case err != nil:
		h.InternalError(w, r, "read the operation", err)
	}
	return op, err == nil
}

func (h *Handler) missing(w http.ResponseWriter, r *http.Request) {
	h.RenderError(w, r, http.StatusNotFound, page.Problem{
		Title: phrase.New("There is no such operation"), Detail: phrase.New("Operations that ended are forgotten after a while."),
		Back: phrase.New("Go to Operations"), BackTo: "/operations",
	})
}

// cancelAgain is how long an operation that was cancelled has no button for that.
const cancelAgain = 30 * time.Second
