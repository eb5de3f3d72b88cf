package mqtt

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
)

// Probe implements sdk.Prober: it connects to the broker and publishes nothing. The
// connection has a client identifier of its own, since a broker ends an earlier one
// of the same identifier, and no will.
func (m *mqtt) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	c := &connection{broker: m.connection.broker, qos: m.connection.qos, semaphore: make(chan struct{}, 1)}
	if c.broker.clientID != "" {
		c.broker.clientID += "_probe"
	}
	_, leave, err := c.use(ctx)
	if err != nil {
		return sdk.ProbeResult{}, err
	}
	leave()
	return sdk.ProbeResult{Summary: "the broker at " + m.connection.broker.String() + " accepts the connection"}, nil
}
