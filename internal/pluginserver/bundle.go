package pluginserver

import (
	"fmt"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Bundle is what a server serves: plugin.Bundle converts to it.
type Bundle struct {
	Version    string
	Watchers   []watcher.Type
	Registries []registry.Type
	Triggers   []trigger.Type
}

// Types returns the descriptions of everything in the bundle, in its order.
func (b Bundle) Types() []kind.Type {
	var types []kind.Type
	for _, t := range b.Watchers {
		types = append(types, t.Type)
	}
	for _, t := range b.Registries {
		types = append(types, t.Type)
	}
	for _, t := range b.Triggers {
		types = append(types, t.Type)
	}
	return types
}

// check refuses a bundle with two types of one kind and name.
func (b Bundle) check() error {
	seen := map[typeKey]bool{}
	for _, t := range b.Types() {
		key := typeKey{t.Kind, t.Name}
		if seen[key] {
			return fmt.Errorf("the bundle lists %s type %q twice", t.Kind, t.Name)
		}
		seen[key] = true
	}
	return nil
}

type typeKey struct {
	kind kind.Kind
	name string
}
