package updater

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// blockReadOnly is the block of a watcher whose engine, or the proxy before it, takes no changes.
const blockReadOnly = "engine.readonly"

// Paste returns the lines that take blocks away; nothing where no lines do.
func Paste(blocks []watcher.Reason) config.Paste {
	if !slices.ContainsFunc(blocks, func(b watcher.Reason) bool { return b.Code == blockReadOnly }) {
		return config.Paste{}
	}
	return config.Paste{Docs: config.Docs("updating.md#socket-proxy"), Lines: []config.Lines{{
		Where: "In the compose file, for the proxy before the engine if it is that of tecnativa, then docker compose up -d",
		Text:  "services:\n  engine:\n    environment: { CONTAINERS: 1, IMAGES: 1, NETWORKS: 1, POST: 1 }\n",
	}}}
}
