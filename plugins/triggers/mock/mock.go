// Package mock writes to the log what another trigger would send.
package mock

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Options configures one mock trigger.
type Options struct {
	Mock string `option:"mock" default:"mock" help:"Any text; it appears beside the message in the log"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("mock", "Writes messages to the log, for trying things out", New)
}

type mock struct {
	log  hclog.Logger
	mock string
}

// New returns a trigger that only logs.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	return &mock{log: env.Log, mock: o.Mock}, nil
}

// Run logs the message; it cannot fail.
func (m *mock) Run(_ context.Context, req trigger.Request) error {
	m.log.Info("triggered", "mock", m.mock, "title", req.Title, "body", req.Body, "containers", len(req.Containers))
	return nil
}
