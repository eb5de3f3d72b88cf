package api

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/metrics"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

//go:embed openapi.yaml
var openAPIDocument []byte

func (h *handler) home(w http.ResponseWriter, r *http.Request) {
	if h.Pages != nil {
		h.page(w, r)
		return
	}
	text := fmt.Sprintf("Dogwatch %s is running.\nContainers: /api/containers\nThe whole interface: /api/openapi.yaml\n", h.Version)
	h.send(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// Document returns the OpenAPI document of the interface. It must not be changed.
func Document() []byte { return openAPIDocument }

func (h *handler) openAPI(w http.ResponseWriter, r *http.Request) {
	h.send(w, r, http.StatusOK, "application/yaml; charset=utf-8", openAPIDocument)
}

// metricsState reads what a scrape of the metrics needs. Deliveries are counted
// up to a thousand: more is as alarming.
func (h *handler) metricsState(ctx context.Context) (metrics.State, error) {
	pending, err := h.Store.Deliveries(ctx, store.DeliveryFilter{State: delivery.Pending, Limit: largestPage})
	if err != nil {
		if ctx.Err() == nil {
			h.Log.Error("read the deliveries for a scrape of the metrics", "error", err)
		}
		return metrics.State{}, err
	}
	records := h.Store.Snapshot().All()
	state := metrics.State{Pending: len(pending), Containers: func(yield func(*sdk.Container) bool) {
		for _, rec := range records {
			if !yield(&rec.Container) {
				return
			}
		}
	}}
	for _, k := range kind.Kinds() {
		for _, c := range h.Components.All(k) {
			condition, _ := c.State()
			state.Components = append(state.Components, metrics.Component{Kind: k, Type: c.Type, Name: c.Name, Failed: condition == component.Failed})
		}
	}
	registries := h.Components.All(kind.Registry)
	for i, limits := range component.Limits(ctx, registries) {
		state.Limits = append(state.Limits, metrics.Limits{Registry: registries[i].ID(), Hosts: limits})
	}
	return state, nil
}

func (h *handler) health(w http.ResponseWriter, r *http.Request) {
	h.reply(w, r, map[string]any{"uptime": h.Now().Sub(h.started).Seconds()})
}

// readiness is whether everything configured works.
type readiness struct {
	Ready bool `json:"ready"`
	// Problems are what does not work, in words.
	Problems []string `json:"problems"`
	// Watchers tell when each watcher is checked next.
	Watchers map[string]watcherReadiness `json:"watchers"`
}

type watcherReadiness struct {
	NextCheck sdk.Time `json:"nextCheck,omitzero"`
}

func (h *handler) ready(w http.ResponseWriter, r *http.Request) {
	state := readiness{Problems: []string{}, Watchers: map[string]watcherReadiness{}}
	problem := func(who, what string) { state.Problems = append(state.Problems, h.Redact(who+": "+what)) }
	for _, k := range kind.Kinds() {
		for _, c := range h.Components.All(k) {
			switch view := c.View(); view.State {
			case component.Failed:
				problem(c.FullID(), strings.TrimPrefix(view.Error, c.FullID()+": "))
			case component.Pending:
				problem(c.FullID(), "its plugin has not answered yet")
			}
			if k == kind.Watcher {
				state.Watchers[c.Name] = watcherReadiness{NextCheck: sdk.TimeOf(h.Checks.Next(c.Name))}
			}
		}
	}
	for _, m := range h.Auth.Methods() {
		if m.Problem != "" {
			problem("auth."+m.ID(), m.Problem)
		}
	}
	for _, b := range h.Plugins.Bundles() {
		switch b.State {
		case plugin.Running, plugin.Stopped, plugin.Starting:
		default:
			problem("plugin "+b.Name, string(b.State)+": "+b.Error)
		}
	}
	state.Ready = len(state.Problems) == 0
	status := http.StatusOK
	if !state.Ready {
		status = http.StatusServiceUnavailable
	}
	h.replyStatus(w, r, status, state)
}

func (h *handler) app(w http.ResponseWriter, r *http.Request) {
	h.reply(w, r, map[string]string{"name": "dogwatch", "version": h.Version})
}

func (h *handler) logLevel(w http.ResponseWriter, r *http.Request) {
	h.reply(w, r, map[string]string{"level": h.LogLevel.Level()})
}

func (h *handler) setLogLevel(w http.ResponseWriter, r *http.Request) {
	var wish struct {
		Level string `json:"level"`
	}
	if _, ok := h.decode(w, r, &wish); !ok {
		return
	}
	if err := h.LogLevel.SetLevel(r, wish.Level); err != nil {
		h.failWith(w, r, err)
		return
	}
	h.logLevel(w, r)
}

func (h *handler) store(w http.ResponseWriter, r *http.Request) {
	h.reply(w, r, configured(map[string]any{"path": h.Config.Store.Path, "file": h.Config.Store.File}))
}

func (h *handler) server(w http.ResponseWriter, r *http.Request) {
	s := h.Config.Server
	// As in WUD, tls and cors are empty unless they are used.
	tls, cors := map[string]any{}, map[string]any{}
	if s.TLS.Enabled {
		tls = map[string]any{"enabled": true, "key": s.TLS.Key, "cert": s.TLS.Cert}
	}
	if s.CORS.Enabled {
		cors = map[string]any{"enabled": true, "origin": s.CORS.Origin, "methods": strings.Join(s.CORS.Methods, ",")}
	}
	h.reply(w, r, configured(map[string]any{
		"enabled": s.Enabled, "port": s.Port, "tls": tls, "cors": cors, "basepath": s.BasePath,
		"feature": map[string]any{"delete": s.Feature.Delete},
	}))
}

func configured(v map[string]any) map[string]any { return map[string]any{"configuration": v} }
