package link

import (
	"context"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// ErrNone: messages have no links.
var ErrNone = sdk.WithKind(sdk.ErrUnsupported,
	errors.New("messages have no links: set public.url, and leave links.enabled as it is"))

// None are the Links of a Dogwatch whose messages have none.
type None struct{}

// Enabled returns false.
func (None) Enabled() bool { return false }

// For returns none.
func (None) For(string, *sdk.Container) []trigger.Action { return nil }

// Sample returns none.
func (None) Sample(*sdk.Container) []trigger.Action { return nil }

// Revoke returns ErrNone.
func (None) Revoke(context.Context, string, ...event.Event) error { return ErrNone }

// Show returns ErrNone.
func (None) Show(context.Context, string) (Shown, error) { return Shown{}, ErrNone }

// Redeem returns ErrNone.
func (None) Redeem(context.Context, string, policy.ChoiceKind, time.Time) (Shown, error) {
	return Shown{}, ErrNone
}
