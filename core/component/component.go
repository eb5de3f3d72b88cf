// Package component turns configuration sections into configured instances of
// plugins: it checks them against the schema of their type, hands them to
// their bundle, and knows which registry serves which host.
package component

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// State is whether a component can be used.
type State string

// The states of a component.
const (
	Pending State = "starting" // its plugin has not answered yet
	Ready   State = "ready"
	Failed  State = "failed" // its configuration is wrong, its plugin cannot run, or a watcher's engine cannot be reached
	// Unsupported is that of a type which this version does not have yet, though
	// configurations do: nothing is wrong, and nothing happens.
	Unsupported State = "unsupported"
)

// Component is one configured instance.
type Component struct {
	Kind kind.Kind
	Type string
	Name string
	// Default is true when it exists without being configured.
	Default bool
	// Watcher or Trigger are the core's options, for components of those kinds.
	Watcher WatcherOptions
	Trigger TriggerOptions
	// Delivery is whether a trigger's calls may be repeated.
	Delivery kind.Delivery
	// Capabilities are those of the type, less what was not granted.
	Capabilities []string
	// Options are the options that the plugin was given.
	Options option.Values

	plugin.Instance
	// masked and stored are its options without any secret, and with those that
	// the HTTP interface shows as they are stored.
	masked, stored map[string]any
	// handed is true when its options were right and its plugin was told of it.
	handed bool
	// oddities are what the host finds strange in its section.
	oddities []string

	mu       sync.Mutex
	state    State
	err      error
	warnings []string // of the plugin
	hosts    []registry.Host
	// unreachable is why what it watches cannot be reached; nil when it can, as far as is known.
	unreachable error
}

// ID returns "type.name", as the HTTP interface writes it.
func (c *Component) ID() string { return c.Type + "." + c.Name }

// FullID returns "kind.type.name", as logs and plugins write it.
func (c *Component) FullID() string { return string(c.Kind) + "." + c.ID() }

// State returns whether the component works, and why not: it does when it is
// configured and, for a watcher, its engine can be reached.
func (c *Component) State() (State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.condition()
}

// condition is State for those who hold mu.
func (c *Component) condition() (State, error) {
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

// SetReached records whether what a watcher watches can be reached, and reports
// whether its State is another one now.
func (c *Component) SetReached(err error) (changed bool) {
	if err != nil { // whoever shows it names the component already
		err = errors.New(strings.TrimPrefix(err.Error(), c.FullID()+": "))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	state, before := c.condition()
	c.unreachable = err
	now, after := c.condition()
	return state != now || before != nil && after != nil && before.Error() != after.Error()
}

// Usable reports whether the component may be called. One whose plugin is down
// is usable, for plugins come back; one whose options are wrong is not.
func (c *Component) Usable() bool {
	_, err := c.Configured()
	var invalid *sdk.InvalidError
	return c.handed && !errors.As(err, &invalid)
}

// Hosts returns the hosts that a registry serves, as its plugin said.
func (c *Component) Hosts() []registry.Host {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hosts
}

// View is a component as the HTTP interface shows it.
type View struct {
	ID            string         `json:"id"`
	Type          string         `json:"type"`
	Name          string         `json:"name"`
	Configuration map[string]any `json:"configuration"`
	State         State          `json:"state"`
	Error         string         `json:"error,omitempty"`
	Warnings      []string       `json:"warnings,omitempty"`
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
	state, err := c.condition()
	v := View{ID: c.ID(), Type: c.Type, Name: c.Name, Configuration: configuration, State: state, Warnings: slices.Concat(c.oddities, c.warnings)}
	if err != nil && state != Unsupported { // of which a warning tells
		v.Error = err.Error()
	}
	return v
}

// configured takes the plugin's answer. A failure of the plugin's process, as
// opposed to wrong options, leaves the hosts as they were: the component comes back with its plugin.
func (c *Component) configured(got pluginclient.Configured, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.state, c.err = Failed, err
		return
	}
	c.state, c.err, c.warnings, c.hosts = Ready, nil, got.Warnings, got.Hosts
}

// fields turns an error of a plugin into one entry per field.
func fields(err error) []sdk.FieldError {
	var invalid *sdk.InvalidError
	if errors.As(err, &invalid) {
		return invalid.Fields
	}
	return []sdk.FieldError{{Detail: err.Error()}}
}
