package service

import (
	"context"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/metrics"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// maxPending is up to how many pending deliveries metrics count: more is as alarming.
const maxPending = 1000

// Readiness is whether everything configured works.
type Readiness struct {
	// Problems are what does not work, in words; none when everything does.
	Problems []string
	// Watchers is when each watcher is checked next, by its name; zero when that is not planned.
	Watchers map[string]time.Time
}

// Readiness returns which components, login methods and plugins do not work.
func (s *Service) Readiness() Readiness {
	ready := Readiness{Watchers: map[string]time.Time{}}
	problem := func(id, message string) { ready.Problems = append(ready.Problems, s.opt.Redact(id+": "+message)) }
	for _, k := range kind.Kinds() {
		for _, c := range s.opt.Components.All(k) {
			switch view := c.View(); view.State {
			case component.Failed:
				problem(c.FullID(), strings.TrimPrefix(view.Error, c.FullID()+": "))
			case component.Pending:
				problem(c.FullID(), "its plugin has not answered yet")
			}
			if k == kind.Watcher {
				ready.Watchers[c.Name] = s.opt.Checks.Next(c.Name)
			}
		}
	}
	for _, m := range s.opt.Auth.Methods() {
		if m.Problem != "" {
			problem("auth."+m.ID(), m.Problem)
		}
	}
	for _, b := range s.opt.Plugins.Bundles() {
		if !b.State.Well() {
			problem("plugin "+b.Name, string(b.State)+": "+b.Error)
		}
	}
	return ready
}

// LoginMethods returns the configured login methods, or the anonymous one when
// there is none. Their secrets are masked for every actor.
func (s *Service) LoginMethods() []auth.Method {
	all := s.opt.Auth.Methods()
	for i := range all {
		all[i].Problem = s.opt.Redact(all[i].Problem)
	}
	return all
}

// MetricsState returns what a scrape of the metrics shows. It logs an error of the
// store, and returns it.
func (s *Service) MetricsState(ctx context.Context) (metrics.State, error) {
	pending, err := s.opt.Store.Deliveries(ctx, store.DeliveryFilter{State: delivery.Pending, Limit: maxPending})
	if err != nil {
		if ctx.Err() == nil {
			s.log.Error("read the deliveries for a scrape of the metrics", "error", err)
		}
		return metrics.State{}, err
	}
	records := s.opt.Store.Snapshot().All()
	state := metrics.State{Pending: len(pending), Operations: len(s.OperationsUnderWay()),
		Containers: func(yield func(*sdk.Container) bool) {
			for _, rec := range records {
				if !yield(&rec.Container) {
					return
				}
			}
		}}
	for _, k := range kind.Kinds() {
		for _, c := range s.opt.Components.All(k) {
			condition, _ := c.State()
			state.Components = append(state.Components, metrics.Component{
				Kind: k, Type: c.Type, Name: c.Name, Failed: condition == component.Failed,
			})
		}
	}
	state.Budgets, state.Concurrency = s.opt.Checks.Budgets(), s.opt.Checks.Concurrency()
	if s.opt.Scans.Enabled() {
		n := s.opt.Scans.Counts()
		state.Scans = map[string]int{"done": n.Done, "failed": n.Failed, "reused": n.Reused}
	}
	for hook, n := range s.opt.Webhooks.Counts() {
		state.Webhooks = append(state.Webhooks, metrics.Webhook{Name: hook.Hook, State: hook.State, Pushes: n})
	}
	if s.opt.Installs != nil {
		for _, p := range s.opt.Installs.Installed() {
			state.Installed = append(state.Installed, metrics.Installed{Name: p.Name, Outdated: p.Available != ""})
		}
	}
	registries := s.opt.Components.Registries()
	for i, limits := range component.RateLimits(ctx, registries) {
		state.Limits = append(state.Limits, metrics.Limits{Registry: registries[i].ID(), Hosts: limits})
	}
	return state, nil
}
