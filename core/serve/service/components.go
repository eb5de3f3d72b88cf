package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Component is a configured watcher, registry or trigger as an actor may see it.
type Component struct {
	// View is its state and configuration. Secrets are masked, but an operator gets
	// those as stored that clients of the HTTP interface expect so. Configuration may
	// be shared and must not be changed.
	component.View
	Kind kind.Kind
	// Summary is what its type does, DocsURL where the vendor says more.
	Summary string
	DocsURL string
	// Default is true when it exists without being configured.
	Default bool
	// Remedy is what to do about the Error of its view; "" when there is none, or nothing is known.
	Remedy string
	// Usable is true when it may be called: its options are right, be its plugin up or not.
	Usable bool
	// Asleep is true when its plugin has no process until it is needed.
	Asleep bool
	// Acts is true when it may change containers, see kind.CapEngine and kind.CapOperate.
	Acts bool
	// Updates is true for a watcher that may replace containers, see component.Watcher.Updates.
	Updates bool
	// Settings are its options as they are written, every secret masked, where a
	// method returns them.
	Settings []Setting
	// Hosts are what a registry serves, Limits what its hosts allow, where a method returns them.
	Hosts  []string
	Limits []registry.Limit
	// Budgets are the requests to the hosts of images that a registry serves.
	Budgets []budget.Forecast
	// Next is when a watcher is checked next, and, where a method returns Settings of one, when
	// a trigger sends its next summary; zero when that is not planned.
	Next time.Time
	// Backlog is what a trigger that runs by itself hears of the updates that wait when it runs for the first
	// time, one of the values of the option; set where a method returns Settings, and "" with summaries.
	Backlog string
}

// Key returns "trigger.smtp.main".
func (c Component) Key() string { return string(c.Kind) + "." + c.ID }

// Label is what pages call it. Names of watchers are unique whatever their types.
func (c Component) Label() string {
	if c.Kind == kind.Watcher {
		return c.Name
	}
	return c.ID
}

// Components returns the components of a kind by type and name, without Limits and
// Settings.
func (s *Service) Components(actor auth.Actor, k kind.Kind) []Component {
	var all []Component
	for _, c := range s.opt.Components.All(k) {
		all = append(all, s.component(actor, c))
	}
	return all
}

// ComponentsWithSettings returns the components of a kind by type and name with their
// Settings. It reads the whole configuration of each, so that lists which do not
// show it use Components.
func (s *Service) ComponentsWithSettings(actor auth.Actor, k kind.Kind) []Component {
	var all []Component
	for _, c := range s.opt.Components.All(k) {
		shown := s.component(actor, c)
		shown.Settings = s.settings(c)
		all = append(all, shown)
	}
	return all
}

// Registries returns the registries by type and name with their Limits. A registry
// that does not say them before ctx ends has none.
func (s *Service) Registries(ctx context.Context, actor auth.Actor) []Component {
	found := s.opt.Components.Registries()
	all := make([]Component, len(found))
	for i, limits := range component.RateLimits(ctx, found) {
		all[i] = s.component(actor, &found[i].Component)
		all[i].Limits = s.limits(limits)
	}
	return all
}

// Component returns a component with its Limits and Settings, whatever the letter
// case of type and name, and whether there is one.
func (s *Service) Component(ctx context.Context, actor auth.Actor, k kind.Kind, typ, name string) (Component, bool) {
	c, known := s.opt.Components.Get(k, typ, name)
	if !known {
		return Component{}, false
	}
	shown := s.component(actor, c)
	shown.Settings = s.settings(c)
	if r, known := s.opt.Components.Registry(c.ID()); known && k == kind.Registry {
		shown.Limits = s.limits(r.RateLimits(ctx))
	}
	if t, known := s.opt.Components.Trigger(c.ID()); known && k == kind.Trigger && t.Settings.Auto {
		shown.Backlog = t.Settings.Backlog
		if t.Settings.Mode == component.ModeSummary {
			shown.Backlog, shown.Next = "", s.nextSummary(t)
		}
	}
	return shown, true
}

// nextSummary returns when the next summary of a trigger is due; zero when that is not known.
func (s *Service) nextSummary(t *component.Trigger) time.Time {
	moments, err := window.ParseMoments(t.Settings.Summary, nil)
	if err != nil {
		return time.Time{}
	}
	return moments.Next(s.opt.Now())
}

// TriggersOf returns the triggers that can run for a container, each with the
// threshold that the container's label gives it.
func (s *Service) TriggersOf(actor auth.Actor, c sdk.Container) []Component {
	var all []Component
	for _, t := range s.opt.Components.Triggers() {
		threshold, ok := dispatch.Associated(t.ID(), t.Settings.IncludeByDefault, c)
		if !ok {
			continue
		}
		shown := s.component(actor, &t.Component)
		if threshold != "" {
			// The configuration is shared; this container's threshold is not.
			shown.Configuration = maps.Clone(shown.Configuration)
			shown.Configuration["threshold"] = threshold
		}
		all = append(all, shown)
	}
	return all
}

// component returns a component as an actor may see it.
func (s *Service) component(actor auth.Actor, c *component.Component) Component {
	v := Component{
		View: c.View(), Kind: c.Kind, Default: c.Default, Usable: c.Usable(),
		Acts: c.Can(kind.CapEngine) || c.Can(kind.CapOperate),
	}
	if actor.Operator() {
		v.View = c.StoredView()
	}
	if state, err := c.State(); state == component.Failed {
		v.Remedy = s.remedy(err)
		if v.Remedy == "" && c.Kind == kind.Watcher {
			v.Remedy = "Check the configuration below, then press Test."
		}
		if down, is := s.pluginDown(c.Kind, c.Type); is { // it says how that is now
			v.Error, v.Remedy = component.PluginDown(down), NoPlugin
		}
	}
	if v.Configuration == nil {
		v.Configuration = map[string]any{}
	}
	v.Error, v.Warnings = s.opt.Redact(v.Error), s.texts(v.Warnings)
	if bundle, t, known := s.opt.Plugins.Find(c.Kind, c.Type); known {
		v.Summary, v.DocsURL, v.Asleep = t.Summary, t.DocsURL, bundle.Status().State == plugin.Asleep
	}
	switch c.Kind {
	case kind.Watcher:
		v.Next = s.opt.Checks.Next(c.Name)
		if v.State == component.Failed {
			v.AsOf = s.asOf(c)
		}
		v.Updates, _ = c.Options["update"].(bool)
	case kind.Registry:
		if r, known := s.opt.Components.Registry(c.ID()); known {
			for _, h := range r.Hosts() {
				v.Hosts = append(v.Hosts, h.Pattern)
			}
		}
		v.Budgets = s.budgets(c.ID())
	}
	return v
}

// asOf is when what is known of a watcher's containers was true: when its engine responded last, or before the start
// when one of them was checked last.
func (s *Service) asOf(watcher *component.Component) sdk.Time {
	last := watcher.Responded()
	if last.IsZero() {
		for _, rec := range s.opt.Store.Snapshot().All() {
			if rec.Container.Watcher == watcher.Name && rec.CheckedAt.After(last) {
				last = rec.CheckedAt
			}
		}
	}
	return sdk.TimeOf(last)
}

// budgets are those of the hosts that a registry serves.
func (s *Service) budgets(id string) (all []budget.Forecast) {
	for _, f := range s.opt.Checks.Budgets() {
		if r, _, served := s.opt.Components.RegistryFor(f.For); served && r.ID() == id {
			all = append(all, f)
		}
	}
	return all
}

// limits returns limits without secrets in the texts of a plugin.
func (s *Service) limits(reported []registry.Limit) []registry.Limit {
	limits := slices.Clone(reported)
	for i := range limits {
		limits[i].Host, limits[i].Source = s.opt.Redact(limits[i].Host), s.opt.Redact(limits[i].Source)
	}
	return limits
}

// settings returns the options of a component with every secret masked.
func (s *Service) settings(c *component.Component) []Setting {
	section := config.Component{Kind: c.Kind, Type: c.Type, Name: c.Name}
	for _, written := range s.opt.Config().Components {
		if written.Key() == c.FullID() {
			section = written
		}
	}
	only := &config.Config{Components: []config.Component{section}}
	schema, _ := s.schema(c.Kind, c.Type)
	prefix := section.Key() + "."
	var all []Setting
	for _, given := range config.List(only, s.schema, true) {
		if name, ok := strings.CutPrefix(given.Path, prefix); ok {
			o, known := schema.Find(name)
			all = append(all, Setting{
				Name: name, Value: s.opt.Redact(written(given.Value)), Help: o.Help,
				// What is not known may be a secret under a mistyped name, and is masked as one.
				Secret: o.Secret || !known, Source: given.Source, Required: o.Required,
			})
		}
	}
	for _, o := range schema {
		listed := func(s Setting) bool { return s.Name == o.Name || slices.Contains(o.Aliases, s.Name) }
		if o.Required && !slices.ContainsFunc(all, listed) {
			all = append(all, Setting{Name: o.Name, Help: o.Help, Secret: o.Secret, Source: "default", Required: true})
		}
	}
	return all
}

// schema implements config.SchemaOf.
func (s *Service) schema(k kind.Kind, typ string) (option.Schema, bool) {
	_, t, known := s.opt.Plugins.Find(k, typ)
	return slices.Concat(component.HostOptions(k), t.Options), known
}

// find returns a component, whatever the letter case of type and name, or an ErrNotFound.
func (s *Service) find(k kind.Kind, typ, name string) (*component.Component, error) {
	c, known := s.opt.Components.Get(k, typ, name)
	if !known {
		return nil, fmt.Errorf("%s %s.%s: %w", k, typ, name, ErrNotFound)
	}
	return c, nil
}
