package decision

import (
	"context"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// Notified are the updates of which another program notified users.
type Notified []update.Notified

// Notified returns the updates that need no event.
func (d *Decisions) Notified(ctx context.Context) (Notified, error) {
	if d.opt.AlreadyNotified == nil {
		return nil, nil
	}
	known, err := d.opt.AlreadyNotified(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the updates of earlier notifications: %w", err)
	}
	return known, nil
}

// covers reports whether the update of a container is one of them. inside are the digests of its new image, where they
// are known.
func (n Notified) covers(c *sdk.Container, inside []string) bool {
	return slices.ContainsFunc(n, func(o update.Notified) bool { return o.Covers(c, inside) })
}
