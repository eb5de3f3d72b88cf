// Package kind describes what a bundle holds: types of the three kinds, with
// their options and abilities.
package kind

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// Kind is what a type does.
type Kind string

// The kinds.
const (
	Watcher  Kind = "watcher"
	Registry Kind = "registry"
	Trigger  Kind = "trigger"
)

// Kinds are all kinds, in the order in which they appear to users.
func Kinds() []Kind { return []Kind{Watcher, Registry, Trigger} }

// The capabilities a type can have. Some it offers, by the interfaces that it
// implements. The others it needs of the host (see Needs), which grants them to a
// third party only when the operator says so.
const (
	CapProbe       = "probe"       // every kind offers it: an instance reports whether it can do its work
	CapWatch       = "watch"       // watchers offer it: they report engine events
	CapUpdate      = "update"      // watchers offer it: they replace containers by others with another image
	CapLogs        = "logs"        // watchers offer it: they read what containers have written
	CapPullSecrets = "pullsecrets" // watchers offer it: they know what their engine pulls an image with
	CapLabels      = "labels"      // watchers say it of themselves: they tell an image's labels from the operator's
	CapCredentials = "credentials" // registries offer it: they grant credentials; triggers need it
	CapLimits      = "limits"      // registries offer it: they report what their hosts allow
	CapConfig      = "config"      // registries offer it: they read the configuration of images
	CapTags        = "tags"        // registries offer it: they say what is behind tags without a pull
	CapStateStream = "follow"      // triggers offer it: they subscribe to the state stream; the word is that of protocol 1
	// triggers need it: how to reach the watcher's engine; watchers need it that reach an engine by its socket
	CapEngine   = "engine"
	CapFiles    = "files"    // any kind may need it: to use files as Dogwatch does, not only those that its options name
	CapRun      = "run"      // subscribers need it: to have other triggers run
	CapDecide   = "decide"   // subscribers need it: to decide about updates for their users
	CapOperate  = "operate"  // triggers need it: to have containers updated
	CapDevices  = "devices"  // triggers need it: the devices subscribed for Web Push, which no third party gets
	CapMessages = "messages" // triggers say it of themselves: users read what they send, see Messages
	// triggers say it of themselves: they open pull requests, see Proposes
	CapProposals = "proposals"
)

// Type describes one implementation of a kind.
type Type struct {
	Kind    Kind
	Name    string
	Summary string
	DocsURL string
	Options option.Schema
	// Capabilities are the Cap… words that apply.
	Capabilities []string
	// Guarantee is that of a trigger; the zero value means AtLeastOnce.
	Guarantee Guarantee
	// DefaultName is the name of the instance that exists without configuration; "" when there is none.
	DefaultName string
}

// Setting changes a Type while it is defined.
type Setting func(*Type)

// Docs links the type's documentation.
func Docs(url string) Setting { return func(t *Type) { t.DocsURL = url } }

// Default makes an instance called name exist without configuration.
func Default(name string) Setting { return func(t *Type) { t.DefaultName = name } }

// Needs asks the host for a capability.
func Needs(capability string) Setting {
	return func(t *Type) { t.Capabilities = append(t.Capabilities, capability) }
}

// Messages says that users read what a trigger sends. They want to know how an update
// ended, too: unless a user sets events, the trigger gets the events of operations.
func Messages() Setting {
	return func(t *Type) { t.Capabilities = append(t.Capabilities, CapMessages) }
}

// Proposes says that a trigger opens a pull request that changes the image where it is written, in the repository of
// its option repository: plans of containers that their watcher leaves to others name it.
func Proposes() Setting { return Needs(CapProposals) }

var nameForm = regexp.MustCompile(`^[a-z0-9]+$`)

// Define builds the description of a type whose options are O and which is
// implemented by T; offers maps a capability to the interface that provides it.
// It panics when the declaration is wrong: that is a mistake in the plugin's
// code which no user could mend.
func Define[O, T any](k Kind, name, summary string, offers map[string]reflect.Type, settings ...Setting) Type {
	options, err := option.Of[O]()
	if err == nil && !nameForm.MatchString(name) {
		err = fmt.Errorf("a type's name has only a-z and 0-9")
	}
	if err == nil && summary == "" {
		err = fmt.Errorf("a type needs a summary")
	}
	if err != nil {
		panic(fmt.Sprintf("define %s %q: %v", k, name, err))
	}
	t := Type{Kind: k, Name: name, Summary: summary, Options: options, Guarantee: AtLeastOnce}
	for _, capability := range slices.Sorted(maps.Keys(offers)) {
		if impl := reflect.TypeFor[T](); impl.Implements(offers[capability]) {
			t.Capabilities = append(t.Capabilities, capability)
		}
	}
	for _, set := range settings {
		set(&t)
	}
	return t
}
