// Package watcher is what a watcher plugin implements: finding containers.
package watcher

import (
	"context"
	"reflect"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Watcher finds containers. Its methods are called concurrently.
type Watcher interface {
	// List returns every container that the watcher is configured to see. A
	// container that can only be described in part is returned with its Error set.
	//
	// An error means that the engine could not be reached: the host then keeps what it knew.
	List(ctx context.Context) ([]Container, error)
}

// EventWatcher is a Watcher that notices when something changes.
type EventWatcher interface {
	// Watch calls emit for each engine event until ctx ends, reconnecting by
	// itself without losing events. It returns only when ctx ends or when the engine can have no events.
	Watch(ctx context.Context, emit func(Event)) error
}

// The actions of an Event that the host acts on; others are ignored.
const (
	ActionChanged = "changed" // containers were created, replaced, renamed or removed: list again
	ActionStatus  = "status"  // one container's status is now Event.Status
)

// Event is something that happened to a container.
type Event struct {
	ContainerID string
	Action      string
	Status      string
	At          sdk.Time
}

// Type is one implementation of a watcher, as a bundle lists it.
type Type struct {
	kind.Type
	create func(sdk.Env, map[string]any) (Watcher, error)
}

// Define makes a Type from a constructor. O is its options struct (see package
// option); T is what it returns, whose optional interfaces become capabilities.
func Define[O any, T Watcher](name, summary string, create func(sdk.Env, O) (T, error), settings ...kind.Setting) Type {
	offers := map[string]reflect.Type{
		kind.CapProbe:  reflect.TypeFor[sdk.Prober](),
		kind.CapWatch:  reflect.TypeFor[EventWatcher](),
		kind.CapUpdate: reflect.TypeFor[Updater](),
		kind.CapLogs:   reflect.TypeFor[LogReader](),

		kind.CapPullSecrets: reflect.TypeFor[CredentialProvider](),
	}
	return Type{
		Type: kind.Define[O, T](kind.Watcher, name, summary, offers, settings...),
		create: func(env sdk.Env, raw map[string]any) (Watcher, error) {
			o, err := option.Decode[O](raw)
			if err != nil {
				return nil, err
			}
			return create(env, o)
		},
	}
}

// AttributesLabels says that the watcher tells the labels that come from images from
// those of the user who created the containers: see Container.ImageLabels. Labels of other
// watchers count as those of images, which may say little about updates.
func AttributesLabels() kind.Setting {
	return func(t *kind.Type) { t.Capabilities = append(t.Capabilities, kind.CapLabels) }
}

// New makes an instance. Wrong options are an *sdk.InvalidError naming them.
func (t Type) New(env sdk.Env, options map[string]any) (Watcher, error) {
	return t.create(env, options)
}
