package decision

import (
	"context"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
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

// covers reports whether the update of a container is one of them. behind is what is known of the digest behind its
// tag; nil for nothing.
func (n Notified) covers(c *sdk.Container, behind *candidate.Digest) bool {
	var digests []string
	if behind != nil {
		digests = behind.Inside
	}
	return slices.ContainsFunc(n, func(o update.Notified) bool { return o.Covers(c, digests) })
}
