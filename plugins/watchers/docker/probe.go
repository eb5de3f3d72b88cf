package docker

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
)

// Probe implements sdk.Prober: it lists the containers and describes the engine.
// It costs two requests, and one more where the watcher may update, since a socket
// proxy may still forbid that. Errors are those of List.
func (d *Docker) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	if _, err := d.engine.Containers(ctx, d.all); err != nil {
		return sdk.ProbeResult{}, err
	}
	about, err := d.engine.About(ctx)
	if err != nil || about == "" { // a socket proxy hides it
		about = "an engine at " + d.engine.Endpoint.String()
	}
	result := sdk.ProbeResult{Summary: about}
	if d.engine.Writes() {
		if can, err := d.updater.Capabilities(ctx); err == nil && can.ReadOnly != "" {
			result.Warnings = append(result.Warnings, can.ReadOnly)
		}
	}
	return result, ctx.Err()
}
