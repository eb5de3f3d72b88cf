// Package proto holds the protos of the plugin protocol, and of what it needs besides,
// for plugins in other languages than Go.
package proto

import "embed"

// Files are the protos, below v1.
//
//go:embed v1/*.proto
var Files embed.FS
