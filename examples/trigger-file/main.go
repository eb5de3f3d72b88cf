// Command trigger-file is a Dogwatch plugin with one type of trigger, "file".
package main

import (
	"github.com/dogwatch/dogwatch/examples/trigger-file/file"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{file.Type()}})
}
