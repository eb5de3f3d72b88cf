package notes

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
)

// None are the notes of a Dogwatch that reads none.
type None struct{}

// Enabled returns false.
func (None) Enabled() bool { return false }

// Of says where notes are switched off.
func (None) Of(context.Context, *sdk.Container) Notes {
	return Notes{Notes: []Note{}, Reason: "release notes are switched off by notes.enabled"}
}

// Known is Of.
func (n None) Known(ctx context.Context, c *sdk.Container) Notes { return n.Of(ctx, c) }
