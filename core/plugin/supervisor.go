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
	"github.com/dogwatch/dogwatch/internal/wake"
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

	// wake makes the actor read wanted and restart again.
	wake wake.Signal
	// known is true of a third-party bundle of whose name a file was trusted before, ahead
	// are those that came with it and are judged before it. Both are set before its start.
	known bool
	ahead []*Supervisor
	// life ends when the bundle is removed, or its host is closed; done closes once
	// its process has ended then.
	life context.Context
	end  context.CancelFunc
	done chan struct{}

	mu        sync.Mutex
	state     State
	err       error
	since     time.Time
	restarts  int
	version   string
	sdk       string // what the plugin says that it was built with
	held      []kind.Type
	isolated  *Isolated // of its last process
	output    []string  // of the process that could not be started last
	proc      *process
	wanted    bool
	restart   bool
	pending   bool // a restart was requested and has not begun
	responded bool
	asleep    bool // nothing called it for a while, and no process has run since
	announce  bool // Follow is to say so once it has settled
	instances []*instance
	// changed is closed and replaced whenever state changes.
	changed chan struct{}
}

// newSupervisor returns the supervisor of a stopped bundle; types are what it is known to hold.
func newSupervisor(h *Host, b bundle, types []kind.Type) *Supervisor {
	s := &Supervisor{
		host: h, bundle: b, held: types, log: h.log.Named(b.name), done: make(chan struct{}),
		wake: wake.New(), state: Stopped, since: h.opt.Now(), changed: make(chan struct{}),
	}
	s.life, s.end = context.WithCancel(h.life)
	if b.remote != nil {
		s.state = Running
	}
	return s
}

// Status returns the bundle as users see it.
func (s *Supervisor) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Name: s.bundle.name, Builtin: s.bundle.builtin, State: s.state, Version: s.version, SDK: s.sdk,
		Restarts: s.restarts, SHA256: hex.EncodeToString(s.bundle.checksum), Since: sdk.TimeOf(s.since),
		Types: []TypeName{}, Grants: s.host.grants(s.bundle.name), Isolation: s.isolated, Output: s.output,
	}
	for _, t := range s.held {
		st.Types = append(st.Types, TypeName{t.Kind, t.Name})
		st.Requested = append(st.Requested, s.requested(t)...)
	}
	slices.Sort(st.Requested)
	st.Requested = slices.Compact(st.Requested)
	if note := SDKNote(s.sdk); note != nil {
		st.Note = note.String()
	}
	if s.err != nil {
		st.Error, st.HeldBy = s.err.Error(), s.heldBy()
	}
	if s.proc != nil {
		st.PID = s.proc.child.pid()
	}
	if s.asleep && s.state == Stopped && len(s.instances) > 0 {
		st.State = Asleep
	}
	return st
}

// Granted reports whether the bundle may have a sensitive capability.
func (s *Supervisor) Granted(capability string) bool {
	return s.bundle.builtin || capability != kind.CapDevices && slices.Contains(s.host.grants(s.bundle.name), capability)
}

// Restart starts the bundle again, whatever state it is in, and forgets earlier crashes.
func (s *Supervisor) Restart() {
	if s.bundle.remote != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restart, s.pending = true, true
	if s.proc != nil {
		s.proc.gone.Store(true) // calls from now on wait for the next process
	}
	s.want()
}

// want asks the actor for a running process. s.mu is held.
func (s *Supervisor) want() {
	s.wanted = true
	s.wake.Set()
}

func (s *Supervisor) types() []kind.Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// set moves to a state and wakes all that wait for it. Only a running
// bundle has a process that may be called.
func (s *Supervisor) set(state State, err error) {
	s.mu.Lock()
	if state == Starting && (s.state == Starting || s.asleep) {
		s.mu.Unlock()
		return
	}
	if state != Running {
		s.proc = nil
	}
	woken := s.asleep && state == Running
	s.asleep = s.asleep && state == Stopped
	s.state, s.err, s.since = state, err, s.host.opt.Now()
	close(s.changed)
	s.changed = make(chan struct{})
	if s.announce && s.isSettled() {
		s.announce = false
		s.host.changes.Set()
	}
	s.mu.Unlock()
	st := s.Status()
	st.Woken = woken
	s.host.opt.Changed(st)
}

// run is the actor: it starts the process when it is wanted and supervises it until ctx ends.
func (s *Supervisor) run(ctx context.Context) {
	if s.bundle.remote != nil {
		<-ctx.Done()
		return
	}
	var crashes backoff
	for s.awaitWanted(ctx, &crashes) {
		s.begin()
		s.set(Starting, nil)
		started := s.host.opt.Now()
		proc, err := s.bringUp(ctx)
		end := processExit{}
		switch {
		case ctx.Err() != nil:
			s.stopProcess(proc)
			return
		case err == nil && proc == nil: // described, and nothing needs it
			s.idle()
			continue
		case err == nil:
			s.set(Running, nil)
			s.log.Debug("plugin is up", "pid", proc.child.pid())
			err = s.supervise(ctx, proc)
			if ctx.Err() != nil || err == nil {
				s.stopProcess(proc)
				continue
			}
			end = processExit{lived: s.host.opt.Now().Sub(started), outside: proc.killedFromOutside()}
			proc.release()
		case s.refuse(err):
			continue
		}
		s.handleExit(ctx, &crashes, end, err)
	}
}

// begin notes that the restart that was requested, if any, begins.
func (s *Supervisor) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = false
}

// idle returns to Stopped after a start that only served to learn what the bundle holds.
func (s *Supervisor) idle() {
	s.mu.Lock()
	s.wanted = len(s.instances) > 0
	s.mu.Unlock()
	s.set(Stopped, nil)
}

// bringUp launches the process, learns what it holds and configures every
// instance. It returns no process when nothing needs one, and launches none where what the
// file holds is known.
func (s *Supervisor) bringUp(ctx context.Context) (*process, error) {
	began := time.Now()
	s.mu.Lock()
	b := s.bundle
	s.mu.Unlock()
	if !b.builtin {
		if err := usable(b); err != nil {
			return nil, err
		}
		sum, err := s.host.verify(ctx, b)
		s.mu.Lock()
		s.bundle.checksum = sum // of a refused file, too: a user who trusts it says which one
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		b.checksum = sum
		if d, known := s.host.remembered(ctx, b.name, sum); known {
			if err := s.accept(ctx, d, began); err != nil {
				return nil, err
			}
			if len(s.specs()) == 0 {
				return nil, nil
			}
		}
	}
	p, all, err := s.launch(ctx, b, began)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && !b.builtin {
		p.stop()
		return nil, nil
	}
	for _, in := range all {
		s.configure(ctx, p, in)
	}
	return p, nil
}

// launch starts a process that may do what the instances need, learns what it holds
// and returns the instances. One that came meanwhile may need another process.
func (s *Supervisor) launch(ctx context.Context, b bundle, began time.Time) (*process, []*instance, error) {
	for {
		specs := s.specs()
		p, err := s.host.launch(ctx, b, specs, s.log)
		s.noteOutput(err)
		if err != nil {
			return nil, nil, s.host.redacted(err)
		}
		if !b.builtin {
			if err := s.describe(ctx, p, b.checksum, began); err != nil {
				p.stop()
				return nil, nil, err
			}
		}
		s.mu.Lock()
		all := slices.Clone(s.instances)
		s.isolated = p.isolated
		if len(all) == 0 && !b.builtin { // it is stopped at once, so an instance that comes now needs the next one
			s.mu.Unlock()
			return p, nil, nil
		}
		if !slices.ContainsFunc(all, func(in *instance) bool { return !p.confined.covers(s.host, in.spec) }) {
			s.proc = p
			s.mu.Unlock()
			return p, all, nil
		}
		s.mu.Unlock()
		p.stop()
	}
}

func (s *Supervisor) specs() (all []pluginclient.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.instances {
		all = append(all, in.spec)
	}
	return all
}

// awaitWanted returns once a process is wanted, and false when ctx ended.
func (s *Supervisor) awaitWanted(ctx context.Context, crashes *backoff) bool {
	for ctx.Err() == nil {
		s.mu.Lock()
		ready := s.wanted
		// After giveUp only a user's restart counts as wanting.
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

// supervise watches a running process. It returns nil when the process is to
// be shut down gracefully, and why otherwise.
func (s *Supervisor) supervise(ctx context.Context, p *process) error {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	idle := time.NewTimer(s.sleepAfter())
	defer idle.Stop()
	missed := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.child.exited:
			if err := p.child.exceeded(); err != nil {
				return fmt.Errorf("%w: the process of plugin %s ended: %w", sdk.ErrUnavailable, s.bundle.name, err)
			}
			err := fmt.Errorf("%w: the process of plugin %s ended", sdk.ErrUnavailable, s.bundle.name)
			return s.host.redacted(p.explainExit(err))
		case <-s.wake:
			s.mu.Lock()
			restart := s.restart
			s.restart = false
			s.mu.Unlock()
			if restart {
				p.awaitRuns(ctx)
				return nil
			}
		case <-idle.C:
			left := s.fallAsleep(ctx, p)
			if left <= 0 {
				return nil
			}
			idle.Reset(left)
		case <-ticker.C:
			if p.confined.outdated() {
				s.log.Info("plugin is restarted: a file of the system that it reads was replaced")
				p.gone.Store(true)
				p.awaitRuns(ctx)
				return nil
			}
			if err := ping(p); err == nil {
				missed = 0
			} else if missed++; missed >= maxMissedPings {
				p.stop()
				return fmt.Errorf("plugin %s did not answer %d pings: %w", s.bundle.name, missed, err)
			}
		}
	}
}

// ping checks the health of the process. go-plugin's Ping takes no context,
// so a hung process is left to the goroutine, which ends when the process does.
func ping(p *process) error {
	response := make(chan error, 1)
	go func() { response <- p.rpc.Ping() }()
	select {
	case err := <-response:
		return err
	case <-time.After(pingTimeout):
		return errors.New("no answer in time")
	}
}

// stopProcess shuts a process down gracefully.
func (s *Supervisor) stopProcess(p *process) {
	if p == nil {
		return
	}
	s.set(Stopped, nil)
	p.stop()
}
