package agents

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// agentsPage lists the agents.
type agentsPage struct {
	Summary phrase.Phrase
	Rows    []agentRow
	// May is whether the user may change agents.
	May bool
	// Made is a token of a moment ago, and Join the command for the host that has it.
	Made *service.AgentToken
	Join string
	// Name is what was wished for a token, and Wrong what is wrong with it.
	Name  string
	Wrong phrase.Phrase
}

// agentRow is an agent, and what was found of it a moment ago.
type agentRow struct {
	service.Agent
	State words.State
	// Updates and Logs say what the owner of its host allows.
	Updates, Logs phrase.Phrase
	Hops          []hop
}

// hop is a part of the way to an agent.
type hop struct {
	service.AgentHop
	State words.State
}

func (h *Handler) newPage(r *http.Request) agentsPage {
	p := agentsPage{May: h.MayChoose(r)}
	connected := 0
	for _, a := range h.service.Agents() {
		if a.Connected {
			connected++
		}
		if a.CreatedBy == auth.AnonymousName { // where there is no login, that says nothing
			a.CreatedBy = ""
		}
		p.Rows = append(p.Rows, agentRow{Agent: a, State: stateOf(a), Updates: updatesOf(a.Limits), Logs: logsOf(a.Limits)})
	}
	p.Summary = phrase.Capital(phrase.Count(len(p.Rows), "agent"))
	if away := len(p.Rows) - connected; away > 0 {
		p.Summary = phrase.Join(", ", p.Summary, phrase.New("%d not connected", away))
	}
	return p
}

func stateOf(a service.Agent) words.State {
	switch {
	case a.Connected:
		return words.State{Word: phrase.New("Connected"), Class: "ok"}
	case a.SeenAt.IsZero():
		return words.State{Word: phrase.New("Never connected"), Class: "muted"}
	}
	return words.State{Word: phrase.New("Not connected"), Class: "failed"}
}

// updatesOf says what the owner of a host allows; nil while that is not known.
func updatesOf(l *service.AgentLimits) phrase.Phrase {
	switch {
	case l == nil:
		return nil
	case l.ReadOnly != "":
		return phrase.New("Its owner allows no updates: %s", words.Mistake(l.ReadOnly))
	case len(l.Stacks) > 0:
		return phrase.New("Its owner allows updates of these stacks: %s", strings.Join(l.Stacks, ", "))
	}
	return phrase.New("Its owner allows updates")
}

// logsOf says whether the owner of a host lets logs be read; nil while that is not known.
func logsOf(l *service.AgentLimits) phrase.Phrase {
	switch {
	case l == nil:
		return nil
	case l.Logs:
		return phrase.New("Its owner allows reading the logs of its containers")
	}
	return phrase.New("Its owner does not allow reading the logs of its containers")
}

// show lists the agents.
func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	h.Live(w, r, "agents", h.page(h.newPage(r)))
}

func (h *Handler) page(p agentsPage) page.Page {
	return page.Page{Title: phrase.New("Agents"), Nav: "watchers", Live: page.FollowsWatchers, Content: p}
}

// failure is what a page says of an error.
func failure(err error, title, detail phrase.Phrase) page.Failure {
	return page.Failure{Err: err, Problem: page.Problem{
		Title: title, Detail: detail, Back: phrase.New("Go to agents"), BackTo: "/agents",
	}}
}

var (
	forbidden = failure(service.ErrForbidden, phrase.New("This is not allowed"), nil)
	notFound  = failure(service.ErrNotFound, phrase.New("There is no such agent"),
		phrase.New("Somebody may have revoked it, or given it another name."))
	// refused is for a name that cannot be one.
	refused = failure(nil, phrase.New("The agent keeps its name"), nil)
)

// createToken makes a token and shows what to run with it, in this response and in no other.
func (h *Handler) createToken(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSpace(r.PostFormValue("name"))
	made, err := h.service.CreateAgentToken(r.Context(), h.ActorOf(r), name)
	p, status := h.newPage(r), http.StatusOK
	var invalid *sdk.InvalidError
	switch {
	case errors.As(err, &invalid):
		p.Name, p.Wrong, status = name, words.Mistake(err.Error()), http.StatusBadRequest
	case err != nil:
		h.Finish(w, r, err, "make a token for an agent", "", forbidden)
		return
	default:
		p.Made, p.Join = &made, made.Command()
	}
	h.Show(w, r, status, "agents", h.page(p))
}

// examine goes the way to an agent, and shows what was found.
func (h *Handler) examine(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	hops, err := h.service.ExamineAgent(r.Context(), h.ActorOf(r), name)
	if err != nil {
		h.Finish(w, r, err, "examine an agent", "", forbidden, notFound)
		return
	}
	p := h.newPage(r)
	if i := slices.IndexFunc(p.Rows, func(row agentRow) bool { return row.Name == name }); i >= 0 {
		for _, found := range hops {
			state := words.State{Word: phrase.New("ok"), Class: "ok"}
			if found.Level != "ok" {
				state = words.State{Word: phrase.New("failed"), Class: "failed"}
			}
			p.Rows[i].Hops = append(p.Rows[i].Hops, hop{found, state})
		}
	}
	h.Show(w, r, http.StatusOK, "agents", h.page(p))
}

func (h *Handler) rename(w http.ResponseWriter, r *http.Request) {
	to := strings.TrimSpace(r.PostFormValue("to"))
	err := h.service.RenameAgent(r.Context(), h.ActorOf(r), r.PathValue("name"), to)
	failures := []page.Failure{forbidden, notFound}
	var invalid *sdk.InvalidError
	if errors.As(err, &invalid) {
		failures = append(failures, refused)
	}
	h.Finish(w, r, err, "rename an agent", "/agents", failures...)
}

func (h *Handler) revoke(w http.ResponseWriter, r *http.Request) {
	err := h.service.RevokeAgent(r.Context(), h.ActorOf(r), r.PathValue("name"))
	h.Finish(w, r, err, "revoke an agent", "/agents", forbidden, notFound)
}
