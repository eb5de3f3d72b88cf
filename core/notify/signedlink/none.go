package signedlink

import (
	"context"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// ErrNone: messages have no links.
var ErrNone = sdk.WithKind(sdk.ErrUnsupported,
	errors.New("messages have no links: set public.url, and leave links.enabled as it is"))

// None are the Links of a Dogwatch whose messages have none. What needs one returns ErrNone.
type None struct{}

func (None) Enabled() bool                                        { return false }
func (None) For(string, *sdk.Container) []trigger.Action          { return nil }
func (None) Sample(*sdk.Container) []trigger.Action               { return nil }
func (None) Revoke(context.Context, string, ...event.Event) error { return ErrNone }
func (None) Show(context.Context, string) (Shown, error)          { return Shown{}, ErrNone }
func (None) Redeem(context.Context, string, choice.Kind, time.Time) (Shown, error) {
	return Shown{}, ErrNone
}
