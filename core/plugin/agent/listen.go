package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
)

// Listen takes connections of agents at a TCP address until ctx ends, for those that dial tcp://HOST:PORT. The TLS
// inside is that of all links. It returns an error when the address cannot be had.
func (c *Controller) Listen(ctx context.Context, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen for agents on %s (set by agents.listen): %w", address, err)
	}
	c.opt.Log.Info("listening for agents", "address", l.Addr().String())
	c.accept(ctx, l)
	return nil
}

// accept serves the connections of a listener, and closes both when ctx ends.
func (c *Controller) accept(ctx context.Context, l net.Listener) {
	var wait sync.WaitGroup
	defer wait.Wait()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	pauses := backoff.Pauses{First: 5 * time.Millisecond, Longest: time.Second}
	for failures := 1; ctx.Err() == nil; {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files
			c.opt.Log.Warn("accept a connection of an agent", "error", err)
			_ = backoff.Wait(ctx, pauses.After(failures))
			failures++
			continue
		}
		failures = 1
		address := conn.RemoteAddr().String()
		if host, _, err := net.SplitHostPort(address); err == nil {
			address = host
		}
		wait.Go(func() {
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			c.Serve(conn, address)
		})
	}
}
