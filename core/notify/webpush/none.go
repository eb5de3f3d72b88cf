package webpush

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// None is a trigger of type webpush where there are no devices: in a command that does not run the server.
type None struct{}

// Run implements trigger.Trigger.
func (None) Run(context.Context, trigger.Request) error {
	return sdk.WithRemedy(sdk.WithKind(sdk.ErrUnsupported, errors.New("this command does not know the devices")),
		"send a test on the page Settings, Notifications")
}
