// Package parts puts a Dogwatch together, one that serves as well as one that carries out a command: a list of its
// parts, which run together and are closed in the opposite order, and those parts that both have in common.
package parts

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Part is something that runs, or is to be closed, or both.
type Part struct {
	// Name stands before the errors of Run.
	Name string
	// Needs, if set, waits for what Run needs, or returns an error once ctx has ended: Run is not called then.
	Needs func(ctx context.Context) error
	// Run, if set, runs until ctx ends.
	Run func(ctx context.Context) error
	// Close, if set, releases what was opened to make the part.
	Close func()
}

// List has parts in the order in which they were made, each after those that it uses. It is for one goroutine.
type List struct{ all []Part }

// Add adds a part.
func (l *List) Add(p Part) { l.all = append(l.all, p) }

// Run runs the parts of some names, all when none is given, each in a goroutine of its own. It returns when all have
// ended: once ctx ends, or one of them returns an error, which is returned.
func (l *List) Run(ctx context.Context, names ...string) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range l.all {
		if p.Run != nil && (len(names) == 0 || slices.Contains(names, p.Name)) {
			g.Go(func() error { return p.run(ctx) })
		}
	}
	return g.Wait()
}

func (p Part) run(ctx context.Context) error {
	if p.Needs != nil && p.Needs(ctx) != nil {
		return nil
	}
	if err := p.Run(ctx); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

// Close closes the parts, the last first. It does nothing when it is called again.
func (l *List) Close() {
	for _, p := range slices.Backward(l.all) {
		if p.Close != nil {
			p.Close()
		}
	}
	l.all = nil
}
