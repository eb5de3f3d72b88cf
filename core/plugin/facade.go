package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/contained"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// errNotStarted marks errors of calls that were never made.
var errNotStarted = errors.New("not started")

// NotStarted reports whether err means that a call never reached its plugin.
func NotStarted(err error) bool { return errors.Is(err, errNotStarted) }

// Died reports whether err means that the plugin's process died during the call.
func Died(err error) bool { return errors.Is(err, protocol.ErrGone) }

// The deadlines of calls. A plugin has its own, shorter ones for each request
// it makes; these bound a plugin that hangs.
const (
	listTimeout    = 2 * time.Minute
	triggerTimeout = 15 * time.Minute
	// limitsTimeout is short: the answer is in the plugin's memory, and what waits for it can do without.
	limitsTimeout = 300 * time.Millisecond
)

// Instance is a configured component as the rest of the core calls it. Its
// methods fail fast with sdk.ErrUnavailable while the plugin is down, and every
// error names the instance.
type Instance struct {
	id string
	s  *Supervisor
	// asked is the registry host that a call is about; "" for any other call.
	asked string
}

// Instance returns the handle of an instance of this bundle.
func (s *Supervisor) Instance(id string) Instance { return Instance{id: id, s: s} }

// List implements watcher.Watcher.
func (i Instance) List(ctx context.Context) (found []sdk.Container, err error) {
	err = i.call(ctx, "List", listTimeout, again, func(ctx context.Context, c *pluginclient.Client) (err error) {
		found, err = c.Watcher(i.id).List(ctx)
		return err
	})
	return found, err
}

// Watch implements watcher.EventWatcher. It returns when ctx ends or the plugin stops.
func (i Instance) Watch(ctx context.Context, emit func(watcher.Event)) error {
	return i.call(ctx, "Watch", 0, once, func(ctx context.Context, c *pluginclient.Client) error {
		return c.Watcher(i.id).Watch(ctx, emit)
	})
}

// about returns the instance for a call whose failure names the host of repo.
func (i Instance) about(repo registry.Repository) Instance {
	i.asked = repo.Host
	return i
}

// Tags asks a registry for the tags of a repository; see registry.Registry.
func (i Instance) Tags(ctx context.Context, repo registry.Repository, validator string) (list registry.TagList, err error) {
	err = i.about(repo).call(ctx, "Tags", i.s.host.opt.RegistryTimeout, again, func(ctx context.Context, c *pluginclient.Client) (err error) {
		list, err = c.Registry(i.id).Tags(ctx, repo, validator)
		return err
	})
	return list, err
}

// Resolve asks a registry for the digest behind a tag; see registry.Registry.
func (i Instance) Resolve(ctx context.Context, repo registry.Repository, tag string) (digest string, err error) {
	err = i.about(repo).call(ctx, "Resolve", i.s.host.opt.RegistryTimeout, again, func(ctx context.Context, c *pluginclient.Client) (err error) {
		digest, err = c.Registry(i.id).Resolve(ctx, repo, tag)
		return err
	})
	return digest, err
}

// Manifest asks a registry what is behind a digest; see registry.Registry.
func (i Instance) Manifest(ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform) (m registry.Manifest, err error) {
	err = i.about(repo).call(ctx, "Manifest", i.s.host.opt.RegistryTimeout, again, func(ctx context.Context, c *pluginclient.Client) (err error) {
		m, err = c.Registry(i.id).Manifest(ctx, repo, digest, platform)
		return err
	})
	return m, err
}

// Credentials asks a registry for what an engine needs to pull.
func (i Instance) Credentials(ctx context.Context, repo registry.Repository) (cred sdk.Credentials, err error) {
	err = i.about(repo).call(ctx, "Credentials", i.s.host.opt.RegistryTimeout, again, func(ctx context.Context, c *pluginclient.Client) (err error) {
		cred, err = c.Registry(i.id).Credentials(ctx, repo)
		return err
	})
	return cred, err
}

// Limits asks a registry what its hosts allow; see registry.LimitReporter. It
// waits neither for a plugin that starts nor for one that hangs.
func (i Instance) Limits(ctx context.Context) (limits []registry.Limit, err error) {
	err = i.call(ctx, "Limits", limitsTimeout, once, func(ctx context.Context, c *pluginclient.Client) (err error) {
		limits, err = c.Registry(i.id).Limits(ctx)
		return err
	})
	return limits, err
}

// Run implements trigger.Trigger. It is never repeated here: whether a call
// whose outcome was lost may be repeated is the dispatcher's decision.
func (i Instance) Run(ctx context.Context, req trigger.Request) error {
	return i.call(ctx, "Run", triggerTimeout, once, func(ctx context.Context, c *pluginclient.Client) error {
		return c.Trigger(i.id).Run(ctx, req)
	})
}

// Follow implements trigger.Follower. It returns when ctx ends or the plugin stops.
func (i Instance) Follow(ctx context.Context, w trigger.World) error {
	return i.call(ctx, "Follow", 0, once, func(ctx context.Context, c *pluginclient.Client) error {
		return c.Trigger(i.id).Follow(ctx, w)
	})
}

// repeat says what to do when the plugin dies during a call.
type repeat bool

const (
	once  repeat = false
	again repeat = true // the call changes nothing: ask the next process once more
)

func (i Instance) call(ctx context.Context, method string, timeout time.Duration, r repeat, fn func(context.Context, *pluginclient.Client) error) error {
	began := i.s.host.opt.Now()
	if timeout > 0 {
		whose := ""
		if i.asked != "" {
			whose = " of " + i.asked
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("no answer%s within %s", whose, timeout)))
		defer cancel()
	}
	err := i.attempt(ctx, r, fn)
	if end, set := ctx.Deadline(); err != nil && set && !time.Now().Before(end) {
		<-ctx.Done() // the plugin knows the deadline, too, and may have noticed it a moment earlier
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(context.Cause(ctx), sdk.ErrUnavailable) {
		err = context.Cause(ctx)
	}
	i.s.host.opt.Observe(i.id, method, i.s.host.opt.Now().Sub(began), err)
	if err != nil {
		return fmt.Errorf("%s: %w%s", i.id, i.s.host.redacted(err), i.s.host.hint(err))
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

// redactedError has the text of another error without its secrets, and its kind.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// redacted blanks secrets in an error that comes from a plugin: from here on it
// is stored, shown and sent.
func (h *Host) redacted(err error) error {
	if err == nil {
		return nil
	}
	if text := h.opt.Redact(err.Error()); text != err.Error() {
		return &redactedError{text: text, err: err}
	}
	return err
}

func (i Instance) attempt(ctx context.Context, r repeat, fn func(context.Context, *pluginclient.Client) error) error {
	for try := 0; ; try++ {
		p, err := i.s.running(ctx, nil)
		if err != nil {
			return err
		}
		err = fn(ctx, p.client)
		switch {
		case err == nil:
			i.s.didAnswer(p)
			return nil
		case errors.Is(err, protocol.ErrGone):
			// The supervisor may hear of it a moment later; no other call is to be
			// lost on this process until then.
			p.gone.Store(true)
			p.kill()
			if r == once || try > 0 {
				return err
			}
			if _, err := i.s.running(ctx, p); err != nil {
				return err
			}
		case errors.Is(err, protocol.ErrUnknownInstance) && try == 0:
			i.s.reconfigure(ctx, p, i.id)
		default:
			i.s.didAnswer(p)
			return err
		}
	}
}

// running returns the live process, starting it when it is not needed so far.
// It waits while the process starts, and while it still is the one called not.
func (s *Supervisor) running(ctx context.Context, not *process) (*process, error) {
	for {
		s.mu.Lock()
		state, p, changed, err := s.state, s.proc, s.changed, s.err
		if state == Stopped {
			s.want()
		}
		s.mu.Unlock()
		switch state {
		case Running:
			if p != not && !p.gone.Load() {
				return p, nil
			}
		case Stopped, Starting:
		default:
			return nil, unavailable(fmt.Errorf("plugin %s is %s: %w", s.bundle.name, state, err))
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.host.life.Done():
			return nil, unavailable(errors.New("dogwatch is stopping"))
		case <-changed:
		}
	}
}

// unavailable is the error of a call that cannot be made now.
func unavailable(err error) error {
	return sdk.WithKind(errNotStarted, sdk.WithKind(sdk.ErrUnavailable, err))
}

// didAnswer notes that a process did its work, so that its death is no crash loop.
func (s *Supervisor) didAnswer(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == p {
		s.answered = true
	}
}

// reconfigure tells a process again of an instance that it does not know.
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
