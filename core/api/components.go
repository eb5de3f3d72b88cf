package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// view returns a component as the client of a request may see it: its
// configuration is masked by its schema, with secrets as stored for operators
// only, and its errors, whose words come from elsewhere, have no secrets.
func (h *handler) view(r *http.Request, c *component.Component) component.View {
	view := c.View()
	if auth.From(r.Context()).Operator() {
		view = c.StoredView()
	}
	if view.Configuration == nil {
		view.Configuration = map[string]any{}
	}
	view.Error = h.Redact(view.Error)
	view.Warnings = slices.Clone(view.Warnings)
	for i := range view.Warnings {
		view.Warnings[i] = h.Redact(view.Warnings[i])
	}
	return view
}

func (h *handler) listComponents(k kind.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		views := []component.View{}
		for _, c := range h.Components.All(k) {
			views = append(views, h.view(r, c))
		}
		h.respond(w, r, views)
	}
}

// registryView is a registry with what its hosts allow.
type registryView struct {
	component.View
	RateLimits []rateLimit `json:"rateLimits,omitempty"`
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
}

// registryViews returns registries as clients see them.
func (h *handler) registryViews(r *http.Request, registries []*component.Registry) []registryView {
	views := []registryView{}
	for i, limits := range component.RateLimits(r.Context(), registries) {
		view := registryView{View: h.view(r, &registries[i].Component)}
		for _, l := range limits {
			shown := rateLimit{
				Host: h.Redact(l.Host), WindowSeconds: int64(l.Window / time.Second), Source: h.Redact(l.Source), At: l.At, PausedUntil: l.PausedUntil,
			}
			if l.Limit > 0 {
				shown.Limit, shown.Remaining = &l.Limit, &l.Remaining
			}
			view.RateLimits = append(view.RateLimits, shown)
		}
		views = append(views, view)
	}
	return views
}

func (h *handler) listRegistries(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, h.registryViews(r, h.Components.Registries()))
}

func (h *handler) getRegistry(w http.ResponseWriter, r *http.Request) {
	c, found := h.Components.Registry(param(r, "type") + "." + param(r, "name"))
	if !found {
		h.notFound(w, r)
		return
	}
	h.respond(w, r, h.registryViews(r, []*component.Registry{c})[0])
}

func (h *handler) getComponent(k kind.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, found := h.Components.Get(k, param(r, "type"), param(r, "name"))
		if !found {
			h.notFound(w, r)
			return
		}
		h.respond(w, r, h.view(r, c))
	}
}

// runTrigger runs a trigger with the posted container, as it is. People write
// such containers by hand, so that all it must have is a name: without one no
// message could say what it is about.
func (h *handler) runTrigger(w http.ResponseWriter, r *http.Request) {
	id := param(r, "type") + "." + param(r, "name")
	t, found := h.Components.Trigger(id)
	if !found {
		h.fail(w, r, http.StatusNotFound, fmt.Sprintf("Error when running trigger %s (trigger not found)", id))
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
		h.fail(w, r, http.StatusBadRequest, fmt.Sprintf("Error when running trigger %s (%s)", id, missing), field{Field: "name", Detail: missing})
		return
	}
	if err := h.runNow(t, c, true); err != nil {
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
	for _, t := range h.Plugins.Types(k) {
		views = append(views, describe(t))
	}
	h.respond(w, r, views)
}

func describe(t kind.Type) typeView {
	view := typeView{Kind: t.Kind, Type: t.Name, Summary: t.Summary, DocsURL: t.DocsURL, Capabilities: slices.Sorted(slices.Values(t.Capabilities)), Options: []optionView{}}
	for _, o := range append(component.HostOptions(t.Kind), t.Options...) {
		view.Options = append(view.Options, optionView{
			Name: o.Name, Type: o.Type, Help: o.Help, Default: o.Default, Required: o.Required, Secret: o.Secret,
			Choices: o.Choices, Aliases: o.Aliases, Min: o.Min, Max: o.Max, Deprecated: o.Deprecated, Example: o.Example,
		})
	}
	return view
}
