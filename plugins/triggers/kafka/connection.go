package kafka

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/dogwatch/dogwatch/sdk"
)

// connection holds the client that deliveries share: made for the first of
// them, and made anew after one was given up. It is safe for concurrent use.
type connection struct {
	options []kgo.Opt

	mu     sync.Mutex
	client *client // nil while there is none
	closed bool
}

// use calls do with the client, and again with another one when the deadline
// of another call ended the first.
func (c *connection) use(ctx context.Context, do func(*client) error) error {
	for {
		shared, err := c.get()
		if err != nil {
			return err
		}
		err = c.with(ctx, shared, do)
		if err == nil || ctx.Err() != nil || !c.replaced(shared) {
			return err
		}
	}
}

// with calls do. When ctx ends first, the client is closed: the library waits
// for a broker that keeps silent while a connection is set up, whatever the context says.
func (c *connection) with(ctx context.Context, shared *client, do func(*client) error) error {
	dropped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(dropped)
		c.drop(shared)
	})
	err := do(shared)
	if !stop() {
		<-dropped
	}
	return err
}

func (c *connection) get() (*client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, kgo.ErrClientClosed
	}
	if c.client == nil {
		fresh := &client{}
		var err error
		if fresh.Client, err = kgo.NewClient(append(slices.Clip(c.options), kgo.WithHooks(fresh))...); err != nil {
			return nil, sdk.Invalid("brokers", "cannot be used: %v", err)
		}
		c.client = fresh
	}
	return c.client, nil
}

// drop closes a client, which ends whatever it does.
func (c *connection) drop(used *client) {
	c.mu.Lock()
	if c.client == used {
		c.client = nil
	}
	c.mu.Unlock()
	used.Close()
}

// end closes the client for good.
func (c *connection) end() {
	c.mu.Lock()
	c.closed = true
	last := c.client
	c.client = nil
	c.mu.Unlock()
	if last != nil {
		last.Close()
	}
}

// replaced reports whether used was dropped while deliveries go on.
func (c *connection) replaced(used *client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && c.client != used
}

// client is a client that knows which broker it could not reach last.
type client struct {
	*kgo.Client

	mu     sync.Mutex
	failed error
}

// OnBrokerConnect is called for each attempt to connect.
func (c *client) OnBrokerConnect(broker kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		err = fmt.Errorf("broker %s: %w", net.JoinHostPort(broker.Host, fmt.Sprint(broker.Port)), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

// lastFailure is why the last connection failed, nil when it did not.
func (c *client) lastFailure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}
