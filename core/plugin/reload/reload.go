// Package reload applies a configuration that is read anew to the running program:
// what differs is found and checked first, a configuration with a mistake changes
// nothing, and of the components only those restart that are other ones.
package reload

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// ErrUnsupported means that nothing is read anew, as in the demo.
var ErrUnsupported = errors.New("the demo has no configuration to reload")

// Components are the configured components; see component.Manager.
type Components interface {
	Await(ctx context.Context, kinds ...kind.Kind) error
	Compare(sections []config.Component) component.Changes
	Validate(ctx context.Context, sections []config.Component) []config.Problem
	Apply(ctx context.Context, sections []config.Component) component.Changes
}

// Options configure a Reloader.
type Options struct {
	// Read reads the configuration as the start did; nil when there is nothing to read.
	Read func() (*config.Config, error)
	// Strict makes warnings mistakes.
	Strict     bool
	Components Components
	Schema     config.SchemaOf
	// Check returns what is wrong with the settings of a configuration, besides its Problems.
	Check func(*config.Config) []config.Problem
	// Applied is called once the components are those of a configuration.
	Applied func(context.Context, *config.Config, component.Changes)
	// Restart has the whole program go on with a configuration. It must not block.
	Restart func(*config.Config)
	// Audit stores who reloaded what.
	Audit  func(context.Context, event.Event)
	Redact func(string) string
	Log    hclog.Logger
	Now    func() time.Time
}

// Reloader reloads the configuration. Its methods may be called concurrently.
type Reloader struct {
	opt Options
	log hclog.Logger

	reloading sync.Mutex
	mu        sync.Mutex
	current   *config.Config
}

// Result is what a reload would do, or has done.
type Result struct {
	// Differences are the values that are other ones.
	Differences []config.Difference `json:"differences"`
	// Added, Removed and Changed are components, such as trigger.smtp.main.
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
	// Restart is true when settings differ that are read at the start only: everything
	// restarts then, within the process.
	Restart bool `json:"restart"`
	// Errors are why nothing is changed, Warnings what is odd.
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	// Applied is true when it was done.
	Applied bool `json:"applied"`

	unlogged []string // of Warnings
}

// Any reports whether there is anything to apply.
func (r Result) Any() bool {
	return len(r.Differences)+len(r.Added)+len(r.Removed)+len(r.Changed) > 0
}

// Actor is who wants a reload.
type Actor struct{ User, Address string }

// New returns a Reloader of a program that runs with current.
func New(current *config.Config, opt Options) *Reloader {
	if opt.Redact == nil {
		opt.Redact = func(text string) string { return text }
	}
	return &Reloader{opt: opt, log: opt.Log.Named("reload"), current: current}
}

// Current returns the configuration that counts now. It is shared: it must not be changed.
func (r *Reloader) Current() *config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// Preview returns what Reload would do now. The error is ErrUnsupported, or that of ctx.
func (r *Reloader) Preview(ctx context.Context) (Result, error) {
	_, result, err := r.prepare(ctx)
	return result, err
}

// Reload reads the configuration and applies what differs. One with errors changes
// nothing, which the result says. The error is ErrUnsupported, or that of ctx.
func (r *Reloader) Reload(ctx context.Context, by Actor) (Result, error) {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	next, result, err := r.prepare(ctx)
	switch {
	case err != nil:
		return result, err
	case len(result.Errors) > 0:
		r.log.Error("the configuration is not reloaded, since it has mistakes", "by", by.User, "errors",
			strings.Join(result.Errors, "; "))
		return result, nil
	}
	for _, w := range result.unlogged {
		r.log.Warn("configuration", "problem", w)
	}
	result.Applied = true
	if !result.Any() {
		r.log.Info("the configuration is what it was", "by", by.User)
		return result, nil
	}
	r.log.Info("the configuration is reloaded", "by", by.User, "differences", len(result.Differences), "added",
		result.Added, "removed", result.Removed, "changed", result.Changed, "restart", result.Restart)
	ctx = context.WithoutCancel(ctx) // what has begun is completed
	r.opt.Audit(ctx,
		event.Event{At: r.opt.Now(), Type: event.SettingChanged, Subject: "configuration",
			Payload: event.Payload{Setting: &event.Setting{
				To: summary(result), User: by.User, Address: by.Address,
			}}})
	if result.Restart {
		r.opt.Restart(next)
		return result, nil
	}
	r.mu.Lock()
	r.current = next
	r.mu.Unlock()
	r.opt.Applied(ctx, next, r.opt.Components.Apply(ctx, next.Components))
	return result, nil
}

// Again applies the configuration that counts once more, as plugins came, went or changed.
func (r *Reloader) Again(ctx context.Context) {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	now := r.Current()
	r.opt.Applied(ctx, now, r.opt.Components.Apply(ctx, now.Components))
}

// prepare reads the configuration, and finds what it changes and what is wrong with it.
func (r *Reloader) prepare(ctx context.Context) (*config.Config, Result, error) {
	none := Result{
		Differences: []config.Difference{}, Added: []string{}, Removed: []string{}, Changed: []string{},
		Errors: []string{}, Warnings: []string{},
	}
	if r.opt.Read == nil {
		return nil, none, ErrUnsupported
	}
	if err := r.opt.Components.Await(ctx); err != nil {
		return nil, none, err
	}
	now := r.Current()
	next, err := r.opt.Read()
	var invalid *config.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		return nil, none, err
	}
	result := none
	result.Differences = append(result.Differences, config.Diff(now, next, r.opt.Schema)...)
	if err == nil {
		changes := r.opt.Components.Compare(next.Components)
		result.Added, result.Removed, result.Changed = append(result.Added, changes.Added...),
			append(result.Removed, changes.Removed...), append(result.Changed, changes.Changed...)
		result.Restart = slices.ContainsFunc(result.Differences, needsRestart)
	}
	problems := slices.Clone(next.Problems)
	if err == nil {
		problems = append(problems, r.opt.Check(next)...)
	}
	ofSettings := len(problems)
	if err == nil {
		problems = append(problems, r.opt.Components.Validate(ctx, next.Components)...)
	}
	for i, p := range problems {
		text := r.opt.Redact(p.String())
		switch {
		case slices.Contains(result.Errors, text) || slices.Contains(result.Warnings, text):
		case p.Level == config.Error || r.opt.Strict:
			result.Errors = append(result.Errors, text)
		default:
			result.Warnings = append(result.Warnings, text)
			if i < ofSettings { // those of components are logged as they are made
				result.unlogged = append(result.unlogged, text)
			}
		}
	}
	return next, result, nil
}

// live are the sections of settings that count at once.
var live = []string{"policy", "policies"}

// needsRestart reports whether a value is read at the start only.
func needsRestart(d config.Difference) bool {
	section, _, _ := strings.Cut(d.Path, ".")
	return d.Component == "" && !slices.Contains(live, section)
}

// summary says in a line what a reload changes.
func summary(r Result) string {
	var parts []string
	for _, p := range []struct {
		verb string
		ids  []string
	}{{"added", r.Added}, {"removed", r.Removed}, {"changed", r.Changed}} {
		if len(p.ids) > 0 {
			parts = append(parts, p.verb+" "+strings.Join(p.ids, ", "))
		}
	}
	var settings []string
	for _, d := range r.Differences {
		if d.Component == "" {
			settings = append(settings, d.Path)
		}
	}
	if len(settings) > 0 {
		parts = append(parts, "settings "+strings.Join(settings, ", "))
	}
	if r.Restart {
		parts = append(parts, "everything restarts")
	}
	return strings.Join(parts, "; ")
}
