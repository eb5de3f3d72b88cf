package component

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Options configure a Manager.
type Options struct {
	Plugins *plugin.Host
	Log     hclog.Logger
	// Secrets gets every secret value before any plugin does.
	Secrets func(values ...string)
	// ValidateWatcher and ValidateTrigger check the host's own options: cron expressions,
	// templates. The key of each problem is the name of the option.
	ValidateWatcher func(WatcherOptions) []config.Problem
	ValidateTrigger func(TriggerOptions) []config.Problem
	// MaskAll masks also the secrets that the HTTP interface shows operators as stored.
	MaskAll bool
	// Awaited returns the plugins that are still to be installed, which may bring types that are unknown; nil for none.
	Awaited func() []string
	// Joined returns the names of the agents that have joined, each of which is a watcher; nil for none.
	Joined func() []string
	// Limits returns what the owner of the host of an agent allows; false while that is not known. Nil for no agents.
	Limits func(name string) (agent.Limits, bool)
	// Changed is called whenever a component's state may have changed. It must not block.
	Changed func(*Component)
}

// Manager owns every component. Its methods may be called concurrently.
type Manager struct {
	opt Options
	log hclog.Logger

	applying sync.Mutex // of Apply

	mu sync.Mutex
	// all are the components of every kind in the order of the configuration, and
	// those of each kind once more.
	all        []typed
	watchers   []*Watcher
	registries []*Registry
	triggers   []*Trigger
	waiting    []config.Component // their type may be in a bundle that is not discovered yet
	adding     int                // how many no longer wait, and have no component yet
	permits    permits
	// pending is how many components' plugins have not responded yet, by kind.
	pending map[kind.Kind]int
	loaded  bool // Load has returned
	// settled are the kinds of which no section waits, and no response is pending, or was at some time.
	settled map[kind.Kind]bool
	// progress is closed and replaced whenever one of these changes.
	progress chan struct{}
}

// New returns a Manager without components.
func New(opt Options) *Manager {
	if opt.Changed == nil {
		opt.Changed = func(*Component) {}
	}
	if opt.ValidateWatcher == nil {
		opt.ValidateWatcher = func(WatcherOptions) []config.Problem { return nil }
	}
	if opt.ValidateTrigger == nil {
		opt.ValidateTrigger = func(TriggerOptions) []config.Problem { return nil }
	}
	return &Manager{opt: opt, log: opt.Log.Named("component"), pending: map[kind.Kind]int{}, settled: map[kind.Kind]bool{},
		progress: make(chan struct{})}
}

// Load configures every section whose type is known, and the components that
// exist by default. Sections of unknown types wait for Continue and Finish. It does not
// wait for plugins; see Await.
func (m *Manager) Load(sections []config.Component) {
	m.mu.Lock()
	m.permits = permitsOf(sections)
	m.mu.Unlock()
	for _, section := range sections {
		if _, _, known := m.opt.Plugins.Find(section.Kind, section.Type); !known {
			m.mu.Lock()
			m.waiting = append(m.waiting, section)
			m.mu.Unlock()
			continue
		}
		m.add(section, false)
	}
	for _, section := range m.defaults(sections) {
		m.add(section, true)
	}
	m.count(func() { m.loaded = true })
}

// Continue configures the sections that have waited for a bundle that is discovered by
// now, and returns how many wait still.
func (m *Manager) Continue() int {
	return m.resume(func(section config.Component) bool {
		_, _, known := m.opt.Plugins.Find(section.Kind, section.Type)
		return known
	})
}

// Finish configures the sections that waited for third-party bundles. Types
// that are still unknown become failed components.
func (m *Manager) Finish() { m.resume(func(config.Component) bool { return true }) }

// resume configures those of the waiting sections that are chosen, and returns how many wait still.
func (m *Manager) resume(chosen func(config.Component) bool) (left int) {
	m.mu.Lock()
	var now, later []config.Component
	for _, section := range m.waiting {
		if chosen(section) {
			now = append(now, section)
			m.pending[section.Kind]++ // until it is a component, which is pending itself
		} else {
			later = append(later, section)
		}
	}
	m.waiting, m.adding = later, m.adding+len(now)
	m.mu.Unlock()
	for _, section := range now {
		m.add(section, false)
		m.count(func() {
			m.adding--
			m.pending[section.Kind]--
		})
	}
	return len(later)
}

// count changes what Await and its like wait for.
func (m *Manager) count(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	for _, k := range kind.Kinds() {
		waits := slices.ContainsFunc(m.waiting, func(c config.Component) bool { return c.Kind == k })
		m.settled[k] = m.settled[k] || m.loaded && !waits && m.pending[k] == 0
	}
	close(m.progress)
	m.progress = make(chan struct{})
}

// Await waits until every section has its component and the plugin of each has responded
// once, or ctx ends. With kinds it waits for those only.
func (m *Manager) Await(ctx context.Context, kinds ...kind.Kind) error {
	if len(kinds) == 0 {
		kinds = kind.Kinds()
	}
	return m.AwaitUntil(ctx, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.allSettled(kinds)
	})
}

// AwaitListed waits until every section has its component, whose plugin may not have
// responded yet, or ctx ends.
func (m *Manager) AwaitListed(ctx context.Context) error {
	return m.AwaitUntil(ctx, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.loaded && len(m.waiting) == 0 && m.adding == 0
	})
}

// AwaitUntil waits until enough returns true, or every section has its component and all
// plugins have responded once, or ctx ends.
func (m *Manager) AwaitUntil(ctx context.Context, enough func() bool) error {
	for {
		m.mu.Lock()
		settled, progress := m.allSettled(kind.Kinds()), m.progress
		m.mu.Unlock()
		if settled || enough() {
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// allSettled reports whether Await has nothing to wait for. m.mu is held.
func (m *Manager) allSettled(kinds []kind.Kind) bool {
	return !slices.ContainsFunc(kinds, func(k kind.Kind) bool { return !m.settled[k] })
}

// Waiting returns what Await waits for: the full names of the components whose plugin has not
// responded yet, and of those whose type no plugin holds so far, sorted.
func (m *Manager) Waiting() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.all {
		if state, _ := c.base().Configured(); state == Pending {
			names = append(names, c.base().FullID())
		}
	}
	for _, section := range m.waiting {
		names = append(names, section.Key())
	}
	slices.Sort(names)
	return names
}

// defaults returns the sections of components that exist without configuration.
func (m *Manager) defaults(configured []config.Component) []config.Component {
	var sections []config.Component
	for _, k := range kind.Kinds() {
		for _, t := range m.opt.Plugins.Types(k) {
			taken := slices.ContainsFunc(configured, func(c config.Component) bool {
				// A configured watcher replaces the default one, unless an agent is configured; a
				// configured registry stands beside the public one, unless it has its name.
				return c.Kind == k &&
					(k == kind.Watcher && c.Type != agent.TypeName || c.Type == t.Name && c.Name == t.DefaultName)
			})
			if t.DefaultName != "" && !taken {
				sections = append(sections, config.Component{Kind: k, Type: t.Name, Name: t.DefaultName})
			}
		}
	}
	return append(sections, m.agents(configured)...)
}

// agents returns the sections of agents that have joined and are not configured.
func (m *Manager) agents(configured []config.Component) (sections []config.Component) {
	if m.opt.Joined == nil {
		return nil
	}
	for _, name := range m.opt.Joined() {
		section := config.Component{Kind: kind.Watcher, Type: agent.TypeName, Name: name}
		if !slices.ContainsFunc(configured, func(c config.Component) bool { return c.Key() == section.Key() }) {
			sections = append(sections, section)
		}
	}
	return sections
}

// resolve checks a section against the host's options and those of its type.
func (m *Manager) resolve(component typed, t kind.Type, section config.Component) []config.Problem {
	c := component.base()
	host := HostOptions(c.Kind)
	values, problems := section.Resolve(slices.Concat(host, t.Options))
	settings := option.Values{}
	c.Options = option.Values{}
	for name, v := range values {
		if _, own := host.Find(name); own {
			settings[name] = v
		} else {
			c.Options[name] = v
		}
	}
	if w, ok := component.(*Watcher); ok {
		m.mu.Lock()
		by := m.permits
		m.mu.Unlock()
		w.permit(section, t.Options, by)
	}
	if c.Kind == kind.Trigger && c.Type == composeType {
		settings["mode"] = ModeBatch
	}
	c.references = referencesOf(slices.Concat(host, t.Options), values, section)
	m.opt.Secrets(t.Options.Secrets(c.Options)...)
	c.masked = merge(host.Show(settings, true), t.Options.Show(c.Options, true))
	c.stored = merge(host.Show(settings, m.opt.MaskAll), t.Options.Show(c.Options, m.opt.MaskAll))
	wrong := func(p config.Problem) bool {
		_, own := host.Find(strings.TrimPrefix(p.Key, c.FullID()+"."))
		return own && p.Level == config.Error
	}
	if slices.ContainsFunc(problems, wrong) {
		return problems
	}
	for _, p := range m.settings(component, settings) {
		p.Key, p.Source = c.FullID()+"."+p.Key, section.Options[p.Key].Source
		problems = append(problems, p)
	}
	return problems
}

// settings decodes and validates the host's own options of a component.
func (m *Manager) settings(component typed, values option.Values) []config.Problem {
	problems, err := component.setSettings(values, &m.opt)
	if err == nil {
		return problems
	}
	for _, f := range fields(err) {
		problems = append(problems, config.Problem{Key: f.Field, Message: f.Detail, Level: config.Error})
	}
	return problems
}

// withheld records the sensitive capabilities that a type asks for and does not get.
func (m *Manager) withheld(c *Component, bundle *plugin.Supervisor, t kind.Type) []config.Problem {
	missing := bundle.MissingGrants(t)
	c.missing = missing
	var problems []config.Problem
	for _, capability := range t.Capabilities {
		if !slices.Contains(missing, capability) {
			c.Capabilities = append(c.Capabilities, capability)
			continue
		}
		name := bundle.Status().Name
		problems = append(problems, config.Problem{Key: c.FullID(), Level: config.Warning,
			Message: fmt.Sprintf("asks for the capability %q and does not get it", capability),
			Remedy:  toGrant(name, capability)})
	}
	return problems
}

// toGrant says how a plugin gets a capability.
func toGrant(plugin, capability string) string {
	if capability == kind.CapDevices {
		return "no plugin of a third party gets it"
	}
	const text = "to grant it, run: dogwatch plugin grants %s --grant %s; or add %[1]s=%[2]s to plugins.grants"
	return fmt.Sprintf(text, plugin, capability)
}

// configured logs a plugin's response to a configuration and records it as a problem.
func (m *Manager) configured(c *Component, got pluginclient.Configured, err error) {
	for _, warning := range got.Warnings {
		m.log.Warn(warning, "component", c.FullID())
	}
	if err == nil {
		return
	}
	m.log.Error("component cannot run", "component", c.FullID(), "error", err)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range fields(err) {
		key := c.FullID()
		if f.Field != "" {
			key += "." + f.Field
		}
		if i := config.Suggesting(c.problems, key); i >= 0 && c.Options[f.Field] == nil {
			c.problems[i].Level = config.Error // it is one mistake
			continue
		}
		c.problems = append(c.problems, config.Problem{Key: key, Message: f.Detail, Level: config.Error})
	}
}

// Problems returns everything found wrong with the components there are.
func (m *Manager) Problems() (all []config.Problem) {
	m.mu.Lock()
	var unknown []config.Component
	for _, c := range m.all {
		all = append(all, c.base().problems...)
		if c.base().bundle == nil {
			unknown = append(unknown, c.base().section)
		}
	}
	all = append(all, m.unresolved()...)
	m.mu.Unlock()
	for _, section := range unknown { // what is wrong with their plugins may have changed
		for i := range all {
			if all[i].Key == string(section.Kind)+"."+section.Type {
				all[i] = m.unknownType(section)
			}
		}
	}
	return all
}

// unknownType is what is wrong with a section whose type no plugin holds.
func (m *Manager) unknownType(section config.Component) config.Problem {
	problem := config.Problem{
		Key: string(section.Kind) + "." + section.Type, Source: anySource(section), Message: m.unknownText(section),
		Level: config.Error,
	}
	if _, down := m.pluginDown(section); down {
		problem.Source = "" // no user wrote what is wrong
		return problem
	}
	if m.opt.Awaited == nil {
		return problem
	}
	if awaited := m.opt.Awaited(); len(awaited) > 0 {
		problem.Level = config.Warning
		problem.Message = fmt.Sprintf("no plugin that is here holds the %s type %q; plugins.install names %s, which "+
			"is not installed here so far: "+
			"dogwatch serve installs it at its start", section.Kind, section.Type, strings.Join(awaited, ", "))
	}
	return problem
}

// PluginDown says of a plugin that it does not run, and why.
func PluginDown(st plugin.Status) string {
	state := map[plugin.State]string{plugin.Backoff: "keeps crashing", plugin.Broken: "failed",
		plugin.Untrusted: "is not trusted", plugin.Rejected: "cannot be used"}[st.State]
	return fmt.Sprintf("its plugin %s %s: %s", st.Name, cmp.Or(state, "does not run"), st.Error)
}

// pluginDown returns the plugin that is named after the type of a section, and whether it should run and does not.
func (m *Manager) pluginDown(section config.Component) (st plugin.Status, down bool) {
	own, known := m.opt.Plugins.Bundle(string(section.Kind) + "-" + section.Type)
	if known {
		st = own.Status()
	}
	return st, known && !st.State.Well()
}

func (m *Manager) unknownText(section config.Component) string {
	if st, down := m.pluginDown(section); down {
		return PluginDown(st)
	}
	var names []string
	for _, t := range m.opt.Plugins.Types(section.Kind) {
		names = append(names, t.Name)
	}
	message := fmt.Sprintf("unknown %s type %q", section.Kind, section.Type)
	if near := option.Suggest(section.Type, names); near != "" {
		message += fmt.Sprintf(": did you mean %s?", near)
	}
	message += fmt.Sprintf(" (available: %s; third-party types come from executables in plugins.dir",
		strings.Join(names, ", "))
	if dir := m.opt.Plugins.Dir(); dir != "" {
		message += ", " + dir
	}
	message += ")"
	if why := m.opt.Plugins.Unusable(); why != "" {
		message += "; " + why
	}
	return message
}

func anySource(section config.Component) string {
	for _, v := range section.Options {
		return v.Source
	}
	return ""
}

// merge adds the entries of b to a.
func merge(a, b map[string]any) map[string]any {
	for k, v := range b {
		a[k] = v
	}
	return a
}
