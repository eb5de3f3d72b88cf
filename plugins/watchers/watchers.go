// Package watchers lists the watcher types that are built into Dogwatch.
package watchers

import (
	"github.com/dogwatch/dogwatch/plugins/watchers/docker"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Env returns the names of the environment variables that the built-in watchers read.
func Env() []string { return docker.Env() }

// Types returns every built-in watcher type, in alphabetical order.
func Types() []watcher.Type {
	return []watcher.Type{
		docker.Type(),
		kubernetes.Type(),
		nomad.Type(),
		docker.SwarmType(),
	}
}
