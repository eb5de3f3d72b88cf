package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// told are the updates that another program told people of.
type told []delivery.Told

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
func (t told) has(c sdk.Container, d *digestAnswer) bool {
	offers := []string{c.UpdateKind.RemoteValue}
	if c.UpdateKind.Kind == sdk.KindDigest && d != nil {
		offers = append(offers, d.inside...)
	}
	return slices.ContainsFunc(t, func(o delivery.Told) bool {
		same := o.Container == c.ID || o.Subject == event.Subject(c)
		return same && o.Tag == c.Image.Tag.Value && o.Remote != "" && slices.Contains(offers, o.Remote)
	})
}
