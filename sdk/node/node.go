// Package node is the helper for plugins in JavaScript: its files, which "dogwatch plugin
// new" copies into the folder of a plugin.
package node

import "embed"

// Files are the modules of the helper.
//
//go:embed *.js package.json README.md
var Files embed.FS
