// Command dogwatch-kubernetes is a Dogwatch plugin with one type of watcher, "kubernetes", which lists the workloads of
// a Kubernetes cluster.
package main

import (
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Watchers: []watcher.Type{kubernetes.Type()}})
}
