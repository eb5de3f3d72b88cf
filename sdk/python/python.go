// Package python is the helper for plugins in Python: its files, which "dogwatch plugin
// new" copies into the folder of a plugin.
package python

import "embed"

// Files are the package dogwatch_plugin.
//
//go:embed dogwatch_plugin/*.py dogwatch_plugin/protocol.binpb README.md
var Files embed.FS
