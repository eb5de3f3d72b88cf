package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/internal/contained"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/sdk"
)

// errNotStarted marks errors of calls that were never made.
var errNotStarted = errors.New("not started")

// NotStarted reports whether err means that a call never reached its plugin.
func NotStarted(err error) bool { return errors.Is(err, errNotStarted) }

// Exited reports whether err means that the plugin's process exited during the call.
func Exited(err error) bool { return errors.Is(err, protocol.ErrGone) }

// The deadlines of calls. A plugin has its own, shorter ones for each request
// it makes; these bound a plugin that hangs.
const (
	listTimeout    = 2 * time.Minute
	triggerTimeout = 15 * time.Minute
	probeTimeout   = time.Minute
	// limitsTimeout is short: the plugin has the limits in memory, and callers can do without.
	limitsTimeout = 300 * time.Millisecond
)

// handle addresses one instance in the process of its bundle. WatcherHandle, RegistryHandle
// and TriggerHandle are what the rest of the core calls it by. Their methods fail fast
// with sdk.ErrUnavailable while the plugin is down, every error names the
// instance, and they may be called concurrently. The zero handle is of an
// instance that no plugin has: its calls fail.
type handle struct {
	id string
	s  *Supervisor
}

// probe asks the instance whether it can do its work; see sdk.Prober.
func (h handle) probe(
	ctx context.Context, about string, timeout time.Duration, req sdk.ProbeRequest,
) (found sdk.ProbeResult, err error) {
	err = h.call(ctx, "Probe", about, timeout, retryOnce, func(ctx context.Context, c *pluginclient.Client) (err error) {
		found, err = c.Probe(ctx, h.id, req)
		return err
	})
	return found, err
}

// retry says what to do when the plugin's process exits during a call.
type retry int

const (
	noRetry retry = iota
	// retryOnce repeats the call with the next process: it changes nothing.
	retryOnce
	// onlyAwake is noRetry for what is only of interest while a process runs: it starts none, and keeps none from sleep.
	onlyAwake
	// awaiting is noRetry for streams that have nothing to say before their process is there.
	awaiting
)

// call is one call of the instance: about is the registry host that it concerns, or "".
func (h handle) call(
	ctx context.Context, method, about string, timeout time.Duration, r retry,
	fn func(context.Context, *pluginclient.Client) error,
) error {
	if h.s == nil {
		return unavailable(errors.New("no plugin has this component"))
	}
	host := h.s.host
	began := host.opt.Now()
	if timeout > 0 {
		whose := ""
		if about != "" {
			whose = " of " + about
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout,
			sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("no answer%s within %s", whose, timeout)))
		defer cancel()
	}
	err := h.attempt(ctx, r, fn)
	if end, set := ctx.Deadline(); err != nil && set && !time.Now().Before(end) {
		<-ctx.Done() // the plugin knows the deadline, too, and may have noticed it a moment earlier
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(context.Cause(ctx), sdk.ErrUnavailable) {
		err = context.Cause(ctx)
	}
	host.opt.Observe(h.id, method, host.opt.Now().Sub(began), err)
	if err != nil {
		return fmt.Errorf("%s: %w%s", h.id, host.redacted(err), host.hint(err))
	}
	return nil
}

// hint says what an error about a loopback address means inside a container.
func (h *Host) hint(err error) string {
	if !h.opt.Contained {
		return ""
	}
	if text := contained.Explain(err.Error()); text != "" {
		return "; " + text
	}
	return ""
}

// redacted blanks secrets in an error that comes from a plugin: from here on it
// is stored, shown and sent.
func (h *Host) redacted(err error) error { return redact.Error(err, h.opt.Redact) }

// attempt makes the call, with the next process too where r and the reason allow it.
func (h handle) attempt(ctx context.Context, r retry, fn func(context.Context, *pluginclient.Client) error) error {
	if h.s.bundle.remote != nil {
		return h.callRemote(ctx, r, fn)
	}
	var gone *process
	for try := 0; ; try++ {
		p, err := h.s.running(ctx, gone, r)
		if err != nil {
			return err
		}
		err = p.run(ctx, r, fn)
		unknown := errors.Is(err, protocol.ErrUnknownInstance) && try == 0
		if unknown {
			h.s.reconfigure(ctx, p, h.id)
		}
		h.s.letGo(p, r)
		switch {
		case unknown:
		case errors.Is(err, errReplaced):
			try--
		case err == nil:
			h.s.noteResponse(p)
			return nil
		case errors.Is(err, protocol.ErrGone):
			if r != retryOnce || try > 0 {
				return err
			}
			gone = p
		default:
			h.s.noteResponse(p)
			return p.explainIsolation(h.s.bundle.name, err)
		}
	}
}

// errReplaced is of a call that was not made, since its process is about to be replaced.
var errReplaced = errors.New("the process is being replaced")

// run makes a call, and counts it while a restart is to wait for it. Calls without
// a deadline are streams, which restarts interrupt.
func (p *process) run(ctx context.Context, r retry, fn func(context.Context, *pluginclient.Client) error) error {
	if _, bounded := ctx.Deadline(); r == noRetry && bounded {
		p.runs.Add(1)
		defer p.runs.Add(-1)
		if p.gone.Load() {
			return errReplaced
		}
	}
	return fn(ctx, p.client)
}

// running returns the live process for one call, which letGo ends, starting it when it is not
// needed so far, or asleep. It waits while the process starts, and while it still is the one called not.
func (s *Supervisor) running(ctx context.Context, not *process, r retry) (p *process, err error) {
	for {
		s.mu.Lock()
		state, changed, err := s.state, s.changed, s.err
		if state == Running && s.proc != not {
			p = s.hold()
		}
		if state == Stopped && r != onlyAwake {
			s.want()
		}
		s.mu.Unlock()
		switch {
		case p != nil:
			return p, nil
		case !state.Well():
			return nil, unavailable(fmt.Errorf("plugin %s is %s: %w", s.bundle.name, state.Word(), err))
		case r == onlyAwake:
			return nil, unavailable(fmt.Errorf("plugin %s has no process that can be called now", s.bundle.name))
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.host.life.Done():
			return nil, unavailable(errors.New("dogwatch is stopping"))
		case <-s.life.Done():
			return nil, unavailable(fmt.Errorf("plugin %s was removed", s.bundle.name))
		case <-changed:
		}
	}
}

// unavailable is the error of a call that cannot be made now.
func unavailable(err error) error {
	return sdk.WithKind(errNotStarted, sdk.WithKind(sdk.ErrUnavailable, err))
}

// responded notes that a process did its work, so that its exit is no crash loop.
func (s *Supervisor) noteResponse(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == p {
		s.responded = true
	}
}
