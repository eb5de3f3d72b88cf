package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// notified are the updates of which another program notified users.
type notified []update.Notified

func (c *Checker) alreadyNotified(ctx context.Context) (notified, error) {
	if c.opt.AlreadyNotified == nil {
		return nil, nil
	}
	known, err := c.opt.AlreadyNotified(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the updates of earlier notifications: %w", err)
	}
	return known, nil
}

// covers reports whether the update of a container is one of them.
func (n notified) covers(c sdk.Container, d *candidate.Digest) bool {
	var digests []string
	if d != nil {
		digests = d.Inside
	}
	return slices.ContainsFunc(n, func(o update.Notified) bool { return o.Covers(&c, digests) })
}
