package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// told are the updates that another program told people of.
type told []update.Notified

func (c *Checker) told(ctx context.Context) (told, error) {
	if c.opt.Told == nil {
		return nil, nil
	}
	known, err := c.opt.Told(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was told before: %w", err)
	}
	return known, nil
}

// has reports whether the update of a container is one of them. A digest may
// have been told as that of the whole index, or of what it holds for the
// container's platform.
func (t told) has(c sdk.Container, d *digestResponse) bool {
	var digests []string
	if d != nil {
		digests = d.inside
	}
	return slices.ContainsFunc(t, func(n update.Notified) bool { return n.Covers(&c, digests) })
}
