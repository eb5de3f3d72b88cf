package plugin

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// instance is one configured component that lives in the bundle.
type instance struct {
	spec   pluginclient.Instance
	notify func(pluginclient.Configured, error)

	mu   sync.Mutex
	proc *process // the process that configured it last
	// released is true once another instance has its ID, or none.
	released bool
	// outcome is how its last configuration ended.
	outcome string
	// limits are those of its registry before its bundle fell asleep last; guarded by Supervisor.mu.
	limits []registry.Limit
}

// Configure keeps an instance configured from now on, in this process and in
// each that follows. It replaces the instance of the same ID, whose calls under
// way are let finish. notify gets the outcome each time; it must not block.
func (s *Supervisor) Configure(spec pluginclient.Instance, notify func(pluginclient.Configured, error)) {
	in := &instance{spec: spec, notify: notify}
	before := s.forget(spec.ID)
	before.release()
	if s.bundle.remote != nil {
		s.mu.Lock()
		s.instances = append(s.instances, in)
		s.mu.Unlock()
		notify(pluginclient.Configured{}, nil) // its process is configured when it comes
		return
	}
	s.mu.Lock()
	s.instances = append(s.instances, in)
	s.want()
	// While a process configures the instances that were there, it does not count as running yet.
	proc, blocked := s.hold(), s.err
	if s.state == Stopped || s.state == Starting || s.state == Running {
		blocked = nil
	}
	s.mu.Unlock()
	defer s.letGo(proc, noRetry)
	switch {
	case proc != nil && !proc.confined.covers(s.host, spec):
		s.Restart() // as a process that may do what this instance needs
	case proc != nil:
		s.configure(s.life, proc, in)
	case blocked != nil:
		notify(pluginclient.Configured{},
			unavailable(fmt.Errorf("plugin %s is %s: %w", s.bundle.name, s.Status().State.Word(), blocked)))
	}
}

// configure has process p configure an instance, once.
func (s *Supervisor) configure(ctx context.Context, p *process, in *instance) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.proc == p || in.released {
		return
	}
	timed, cancel := context.WithTimeout(ctx, configureTimeout)
	defer cancel()
	got, err := p.client.Configure(timed, in.spec)
	if ctx.Err() != nil {
		return // the end of the caller says nothing about the component
	}
	in.proc = p
	s.mu.Lock()
	woken, before := s.asleep, in.outcome
	s.mu.Unlock()
	if in.outcome = fmt.Sprint(err); woken && in.outcome == before {
		return // what was known before the bundle fell asleep is no news
	}
	for i, warning := range got.Warnings {
		got.Warnings[i] = s.host.opt.Redact(warning)
	}
	in.notify(got, s.host.redacted(p.explainIsolation(s.bundle.name, err)))
}

// reconfigure configures an instance again that a process does not know.
func (s *Supervisor) reconfigure(ctx context.Context, p *process, id string) {
	s.mu.Lock()
	in := s.instance(id)
	s.mu.Unlock()
	if in == nil {
		return
	}
	in.mu.Lock()
	in.proc = nil
	in.mu.Unlock()
	s.configure(ctx, p, in)
}

// instance returns the instance with an ID; nil when there is none. s.mu is held.
func (s *Supervisor) instance(id string) *instance {
	for _, in := range s.instances {
		if in.spec.ID == id {
			return in
		}
	}
	return nil
}

// Validate has the plugin check an instance without keeping it: the process that runs
// if it may do what the instance needs, else one for that alone. The error is an
// *sdk.InvalidError for wrong options; one that is sdk.ErrUnavailable says nothing of them.
func (s *Supervisor) Validate(ctx context.Context, spec pluginclient.Instance) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout+configureTimeout)
	defer cancel()
	spec.ValidateOnly = true
	if s.bundle.remote != nil {
		return nil
	}
	var p *process
	s.mu.Lock()
	b := s.bundle
	if s.state == Running && s.proc.confined.covers(s.host, spec) {
		p = s.hold()
	}
	s.mu.Unlock()
	defer s.letGo(p, noRetry)
	if p == nil {
		if !b.builtin {
			sum, err := s.host.verify(ctx, b)
			if err != nil {
				return unavailable(err)
			}
			b.checksum = sum
		}
		var err error
		if p, err = s.host.launchOnce(ctx, b, []pluginclient.Instance{spec}, s.log); err != nil {
			return unavailable(s.host.redacted(err))
		}
		defer p.stop()
	}
	_, err := p.client.Configure(ctx, spec)
	return s.host.redacted(p.explainIsolation(s.bundle.name, err))
}

// Release ends an instance: no process has it from now on. Its calls under way are
// let finish, but are not waited for longer than stopTimeout. A process that nothing
// needs any more is stopped.
func (s *Supervisor) Release(id string) {
	in := s.forget(id)
	if in == nil {
		return
	}
	p := in.release()
	s.mu.Lock()
	var live *process
	if p != nil && s.proc == p {
		live = s.hold()
	}
	s.mu.Unlock()
	defer s.letGo(live, noRetry)
	if live != nil {
		ctx, cancel := context.WithTimeout(s.life, stopTimeout)
		defer cancel()
		if err := p.client.Release(ctx, id); err != nil {
			s.log.Warn("an instance that is not configured any more still works", "instance", id, "error", s.host.redacted(err))
		}
	}
	s.rest(p)
}

// forget takes the instance with an ID out of those that processes have; nil when there is none.
func (s *Supervisor) forget(id string) (found *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instances = slices.DeleteFunc(slices.Clone(s.instances), func(in *instance) bool {
		if in.spec.ID == id {
			found = in
			return true
		}
		return false
	})
	return found
}

// release waits for a configuration under way and allows no other. It returns the
// process that has the instance; nil when none has.
func (in *instance) release() *process {
	if in == nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.released = true
	return in.proc
}

// rest stops a process that has no instances, until one comes.
func (s *Supervisor) rest(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == nil || s.proc != p || len(s.instances) > 0 {
		return
	}
	s.wanted, s.restart = false, true
	p.gone.Store(true)
	s.wake.Set()
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
