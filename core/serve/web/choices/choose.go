package choices

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// showChooser renders the page on which a user decides about the containers that the address names.
func (h *Handler) showChooser(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	chosen := h.find.Chosen(query["c"])
	if h.find.RefuseSelection(w, r, len(chosen)) {
		return
	}
	f := h.ChooserOf(r, chosen, query)
	if f == nil {
		p := page.Problem{
			Title: phrase.New("There is nothing to decide"), Detail: phrase.New("Nothing newer is known of what was chosen."),
			Back: phrase.New("Go to Containers"), BackTo: "/containers",
		}
		if !h.MayChoose(r) {
			p.Title = phrase.New("This is not allowed")
			p.Detail = phrase.New("Only a login, or a token that may write, allows to decide about updates.")
		}
		h.RenderError(w, r, http.StatusUnprocessableEntity, p)
		return
	}
	f.Back, f.Several = page.LocalPath(cmp.Or(query.Get("back"), "/containers")), len(f.Items) > 1
	title := phrase.New("Decide about %s", phrase.Count(len(f.Items), "update"))
	if !f.Several {
		f.Advice, _ = h.service.MajorAdvice(chosen[0])
		title = phrase.New("Decide about the update of %s", f.Items[0].Name)
	}
	h.Show(w, r, http.StatusOK, "choose", page.Page{Title: title, Nav: "containers", Content: f})
}

// choose does what a user decided about the updates of containers.
func (h *Handler) choose(w http.ResponseWriter, r *http.Request) {
	chosen := h.find.Chosen(r.PostForm["c"])
	if h.find.RefuseSelection(w, r, len(chosen)) {
		return
	}
	action, until := r.PostForm.Get("do"), time.Time{}
	if action == "" && r.PostForm.Has("until") { // by a button for one of the times
		action = string(choice.Snooze)
	}
	var err error
	switch choice.Kind(action) {
	case choice.Skip, undoChoices:
	case choice.Approved:
		if r.PostForm.Get("sure") == "" && h.beginsUpdate(r, chosen) {
			h.Redirect(w, r, Path(chosen, r.PostForm.Get("back"), r.PostForm))
			return
		}
	case choice.Snooze:
		until, err = h.snoozedFor(r.PostForm.Get("until"))
	case snoozeUntilDay:
		action = string(choice.Snooze)
		until, err = h.snoozedUntil(r.PostForm.Get("date"))
	default:
		err = sdk.Invalid("do", "the form is not understood")
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.chooseAll(w, r, chosen, action, until)
}

// beginsUpdate reports whether one of the containers is updated once it is approved.
func (h *Handler) beginsUpdate(r *http.Request, chosen []sdk.Container) bool {
	return slices.ContainsFunc(chosen, func(c sdk.Container) bool { return h.carriesOut(r, &c) })
}

// chooseAll stores the same choice about each container, and says how that went.
func (h *Handler) chooseAll(w http.ResponseWriter, r *http.Request, chosen []sdk.Container, action string,
	until time.Time) {
	task := page.Task{Back: page.LocalPath(r.PostForm.Get("back")), Undo: []string{}}
	var failures []string
	for i := range chosen {
		c := &chosen[i]
		key := c.Watcher + "/" + c.Name
		version := r.PostForm.Get("version:" + key)
		err := h.chooseOne(r, c, action, version, until)
		switch {
		case err != nil && len(chosen) == 1:
			h.refuse(w, r, err)
			return
		case err != nil:
			failures = append(failures, words.Name(c)+": "+h.service.Redact(err.Error()))
		default:
			task.Undo = append(task.Undo, key)
		}
	}
	task.Title, task.Sentence = choiceTitle(action, chosen), choiceSentence(action, until)
	if len(failures) > 0 {
		task.Failed, task.Sentence = true, phrase.New("It failed for %s.", strings.Join(failures, "; "))
	}
	if action == undoChoices {
		task.Undo = nil
		if id, err := strconv.Atoi(r.PostForm.Get("task")); err == nil {
			h.Tasks.Dismiss(id)
		}
	}
	h.Tasks.Note(task)
	h.Done(w, r)
}

// chooseOne stores a choice about one container.
func (h *Handler) chooseOne(r *http.Request, c *sdk.Container, action, version string, until time.Time) error {
	if action == undoChoices {
		_, err := h.service.UndoChoices(r.Context(), h.ActorOf(r), c.ID)
		return err
	}
	if !until.IsZero() {
		version = "" // a snooze with an end holds every update
	}
	return h.service.Choose(r.Context(), h.ActorOf(r), service.Choice{
		Container: c.ID, Kind: choice.Kind(action), Version: version, Until: until,
	})
}

// refuse responds to what cannot be decided.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := page.Problem{
		Title: phrase.New("Nothing was decided"), Detail: phrase.Sentence(words.Mistake(err.Error())), Back: phrase.New("Back"),
		BackTo: page.LocalPath(r.PostFormValue("back")),
	}
	var invalid *sdk.InvalidError
	switch {
	case errors.As(err, &invalid):
		h.RenderError(w, r, http.StatusUnprocessableEntity, p)
	case errors.Is(err, service.ErrForbidden):
		h.RenderError(w, r, http.StatusForbidden, p)
	case errors.Is(err, service.ErrNotFound):
		h.RenderError(w, r, http.StatusNotFound, p)
	default:
		h.InternalError(w, r, "store what was decided", err)
	}
}

// choiceTitle says what was decided, and about what.
func choiceTitle(action string, containers []sdk.Container) phrase.Phrase {
	if action == undoChoices {
		return phrase.New("Undone for %s", words.Names(containers))
	}
	return phrase.Join(": ", doneTitle(choice.Kind(action)), words.Names(containers))
}

// choiceSentence says what follows from a choice.
func choiceSentence(action string, until time.Time) phrase.Phrase {
	switch {
	case action == undoChoices:
		return phrase.New("Rules alone decide again.")
	case action == string(choice.Approved):
		return phrase.New("The version is taken whatever its age and step.")
	case action == string(choice.Skip):
		return phrase.New("Dogwatch offers the next version as usual.")
	case until.IsZero():
		return phrase.New("It is offered again with the next version.")
	}
	return phrase.New("It is offered again from %s on.", policypreview.Moment(until))
}

// doneTitle says what was decided.
func doneTitle(made choice.Kind) phrase.Phrase {
	switch made {
	case choice.Approved:
		return phrase.New("Approved")
	case choice.Skip:
		return phrase.New("Skipped")
	case choice.Snooze:
		return phrase.New("Snoozed")
	}
	return nil
}
