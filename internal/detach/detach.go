// Package detach runs work to its end although its caller may stop waiting for
// it: a check goes on when the client that asked for it closes the connection.
package detach

import (
	"context"
	"errors"
	"sync"
)

// ErrStopping is returned for work that comes after Group.Stop.
var ErrStopping = errors.New("dogwatch is stopping")

// Run runs fn in a goroutine of its own and returns what it returns, or the
// error of ctx when ctx ends first. fn runs on then, and its error is lost: work
// that a shutdown must wait for is run by a Group.
func Run(ctx context.Context, fn func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- fn() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Group is work that a graceful shutdown waits for. The zero Group is ready to
// use. Its methods may be called concurrently.
type Group struct {
	mu       sync.Mutex
	stopping bool
	running  sync.WaitGroup
}

// Do runs fn and returns what it returns; ErrStopping, without running it, after Stop.
func (g *Group) Do(fn func() error) error {
	g.mu.Lock()
	if g.stopping {
		g.mu.Unlock()
		return ErrStopping
	}
	g.running.Add(1)
	g.mu.Unlock()
	defer g.running.Done()
	return fn()
}

// Run does what Do does, but waits for fn only until ctx ends, as the function Run.
func (g *Group) Run(ctx context.Context, fn func() error) error {
	return Run(ctx, func() error { return g.Do(fn) })
}

// Stop lets no more work begin and waits for what is running.
func (g *Group) Stop() {
	g.mu.Lock()
	g.stopping = true
	g.mu.Unlock()
	g.running.Wait()
}
