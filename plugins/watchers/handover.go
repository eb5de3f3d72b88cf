package watchers

import (
	"context"
	"io"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker"
)

// Handover is the main function of a helper container, in which a watcher replaces the
// container that Dogwatch runs in. The steps that it takes are written to out.
func Handover(ctx context.Context, out io.Writer) error { return docker.Handover(ctx, out) }
