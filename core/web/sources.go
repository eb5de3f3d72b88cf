package web

import (
	"context"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Component is a configured watcher, registry or trigger as pages show it:
// secrets are masked, and errors hold none.
type Component struct {
	Kind kind.Kind
	Type string
	Name string
	// Summary is what its type does, DocsURL where the vendor says more.
	Summary string
	DocsURL string
	// Default is true when it exists without being configured.
	Default bool
	// State is "starting", "ready" or "failed"; Error says why it failed.
	State    string
	Error    string
	Warnings []string
	Options  []Setting
	// Hosts are what a registry serves, Limits what its hosts allow.
	Hosts  []string
	Limits []Limit
	// Next is when a watcher is checked next; zero when that is not planned.
	Next time.Time
}

// ID returns "smtp.main".
func (c Component) ID() string { return c.Type + "." + c.Name }

// Key returns "trigger.smtp.main".
func (c Component) Key() string { return string(c.Kind) + "." + c.ID() }

// Setting is one option of a component, or one setting of the program.
type Setting struct {
	// Name is the dotted name within its component: "tls.verify".
	Name string
	// Value is masked if it is a secret.
	Value  string
	Help   string
	Secret bool
	// Source is where it was written; "default" when nowhere.
	Source string
}

// Given reports whether somebody wrote it.
func (s Setting) Given() bool { return s.Source != "default" }

// Limit is what a host lets a registry ask.
type Limit struct {
	Host string
	// Limit is how many requests the window has, Remaining how many are left;
	// Limit is 0 when the host does not say.
	Limit, Remaining int64
	Window           time.Duration
	// At is when the host said so; PausedUntil is zero when it may be asked now.
	At, PausedUntil time.Time
}

// Trial is what trying a component came to.
type Trial struct {
	// Title and Body are what was rendered for a trigger.
	Title, Body string
	// Warnings are what the templates of a trigger misspell.
	Warnings []string
	// Answer says in words what was learnt; Error why it does not work.
	Answer string
	Error  string
	Took   time.Duration
}

// Setup tells of what is configured, and tries it. Its methods may be called concurrently.
type Setup interface {
	// List returns the components of a kind by type and name, without Limits.
	List(k kind.Kind) []Component
	// Get returns one of them with its Limits, whatever the letter case of type and name.
	Get(ctx context.Context, k kind.Kind, typ, name string) (Component, bool)
	// Preview renders a trigger's message for sample containers and sends nothing.
	Preview(ctx context.Context, typ, name string) (title, body string, err error)
	// Try tries a component for real: a trigger sends a sample, a registry is asked
	// for an image (one of its own choice when image is ""), a watcher for its containers.
	Try(ctx context.Context, k kind.Kind, typ, name, image string) (Trial, bool)
}

// Plugin is a bundle and its process.
type Plugin struct {
	Name    string
	Builtin bool
	// State is one of stopped, starting, running, backoff, broken, untrusted and rejected.
	State   string
	Error   string
	Version string
	// Types are what it holds: "trigger smtp".
	Types    []string
	Grants   []string
	PID      int
	Restarts int
	// SHA256 is of its file when it was looked at last, of one that was refused, too.
	SHA256 string
	Since  time.Time
	// Memory is what its process occupies, in bytes; 0 when that is not known.
	Memory int64
}

// Processes are the plugins, and control of them.
type Processes interface {
	All() []Plugin
	// Restart reports whether there is such a plugin.
	Restart(name string) bool
	// Trust accepts the file of a plugin with the checksum that a page showed. The error says why not.
	Trust(ctx context.Context, name, sha256 string) (known bool, err error)
}

// ErrNotFailed is returned for a delivery that cannot be retried, since it has not failed.
var ErrNotFailed = errors.New("the delivery has not failed")

// Archive is what happened and what is owed to triggers.
type Archive interface {
	History(ctx context.Context, f event.Filter) ([]event.Event, error)
	// Deliveries returns up to limit deliveries below the id before, newest first.
	Deliveries(ctx context.Context, state, trigger string, before int64, limit int) ([]delivery.Delivery, error)
	// Retry owes a failed delivery again. It returns an sdk.ErrNotFound when there
	// is none with this id, and ErrNotFailed when it has not failed.
	Retry(ctx context.Context, id int64) error
}

// About is what the settings page tells of the program.
type About struct {
	Version string
	// ConfigFile is the file that was read; "" when there is none.
	ConfigFile string
	// Settings are those of the program itself, secrets masked.
	Settings []Setting
	// Problems are what is wrong with the configuration, in words.
	Problems []string
	Started  time.Time
	// Demo is true when the engine and the registries are simulated.
	Demo bool
}
