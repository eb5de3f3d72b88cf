package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func (h *handler) listComponents(k kind.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		views := []component.View{}
		for _, c := range h.Service.Components(h.actor(r), k) {
			views = append(views, c.View)
		}
		h.respond(w, r, views)
	}
}

func (h *handler) getComponent(k kind.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c, found := h.component(w, r, k); found {
			h.respond(w, r, c.View)
		}
	}
}

// component returns the component that the path names. It responds with 404 and
// returns false when there is none.
func (h *handler) component(w http.ResponseWriter, r *http.Request, k kind.Kind) (service.Component, bool) {
	c, found := h.Service.Component(r.Context(), h.actor(r), k, param(r, "type"), param(r, "name"))
	if !found {
		h.componentNotFound(w, r, k)
	}
	return c, found
}

// componentNotFound responds for a component that the path names and that there is not.
func (h *handler) componentNotFound(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	h.fail(w, r, http.StatusNotFound, "Not Found"+h.nearest(r, k))
}

// nearest says which component the path of a request was probably meant to name; "" when none is near.
func (h *handler) nearest(r *http.Request, k kind.Kind) string {
	var known []string
	for _, c := range h.Service.Components(h.actor(r), k) {
		known = append(known, c.ID)
	}
	if near := option.Suggest(param(r, "type")+"."+param(r, "name"), known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// registryView is a registry with what its hosts allow.
type registryView struct {
	component.View
	RateLimits []rateLimit `json:"rateLimits,omitempty"`
	Requests   []hostUse   `json:"requests,omitempty"`
}

// hostUse are the requests to a host of images that a registry serves.
type hostUse struct {
	Host string `json:"host"`
	// Used are those of the last WindowSeconds.
	Used          int   `json:"used"`
	WindowSeconds int64 `json:"windowSeconds"`
	Next          int   `json:"next"`
	// Budget is 0 where there is none.
	Budget    int      `json:"budget,omitempty"`
	FullUntil sdk.Time `json:"fullUntil,omitzero"`
	// Left is nil where nothing limits the requests.
	Left      *int `json:"left,omitempty"`
	Estimated bool `json:"estimated,omitempty"`
	// Reported and ReportedLeft are what the host itself says; 0 and nil when it says nothing of requests.
	Reported     int  `json:"reported,omitempty"`
	ReportedLeft *int `json:"reportedLeft,omitempty"`
}

type rateLimit struct {
	Host string `json:"host"`
	// Limit and Remaining are nil when the host did not say.
	Limit         *int64   `json:"limit,omitempty"`
	Remaining     *int64   `json:"remaining,omitempty"`
	WindowSeconds int64    `json:"windowSeconds,omitempty"`
	Source        string   `json:"source,omitempty"`
	At            sdk.Time `json:"at,omitzero"`
	PausedUntil   sdk.Time `json:"pausedUntil,omitzero"`
	// Pulls is true when reads of manifests count and nothing else.
	Pulls    bool     `json:"pulls,omitempty"`
	ResetsAt sdk.Time `json:"resetsAt,omitzero"`
}

func viewOfRegistry(c service.Component) registryView {
	view := registryView{View: c.View}
	for _, l := range c.Limits {
		shown := rateLimit{
			Host: l.Host, WindowSeconds: int64(l.Window / time.Second), Source: l.Source, At: l.At,
			PausedUntil: l.PausedUntil, Pulls: l.Pulls, ResetsAt: l.ResetsAt,
		}
		if l.Limit > 0 {
			shown.Limit, shown.Remaining = &l.Limit, &l.Remaining
		}
		view.RateLimits = append(view.RateLimits, shown)
	}
	for _, b := range c.Budgets {
		use := hostUse{
			Host: b.Host, Used: b.Used, WindowSeconds: int64(b.Period() / time.Second), Next: b.Next,
			Budget: b.Allowance.Requests, FullUntil: sdk.TimeOf(b.FullUntil), Estimated: b.Estimated,
		}
		if b.Limited() {
			use.Left = new(b.Left())
		}
		if b.Reported.Requests > 0 && !b.Reported.Pulls {
			use.Reported, use.ReportedLeft = b.Reported.Requests, new(b.LeftAsReported())
		}
		view.Requests = append(view.Requests, use)
	}
	return view
}

func (h *handler) listRegistries(w http.ResponseWriter, r *http.Request) {
	views := []registryView{}
	for _, c := range h.Service.Registries(r.Context(), h.actor(r)) {
		views = append(views, viewOfRegistry(c))
	}
	h.respond(w, r, views)
}

func (h *handler) getRegistry(w http.ResponseWriter, r *http.Request) {
	if c, found := h.component(w, r, kind.Registry); found {
		h.respond(w, r, viewOfRegistry(c))
	}
}

// runTrigger runs a trigger with the posted container, as it is. Users write such
// containers by hand, so only a name is required: without one no message could say
// what it is about.
func (h *handler) runTrigger(w http.ResponseWriter, r *http.Request) {
	typ, name := param(r, "type"), param(r, "name")
	id := typ + "." + name
	if _, found := h.Service.Component(r.Context(), h.actor(r), kind.Trigger, typ, name); !found {
		near := h.nearest(r, kind.Trigger)
		h.fail(w, r, http.StatusNotFound, fmt.Sprintf("Error when running trigger %s (trigger not found)%s", id, near))
		return
	}
	var c sdk.Container
	given, ok := h.decode(w, r, &c)
	if !ok {
		return
	}
	if !given {
		h.fail(w, r, http.StatusBadRequest, fmt.Sprintf("Error when running trigger %s (container is undefined)", id))
		return
	}
	if strings.TrimSpace(c.Name) == "" {
		const missing = "a container needs a name"
		h.fail(w, r, http.StatusBadRequest, fmt.Sprintf("Error when running trigger %s (%s)", id, missing), field{
			Field: "name", Detail: missing,
		})
		return
	}
	if err := h.Service.RunTrigger(h.run, h.actor(r), typ, name, []sdk.Container{c}, true); err != nil {
		h.fail(w, r, http.StatusInternalServerError, fmt.Sprintf("Error when running trigger %s (%v)", id, err))
		return
	}
	h.respond(w, r, struct{}{})
}

// typeView describes a type and its options, for forms and tools.
type typeView struct {
	Kind         kind.Kind    `json:"kind"`
	Type         string       `json:"type"`
	Summary      string       `json:"summary"`
	DocsURL      string       `json:"docsUrl,omitempty"`
	Capabilities []string     `json:"capabilities,omitempty"`
	Options      []optionView `json:"options"`
}

type optionView struct {
	Name       string      `json:"name"`
	Type       option.Type `json:"type"`
	Help       string      `json:"help"`
	Default    *string     `json:"default,omitempty"`
	Required   bool        `json:"required"`
	Secret     bool        `json:"secret"`
	Choices    []string    `json:"choices,omitempty"`
	Aliases    []string    `json:"aliases,omitempty"`
	Min        *float64    `json:"min,omitempty"`
	Max        *float64    `json:"max,omitempty"`
	Deprecated string      `json:"deprecated,omitempty"`
	Example    string      `json:"example,omitempty"`
}

func (h *handler) listTypes(w http.ResponseWriter, r *http.Request) {
	k := kind.Kind(strings.ToLower(param(r, "kind")))
	if !slices.Contains(kind.Kinds(), k) {
		h.fail(w, r, http.StatusNotFound, fmt.Sprintf("there is no kind %q: use watcher, registry or trigger", string(k)))
		return
	}
	views := []typeView{}
	for _, t := range h.Service.Types(k) {
		views = append(views, describe(t))
	}
	h.respond(w, r, views)
}

func describe(t kind.Type) typeView {
	view := typeView{
		Kind: t.Kind, Type: t.Name, Summary: t.Summary, DocsURL: t.DocsURL,
		Capabilities: slices.Sorted(slices.Values(t.Capabilities)), Options: []optionView{},
	}
	for _, o := range append(component.HostOptions(t.Kind), t.Options...) {
		view.Options = append(view.Options, optionView{
			Name: o.Name, Type: o.Type, Help: o.Help, Default: o.Default, Required: o.Required, Secret: o.Secret,
			Choices: o.Choices, Aliases: o.Aliases, Min: o.Min, Max: o.Max, Deprecated: o.Deprecated, Example: o.Example,
		})
	}
	return view
}
