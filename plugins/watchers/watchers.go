// Package watchers lists the watcher types that come with Dogwatch.
package watchers

import (
	"github.com/dogwatch/dogwatch/plugins/watchers/docker"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Types returns every built-in watcher type, in alphabetical order.
func Types() []watcher.Type {
	return []watcher.Type{
		docker.Type(),
	}
}
