package core

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/testrun"
	"github.com/dogwatch/dogwatch/core/web"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// setup fits the components to web.Setup.
type setup struct {
	components *component.Manager
	plugins    *plugin.Host
	config     *config.Config
	next       func(watcher string) time.Time
	redact     func(string) string
	trials     *testrun.Runner
	now        func() time.Time
}

// List implements web.Setup.
func (s setup) List(k kind.Kind) []web.Component {
	var all []web.Component
	for _, c := range s.components.All(k) {
		all = append(all, s.view(c))
	}
	return all
}

// Get implements web.Setup.
func (s setup) Get(ctx context.Context, k kind.Kind, typ, name string) (web.Component, bool) {
	c, known := s.components.Get(k, typ, name)
	if !known {
		return web.Component{}, false
	}
	v := s.view(c)
	registry, is := s.components.Registry(c.ID())
	if k != kind.Registry || !is {
		return v, true
	}
	for _, l := range registry.RateLimits(ctx) {
		v.Limits = append(v.Limits, web.Limit{
			Host: s.redact(l.Host), Limit: l.Limit, Remaining: l.Remaining, Window: l.Window, At: l.At.Time, PausedUntil: l.PausedUntil.Time,
		})
	}
	return v, true
}

// view returns a component with every secret masked.
func (s setup) view(c *component.Component) web.Component {
	shown := c.View()
	v := web.Component{
		Kind: c.Kind, Type: c.Type, Name: c.Name, Default: c.Default, State: string(shown.State), Error: s.redact(shown.Error),
	}
	for _, w := range shown.Warnings {
		v.Warnings = append(v.Warnings, s.redact(w))
	}
	if _, t, known := s.plugins.Find(c.Kind, c.Type); known {
		v.Summary, v.DocsURL = t.Summary, t.DocsURL
	}
	if c.Kind == kind.Watcher {
		v.Next = s.next(c.Name)
	}
	if registry, is := s.components.Registry(c.ID()); is && c.Kind == kind.Registry {
		for _, h := range registry.Hosts() {
			v.Hosts = append(v.Hosts, h.Pattern)
		}
	}
	section := config.Component{Kind: c.Kind, Type: c.Type, Name: c.Name}
	for _, written := range s.config.Components {
		if written.Key() == c.FullID() {
			section = written
		}
	}
	only := &config.Config{Components: []config.Component{section}}
	schema, _ := s.schema(c.Kind, c.Type)
	prefix := section.Key() + "."
	for _, given := range config.List(only, s.schema, true) {
		if name, is := strings.CutPrefix(given.Path, prefix); is {
			v.Options = append(v.Options, s.setting(name, given, schema))
		}
	}
	return v
}

// schema implements config.SchemaOf.
func (s setup) schema(k kind.Kind, typ string) (option.Schema, bool) {
	_, t, known := s.plugins.Find(k, typ)
	return slices.Concat(component.HostOptions(k), t.Options), known
}

func (s setup) setting(name string, given config.Setting, schema option.Schema) web.Setting {
	o, known := schema.Find(name)
	return web.Setting{
		Name: name, Value: s.redact(written(given.Value)), Help: o.Help,
		// What is not known may be a secret under a mistyped name, and is masked as one.
		Secret: o.Secret || !known, Source: given.Source,
	}
}

// written returns a value as one writes it in the environment.
func written(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ",")
	case map[string]any:
		return ""
	}
	return fmt.Sprint(v)
}

// Preview implements web.Setup.
func (s setup) Preview(ctx context.Context, typ, name string) (title, body string, err error) {
	c, known := s.components.Trigger(typ + "." + name)
	if !known {
		return "", "", fmt.Errorf("trigger %s.%s: %w", typ, name, sdk.ErrNotFound)
	}
	told, err := s.trials.Preview(ctx, c)
	return told.Title, told.Body, err
}

// Try implements web.Setup.
func (s setup) Try(ctx context.Context, k kind.Kind, typ, name, image string) (web.Trial, bool) {
	c, known := s.components.Get(k, typ, name)
	if !known {
		return web.Trial{}, false
	}
	began := s.now()
	got, err := s.trials.Run(ctx, c, testrun.Request{Image: image, AnyHost: auth.From(ctx).Operator()})
	shown := web.Trial{Title: s.redact(got.Title), Body: s.redact(got.Body), Answer: s.redact(got.Response), Took: s.now().Sub(began)}
	for _, warning := range got.Warnings {
		shown.Warnings = append(shown.Warnings, s.redact(warning))
	}
	if err != nil {
		shown.Error = s.redact(err.Error())
	}
	return shown, true
}

// processes fits the plugins to web.Processes.
type processes struct {
	plugins *plugin.Host
	redact  func(string) string
}

// All implements web.Processes.
func (p processes) All() []web.Plugin {
	var all []web.Plugin
	for _, b := range p.plugins.Bundles() {
		shown := web.Plugin{
			Name: b.Name, Builtin: b.Builtin, State: string(b.State), Error: p.redact(b.Error), Version: b.Version, Grants: b.Grants,
			PID: b.PID, Restarts: b.Restarts, SHA256: b.SHA256, Since: b.Since.Time, Memory: occupied(b.PID),
		}
		for _, t := range b.Types {
			shown.Types = append(shown.Types, string(t.Kind)+" "+t.Type)
		}
		all = append(all, shown)
	}
	return all
}

// Restart implements web.Processes.
func (p processes) Restart(name string) bool {
	b, known := p.plugins.Bundle(name)
	if known {
		b.Restart()
	}
	return known
}

// Trust implements web.Processes.
func (p processes) Trust(ctx context.Context, name, sha256 string) (known bool, err error) {
	if _, known = p.plugins.Bundle(name); !known {
		return false, nil
	}
	return true, p.plugins.Trust(ctx, name, sha256)
}

// occupied returns the resident memory of a process in bytes (proc(5), statm);
// 0 where the system does not tell.
func occupied(pid int) int64 {
	if pid == 0 {
		return 0
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// archive fits the store to web.Archive.
type archive struct {
	store  *store.Store
	redact func(string) string
	wake   func()
}

// History implements web.Archive. Who logged in is for people only.
func (a archive) History(ctx context.Context, f event.Filter) ([]event.Event, error) {
	f.Public = !auth.From(ctx).Person()
	found, err := a.store.History(ctx, f)
	for i := range found {
		a.blank(&found[i])
	}
	return found, err
}

// blank takes secrets out of the texts of an event that came from elsewhere.
func (a archive) blank(e *event.Event) {
	e.Subject = a.redact(e.Subject)
	switch {
	case e.Check != nil:
		e.Check.Error = a.redact(e.Check.Error)
	case e.Watcher != nil:
		e.Watcher.Error = a.redact(e.Watcher.Error)
	case e.Delivery != nil:
		e.Delivery.Error = a.redact(e.Delivery.Error)
	case e.Plugin != nil:
		e.Plugin.Error = a.redact(e.Plugin.Error)
	case e.Login != nil:
		e.Login.Error = a.redact(e.Login.Error)
	case e.Container != nil && e.Container.Error != nil:
		e.Container.Error.Message = a.redact(e.Container.Error.Message)
	}
}

// Deliveries implements web.Archive.
func (a archive) Deliveries(ctx context.Context, state, trigger string, before int64, limit int) ([]delivery.Delivery, error) {
	found, err := a.store.Deliveries(ctx, store.DeliveryFilter{State: state, Trigger: trigger, Before: before, Limit: limit})
	for i := range found {
		found[i].Error = a.redact(found[i].Error)
	}
	return found, err
}

// Retry implements web.Archive.
func (a archive) Retry(ctx context.Context, id int64) error {
	switch err := a.store.Retry(ctx, id); {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("retry delivery %d: %w", id, sdk.ErrNotFound)
	case errors.Is(err, store.ErrConflict):
		return fmt.Errorf("retry delivery %d: %w", id, web.ErrNotFailed)
	case err != nil:
		return err
	}
	a.wake()
	return nil
}

// about is what the settings page tells of this installation.
func (a *App) about(started time.Time) func() web.About {
	return func() web.About {
		c := a.opt.Config
		about := web.About{Version: a.opt.Version, ConfigFile: c.File, Started: started, Demo: a.opt.Demo}
		redact := a.opt.Redactor.String
		own := *c
		own.Components, own.Auth = nil, nil
		for _, s := range config.List(&own, nil, true) {
			about.Settings = append(about.Settings, web.Setting{Name: s.Path, Value: redact(written(s.Value)), Source: s.Source})
		}
		for _, p := range slices.Concat(c.Problems, a.components.Problems()) {
			about.Problems = append(about.Problems, redact(p.String()))
		}
		return about
	}
}

// sessions fits the sessions to web.Sessions.
type sessions struct{ auth *auth.Auth }

// May implements web.Sessions.
func (sessions) May(r *http.Request) bool { return auth.From(r.Context()).Scope >= auth.Manage }

// List implements web.Sessions.
func (s sessions) List(ctx context.Context) ([]auth.Session, error) {
	return s.auth.Sessions(ctx, auth.From(ctx))
}

// End implements web.Sessions.
func (s sessions) End(r *http.Request, id string) error {
	err := s.auth.EndSession(r.Context(), s.auth.ActorOf(r), id)
	if errors.Is(err, store.ErrNotFound) {
		return sdk.WithKind(sdk.ErrNotFound, err)
	}
	return err
}

// EndOthers implements web.Sessions.
func (s sessions) EndOthers(r *http.Request) error {
	return s.auth.EndOthers(r.Context(), s.auth.ActorOf(r))
}

// tokens fits the tokens to web.Tokens.
type tokens struct{ auth *auth.Auth }

// May implements web.Tokens.
func (tokens) May(r *http.Request) bool { return auth.From(r.Context()).Scope >= auth.Manage }

// List implements web.Tokens.
func (t tokens) List(ctx context.Context) ([]web.Token, error) {
	all, err := t.auth.Tokens(ctx)
	var shown []web.Token
	for _, k := range all {
		shown = append(shown, web.Token{ID: k.ID, Name: k.Name, Scope: k.Scope, Creator: k.Creator, Created: k.Created, Expires: k.Expires, Used: k.Used})
	}
	return shown, err
}

// Create implements web.Tokens.
func (t tokens) Create(r *http.Request, name, scope string, expires time.Time) (secret string, err error) {
	wish := auth.NewToken{
		Name: name, Scope: map[string]auth.Scope{"read": auth.Read, "write": auth.Write}[scope], Expires: expires,
		Creator: auth.From(r.Context()).User, Address: t.auth.Address(r),
	}
	secret, _, err = t.auth.CreateToken(r.Context(), wish)
	return secret, err
}

// Revoke implements web.Tokens.
func (t tokens) Revoke(r *http.Request, id int64) error {
	err := t.auth.RevokeToken(r.Context(), id, auth.From(r.Context()).User, t.auth.Address(r))
	if errors.Is(err, store.ErrNotFound) {
		return sdk.WithKind(sdk.ErrNotFound, err)
	}
	return err
}
