// Package component turns configuration sections into configured watchers,
// registries and triggers: it checks each section against the schema of its
// type, has the bundle configure it, and knows which registry serves which host.
package component

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// State is whether a component can be used.
type State string

// The states of a component.
const (
	Pending State = "starting" // its plugin has not responded yet
	Ready   State = "ready"
	Failed  State = "failed" // its configuration is wrong, its plugin cannot run, or a watcher's engine cannot be reached
)

// Component is what the kinds share: a Watcher, a Registry or a Trigger embeds
// it. Its methods may be called concurrently.
type Component struct {
	Kind kind.Kind
	Type string
	Name string
	// Default is true when it exists without being configured.
	Default bool
	// Capabilities are those of the type, less what was not granted.
	Capabilities []string
	// missing are those that were not granted.
	missing []string
	// Options are the options that the plugin was given.
	Options option.Values

	// masked and stored are its options without any secret, and with those that
	// the HTTP interface shows as they are stored.
	masked, stored map[string]any
	// valid is true when the host found no mistake in its options, so that the plugin got them.
	valid bool
	// section is what it was made of, and bundle holds its type typ, if it is known.
	section config.Component
	bundle  *plugin.Supervisor
	typ     kind.Type
	// references are its options that name others.
	references []naming
	// problems is guarded by the manager.
	problems []config.Problem
	// hostWarnings are what the host finds unusual in its section.
	hostWarnings []string

	mu             sync.Mutex
	state          State
	err            error
	pluginWarnings []string
	// unreachable is why a watcher's engine cannot be reached; nil when it can, as far as is known.
	unreachable error
	// responded is when a watcher's engine did last; zero while it has not.
	responded time.Time
}

func (c *Component) base() *Component { return c }

// ID returns "type.name", as the HTTP interface writes it.
func (c *Component) ID() string { return c.Type + "." + c.Name }

// FullID returns "kind.type.name", as logs and plugins write it.
func (c *Component) FullID() string { return string(c.Kind) + "." + c.ID() }

// State returns whether the component works, and why not: it does when it is
// configured and, for a watcher, its engine can be reached.
func (c *Component) State() (State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stateLocked()
}

// stateLocked is State for callers that hold mu.
func (c *Component) stateLocked() (State, error) {
	if c.state == Ready && c.unreachable != nil {
		return Failed, c.unreachable
	}
	return c.state, c.err
}

// Configured is State without regard to what the component reaches: it may be called when it is Ready.
func (c *Component) Configured() (State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state, c.err
}

// Usable reports whether the component may be called. One whose plugin is down
// is usable, for plugins come back; one whose options are wrong is not.
func (c *Component) Usable() bool {
	_, err := c.Configured()
	var invalid *sdk.InvalidError
	return c.valid && !errors.As(err, &invalid)
}

// Can reports whether the component has a capability, one of the Cap constants of package kind.
func (c *Component) Can(capability string) bool { return slices.Contains(c.Capabilities, capability) }

// View is a component as the HTTP interface shows it.
type View struct {
	ID            string         `json:"id"`
	Type          string         `json:"type"`
	Name          string         `json:"name"`
	Configuration map[string]any `json:"configuration"`
	State         State          `json:"state"`
	Error         string         `json:"error,omitempty"`
	Warnings      []string       `json:"warnings,omitempty"`
	// AsOf is of a watcher that failed, and says how old what is known of its containers is; zero otherwise.
	AsOf sdk.Time `json:"asOf,omitzero"`
}

// View returns the component with every secret masked. Configuration is shared:
// it must not be changed.
func (c *Component) View() View { return c.view(c.masked) }

// StoredView returns the component with those secrets as they are stored that
// clients of the HTTP interface expect so (Mask none), unless Options.MaskAll is
// set. Only operators may see it, see auth.Identity.
func (c *Component) StoredView() View { return c.view(c.stored) }

func (c *Component) view(configuration map[string]any) View {
	c.mu.Lock()
	defer c.mu.Unlock()
	state, err := c.stateLocked()
	v := View{
		ID: c.ID(), Type: c.Type, Name: c.Name, Configuration: configuration, State: state,
		Warnings: slices.Concat(c.hostWarnings, c.pluginWarnings),
	}
	if err != nil {
		v.Error = err.Error()
	}
	return v
}

// configured records the plugin's response to the configuration.
func (c *Component) configured(got pluginclient.Configured, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.state, c.err = Failed, err
		return
	}
	c.state, c.err, c.pluginWarnings = Ready, nil, got.Warnings
}

// fields turns an error of a plugin into one entry per field.
func fields(err error) []sdk.FieldError {
	var invalid *sdk.InvalidError
	if errors.As(err, &invalid) {
		return invalid.Fields
	}
	return []sdk.FieldError{{Detail: err.Error()}}
}
