package api

import (
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
)

// choiceBody is the body of requests that decide about an update.
type choiceBody struct {
	Action string `json:"action"` // skip, snooze, approve or undo
	// Version is one of the newer versions of the container; "" for the one that is offered or held.
	Version string `json:"version"`
	Until   string `json:"until"` // RFC 3339, or the date alone
}

// decisionView is what became of an update, and what users decided about it.
type decisionView struct {
	Decision *sdk.Decision `json:"decision,omitempty"`
	Levels   *sdk.Levels   `json:"levels,omitempty"`
	Choices  []choiceView  `json:"choices"`
}

// choiceView is what a user decided.
type choiceView struct {
	Container string   `json:"container"` // watcher/name
	Action    string   `json:"action"`
	Version   string   `json:"version,omitempty"` // absent: all versions
	Until     sdk.Time `json:"until,omitzero"`
	Actor     string   `json:"actor"`
	At        sdk.Time `json:"at"`
}

func viewChoices(all []choice.Choice) []choiceView {
	views := []choiceView{}
	for _, c := range all {
		views = append(views, choiceView{
			Container: c.Subject, Action: string(c.Kind), Version: c.Version(), Until: c.Until, Actor: c.Actor, At: c.At,
		})
	}
	return views
}

func (h *handler) getDecision(w http.ResponseWriter, r *http.Request) {
	rec, err := h.Service.Container(param(r, "id"))
	if err != nil {
		h.failWith(w, r, notFound(err, "Container not found"))
		return
	}
	h.respond(w, r, h.decisionOf(rec.Container))
}

func (h *handler) decisionOf(c sdk.Container) decisionView {
	v := decisionView{Decision: c.Decision, Choices: viewChoices(h.Service.ChoicesOf(event.Subject(c)))}
	if c.Result != nil {
		v.Levels = c.Result.Levels
	}
	return v
}

// decide stores what a user decides about the update of a container.
func (h *handler) decide(w http.ResponseWriter, r *http.Request) {
	var body choiceBody
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	if body.Action == "undo" {
		h.undoChoices(w, r)
		return
	}
	h.choose(w, r, choice.Kind(body.Action), body)
}

// snooze is POST /api/containers/{id}/snooze of What's Up Docker 9.
func (h *handler) snooze(w http.ResponseWriter, r *http.Request) {
	var body choiceBody
	if _, ok := h.decode(w, r, &body); ok {
		h.choose(w, r, choice.Snooze, body)
	}
}

func (h *handler) choose(w http.ResponseWriter, r *http.Request, kind choice.Kind, body choiceBody) {
	until, err := parseUntil(body.Until)
	if err == nil {
		err = h.Service.Choose(r.Context(), h.actor(r), service.Choice{
			Container: param(r, "id"), Kind: kind, Version: body.Version, Until: until,
		})
	}
	if err != nil {
		h.failWith(w, r, notFound(err, "Container not found"))
		return
	}
	h.getDecision(w, r)
}

// parseUntil reads a time, or a date, which is its beginning in the time zone of the machine.
func parseUntil(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if until, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return until, nil
	}
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return until,
			sdk.Invalid("until", "want a date such as 2026-12-24, or a time such as 2026-12-24T18:00:00Z, got %.40q", text)
	}
	return until, nil
}

func (h *handler) undoChoices(w http.ResponseWriter, r *http.Request) {
	if _, err := h.Service.UndoChoices(r.Context(), h.actor(r), param(r, "id")); err != nil {
		h.failWith(w, r, notFound(err, "Container not found"))
		return
	}
	h.getDecision(w, r)
}

func (h *handler) listChoices(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, viewChoices(h.Service.AllChoices()))
}
