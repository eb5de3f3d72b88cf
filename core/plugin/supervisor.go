package plugin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

const (
	pingEvery        = 30 * time.Second
	pingTimeout      = 10 * time.Second
	maxMissedPings   = 3
	configureTimeout = 10 * time.Second
)

// Supervisor owns the life of one bundle's process.
type Supervisor struct {
	host   *Host
	bundle bundle
	log    hclog.Logger

	// wake asks the actor to look at wanted and restart again.
	wake chan struct{}

	mu        sync.Mutex
	state     State
	err       error
	since     time.Time
	restarts  int
	version   string
	held      []kind.Type
	proc      *process
	wanted    bool
	restart   bool
	answered  bool
	instances []*instance
	// changed is closed and replaced whenever state changes.
	changed chan struct{}
}

// instance is one configured component that lives in the bundle.
type instance struct {
	spec   pluginclient.Instance
	notify func(pluginclient.Configured, error)

	mu   sync.Mutex
	proc *process // the process that was told of it last
}

// newSupervisor returns the supervisor of a stopped bundle; types are what it is known to hold.
func newSupervisor(h *Host, b bundle, types []kind.Type) *Supervisor {
	return &Supervisor{
		host: h, bundle: b, held: types, log: h.log.Named(b.name),
		wake: make(chan struct{}, 1), state: Stopped, since: h.opt.Now(), changed: make(chan struct{}),
	}
}

// Status returns the bundle as users see it.
func (s *Supervisor) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Name: s.bundle.name, Builtin: s.bundle.builtin, State: s.state, Version: s.version,
		Restarts: s.restarts, SHA256: hex.EncodeToString(s.bundle.checksum), Since: sdk.TimeOf(s.since),
		Types: []TypeName{}, Grants: s.host.opt.Grants[s.bundle.name],
	}
	for _, t := range s.held {
		st.Types = append(st.Types, TypeName{t.Kind, t.Name})
	}
	if s.err != nil {
		st.Error = s.err.Error()
	}
	if s.proc != nil {
		st.PID = s.proc.child.pid()
	}
	return st
}

// Granted reports whether the bundle may have a sensitive capability.
func (s *Supervisor) Granted(capability string) bool {
	return s.bundle.builtin || slices.Contains(s.host.opt.Grants[s.bundle.name], capability)
}

// Configure keeps an instance configured from now on, in this process and in
// each that follows. notify is told the outcome each time; it must not block.
func (s *Supervisor) Configure(spec pluginclient.Instance, notify func(pluginclient.Configured, error)) {
	in := &instance{spec: spec, notify: notify}
	s.mu.Lock()
	s.instances = append(s.instances, in)
	s.want()
	// While a process is told of the instances it found, it does not count as running yet.
	proc, blocked := s.proc, s.err
	if s.state == Stopped || s.state == Starting || s.state == Running {
		blocked = nil
	}
	s.mu.Unlock()
	switch {
	case proc != nil:
		s.configure(s.host.life, proc, in)
	case blocked != nil:
		notify(pluginclient.Configured{}, fmt.Errorf("plugin %s is %s: %w", s.bundle.name, s.Status().State, blocked))
	}
}

// Restart starts the bundle again, whatever state it is in, and forgets earlier crashes.
func (s *Supervisor) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restart = true
	s.want()
}

// want asks the actor for a running process. s.mu is held.
func (s *Supervisor) want() {
	s.wanted = true
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Supervisor) types() []kind.Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// set moves to a state and tells everybody who waits for it. Only a running
// bundle has a process that may be called.
func (s *Supervisor) set(state State, err error) {
	s.mu.Lock()
	if state == s.state && state == Starting {
		s.mu.Unlock()
		return
	}
	if state != Running {
		s.proc = nil
	}
	s.state, s.err, s.since = state, err, s.host.opt.Now()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	s.host.opt.Changed(s.Status())
}

// run is the actor: it brings the process up when it is wanted and tends it until ctx ends.
func (s *Supervisor) run(ctx context.Context) {
	var crashes backoff
	for s.awaitWanted(ctx, &crashes) {
		s.set(Starting, nil)
		started := s.host.opt.Now()
		proc, err := s.bringUp(ctx)
		end := death{}
		switch {
		case ctx.Err() != nil:
			s.putDown(proc)
			return
		case err == nil && proc == nil: // described, and nothing needs it
			s.idle()
			continue
		case err == nil:
			s.set(Running, nil)
			s.log.Debug("plugin is up", "pid", proc.child.pid())
			err = s.tend(ctx, proc)
			if ctx.Err() != nil || err == nil {
				s.putDown(proc)
				continue
			}
			end = death{lived: s.host.opt.Now().Sub(started), outside: proc.killedFromOutside()}
			proc.release()
		case s.refuse(err):
			continue
		}
		s.mourn(ctx, &crashes, end, err)
	}
}

// idle rests after a start that only served to learn what the bundle holds.
func (s *Supervisor) idle() {
	s.mu.Lock()
	s.wanted = len(s.instances) > 0
	s.mu.Unlock()
	s.set(Stopped, nil)
}

// refuse handles errors that starting again cannot mend; it reports whether err was one.
func (s *Supervisor) refuse(err error) bool {
	state := Rejected
	var distrust *untrustedError
	var useless *rejectedError
	switch {
	case errors.As(err, &distrust):
		state = Untrusted
	case errors.As(err, &useless):
	default:
		return false
	}
	s.giveUp(state, err)
	return true
}

func (s *Supervisor) giveUp(state State, err error) {
	s.mu.Lock()
	s.wanted = false
	s.mu.Unlock()
	s.log.Error("plugin will not run", "state", string(state), "error", err)
	s.set(state, err)
	s.tellAll(fmt.Errorf("plugin %s is %s: %w", s.bundle.name, state, err))
}

// mourn records a death and waits as long as it deserves.
func (s *Supervisor) mourn(ctx context.Context, crashes *backoff, end death, err error) {
	s.mu.Lock()
	s.restarts++
	end.answered, s.answered = s.answered, false
	s.mu.Unlock()
	end.at = s.host.opt.Now()
	wait, again := crashes.next(end)
	switch {
	case !again:
		s.giveUp(Broken, fmt.Errorf("it died %d times in a row, last: %w", maxCrashes, err))
	case wait == 0:
		s.log.Warn("plugin stopped; starting it again", "error", err)
		s.set(Starting, nil)
	default:
		s.log.Warn("plugin stopped; starting it again later", "error", err, "in", wait.Round(time.Millisecond))
		s.set(Backoff, err)
		s.tellAll(fmt.Errorf("plugin %s is down: %w", s.bundle.name, err))
		s.rest(ctx, wait)
	}
}

// rest waits for the backoff, or for somebody who asks for a restart.
func (s *Supervisor) rest(ctx context.Context, wait time.Duration) {
	over := s.host.after(wait)
	for {
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-s.wake:
			s.mu.Lock()
			restart := s.restart
			s.mu.Unlock()
			if restart {
				return
			}
		}
	}
}

// awaitWanted returns once a process is wanted, and false when ctx ended.
func (s *Supervisor) awaitWanted(ctx context.Context, crashes *backoff) bool {
	for ctx.Err() == nil {
		s.mu.Lock()
		ready := s.wanted
		// After giving up, only a person's restart counts as wanting.
		if s.state == Broken || s.state == Untrusted || s.state == Rejected {
			ready = s.restart
		}
		if s.restart {
			crashes.reset()
			s.restart = false
		}
		s.wanted = s.wanted || ready
		s.mu.Unlock()
		if ready {
			return true
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		}
	}
	return false
}

// tend watches over a running process. It returns nil when the process is to
// be stopped in good order, and why otherwise.
func (s *Supervisor) tend(ctx context.Context, p *process) error {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	missed := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.child.exited:
			return fmt.Errorf("%w: the process of plugin %s ended", sdk.ErrUnavailable, s.bundle.name)
		case <-s.wake:
			s.mu.Lock()
			restart := s.restart
			s.restart = false
			s.mu.Unlock()
			if restart {
				return nil
			}
		case <-ticker.C:
			if err := ping(p); err == nil {
				missed = 0
			} else if missed++; missed >= maxMissedPings {
				p.stop()
				return fmt.Errorf("plugin %s did not answer %d pings: %w", s.bundle.name, missed, err)
			}
		}
	}
}

// ping asks the process for a sign of life. go-plugin's Ping takes no context,
// so a hung process is left to the goroutine, which ends when the process does.
func ping(p *process) error {
	answer := make(chan error, 1)
	go func() { answer <- p.rpc.Ping() }()
	select {
	case err := <-answer:
		return err
	case <-time.After(pingTimeout):
		return errors.New("no answer in time")
	}
}

// putDown stops a process in good order.
func (s *Supervisor) putDown(p *process) {
	if p == nil {
		return
	}
	s.set(Stopped, nil)
	p.stop()
}

// tellAll lets every instance know that it is not available.
func (s *Supervisor) tellAll(err error) {
	s.mu.Lock()
	all := slices.Clone(s.instances)
	s.mu.Unlock()
	for _, in := range all {
		in.notify(pluginclient.Configured{}, err)
	}
}
