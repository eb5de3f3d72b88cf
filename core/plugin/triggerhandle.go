package plugin

import (
	"context"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// TriggerHandle is a configured trigger as the core calls it. It implements
// trigger.Trigger and trigger.Subscriber.
type TriggerHandle struct{ handle }

// Trigger returns the handle of a trigger in this bundle.
func (s *Supervisor) Trigger(id string) TriggerHandle { return TriggerHandle{handle{id: id, s: s}} }

// Probe asks the trigger whether it can do its work; see sdk.Prober. Nothing is sent.
func (t TriggerHandle) Probe(ctx context.Context) (sdk.ProbeResult, error) {
	return t.probe(ctx, "", probeTimeout, sdk.ProbeRequest{})
}

// Run implements trigger.Trigger. It is never repeated here: whether a call
// whose outcome was lost may be repeated is the dispatcher's decision.
func (t TriggerHandle) Run(ctx context.Context, req trigger.Request) error {
	return t.call(ctx, "Run", "", triggerTimeout, noRetry, func(ctx context.Context, c *pluginclient.Client) error {
		return c.Trigger(t.id).Run(ctx, req)
	})
}

// Subscribe implements trigger.Subscriber. It returns when ctx ends or the plugin stops.
func (t TriggerHandle) Subscribe(ctx context.Context, w trigger.StateStream) error {
	return t.call(ctx, "Follow", "", 0, noRetry, func(ctx context.Context, c *pluginclient.Client) error {
		return c.Trigger(t.id).Subscribe(ctx, w)
	})
}
