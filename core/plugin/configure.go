package plugin

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
)

// instance is one configured component that lives in the bundle.
type instance struct {
	spec   pluginclient.Instance
	notify func(pluginclient.Configured, error)

	mu   sync.Mutex
	proc *process // the process that configured it last
}

// Configure keeps an instance configured from now on, in this process and in
// each that follows. notify gets the outcome each time; it must not block.
func (s *Supervisor) Configure(spec pluginclient.Instance, notify func(pluginclient.Configured, error)) {
	in := &instance{spec: spec, notify: notify}
	s.mu.Lock()
	s.instances = append(s.instances, in)
	s.want()
	// While a process configures the instances that were there, it does not count as running yet.
	proc, blocked := s.proc, s.err
	if s.state == Stopped || s.state == Starting || s.state == Running {
		blocked = nil
	}
	s.mu.Unlock()
	switch {
	case proc != nil && !proc.confined.covers(s.host, spec):
		s.Restart() // as a process that may do what this instance needs
	case proc != nil:
		s.configure(s.host.life, proc, in)
	case blocked != nil:
		notify(pluginclient.Configured{}, unavailable(fmt.Errorf("plugin %s is %s: %w", s.bundle.name, s.Status().State, blocked)))
	}
}

// configure has process p configure an instance, once.
func (s *Supervisor) configure(ctx context.Context, p *process, in *instance) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.proc == p {
		return
	}
	timed, cancel := context.WithTimeout(ctx, configureTimeout)
	defer cancel()
	got, err := p.client.Configure(timed, in.spec)
	if ctx.Err() != nil {
		return // the end of the caller says nothing about the component
	}
	in.proc = p
	for i, warning := range got.Warnings {
		got.Warnings[i] = s.host.opt.Redact(warning)
	}
	in.notify(got, s.host.redacted(p.explainIsolation(s.bundle.name, err)))
}

// reconfigure configures an instance again that a process does not know.
func (s *Supervisor) reconfigure(ctx context.Context, p *process, id string) {
	s.mu.Lock()
	var in *instance
	for _, have := range s.instances {
		if have.spec.ID == id {
			in = have
		}
	}
	s.mu.Unlock()
	if in == nil {
		return
	}
	in.mu.Lock()
	in.proc = nil
	in.mu.Unlock()
	s.configure(ctx, p, in)
}

// notifyAll reports to every instance that it is not available.
func (s *Supervisor) notifyAll(err error) {
	s.mu.Lock()
	all := slices.Clone(s.instances)
	s.mu.Unlock()
	for _, in := range all {
		in.notify(pluginclient.Configured{}, err)
	}
}
