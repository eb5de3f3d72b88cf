package plugin

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
)

const (
	startTimeout = 10 * time.Second
	// stopTimeout is how long a graceful shutdown of a process may take.
	stopTimeout = 5 * time.Second
	// A plugin that exits during its handshake is started again at once: on a
	// loaded machine, or one short of memory, the next attempt often succeeds.
	handshakeTries = 3
	// maxSocketDir keeps socket paths below the limit of 108 bytes of unix(7),
	// with room for the names that go-plugin adds.
	maxSocketDir = 80
)

// process is one live process of a bundle.
type process struct {
	child  *child
	client *pluginclient.Client
	owner  *goplugin.Client
	rpc    goplugin.ClientProtocol
	// gone is set when a call found that the process does not respond any more, or
	// when it is to be replaced: it gets no more calls.
	gone atomic.Bool
	// runs is how many calls that cannot be repeated are under way.
	runs atomic.Int32
	// calls is how many calls are under way, used when one of them ended last; both are guarded by Supervisor.mu.
	calls int
	used  time.Time
	// confined is what the process may do, isolated the same in words.
	confined *confinement
	isolated *Isolated
	wrote    *lastLines
}

// launch starts a bundle's process, for instances with these specs, and shakes hands with it.
func (h *Host) launch(
	ctx context.Context, b bundle, specs []pluginclient.Instance, log hclog.Logger,
) (*process, error) {
	var err error
	for range handshakeTries {
		began := time.Now()
		var p *process
		if p, err = h.launchOnce(ctx, b, specs, log); err == nil {
			p.client.ExplainGone(func(err error) error {
				// The supervisor may notice it a moment later; until then no other call may be lost on this process.
				p.gone.Store(true)
				p.kill()
				return p.explainExit(err)
			})
			return p, nil
		}
		silent := time.Since(began) >= startTimeout
		var useless *rejectedError
		if silent || ctx.Err() != nil || errors.Is(err, goplugin.ErrChecksumsDoNotMatch) || errors.As(err, &useless) {
			break
		}
	}
	return nil, err // which callers say with the name of the plugin
}

func (h *Host) launchOnce(
	ctx context.Context, b bundle, specs []pluginclient.Instance, log hclog.Logger,
) (_ *process, err error) {
	secured, key, err := pluginclient.HostTLS()
	if err != nil {
		return nil, err
	}
	confined, err := h.confine(b, specs)
	if err != nil {
		return nil, fmt.Errorf("prepare its isolation: %w", err)
	}
	program := b.path
	if confined != nil {
		program = confined.program
	}
	cmd := exec.Command(program, b.args...)
	harden(cmd, confined)
	c, wrote := &child{cmd: cmd, confined: confined, exited: make(chan struct{}), drained: make(chan struct{})},
		&lastLines{}
	var limit *flood
	if !b.builtin {
		limit = &flood{now: time.Now}
		c.third = log
		c.started = func() { h.limiter.watch(c, log) }
	}
	logs := bridge{log, h.opt.Log, limit}
	c.prints = &output{log: logs}
	config := &goplugin.ClientConfig{
		HandshakeConfig:  protocol.Handshake(),
		VersionedPlugins: pluginclient.ClientPlugins(),
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
			// Of two settings the later counts: sockets are in our folder, whose path is short enough.
			cmd.Env = slices.Concat(spec.Env, h.environment(b, confined), key)
			return c, h.checkSum(b, program)
		},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: h.runDir},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		TLSConfig:        secured,
		SkipHostEnv:      true,
		StartTimeout:     startTimeout,
		Logger:           logs,
		Stderr:           wrote,
		SyncStdout:       &output{log: logs},
		SyncStderr:       &output{log: logs},
		GRPCDialOptions:  pluginclient.DialOptions(),
	}
	owner := goplugin.NewClient(config)
	defer func() {
		if err != nil {
			_ = c.Kill(ctx)
			owner.Kill() // returns when all that the process wrote is read
			confined.remove()
			err = &startError{h.explainStart(b, c, wrote, err), wrote.last()}
		}
	}()
	defer context.AfterFunc(ctx, func() { _ = c.Kill(ctx) })()
	rpc, err := owner.Client()
	if err != nil {
		return nil, err
	}
	raw, err := rpc.Dispense(protocol.PluginName)
	if err != nil {
		return nil, fmt.Errorf("dispense: %w", err)
	}
	p := &process{client: raw.(*pluginclient.Client), child: c, owner: owner, rpc: rpc, confined: confined,
		isolated: confined.isolated(), wrote: wrote}
	if !b.builtin {
		err = checkHealth(b, p)
	}
	return p, err
}

// awaitRuns returns when no call that cannot be repeated is under way, or after stopTimeout.
func (p *process) awaitRuns(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for p.runs.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-p.child.exited:
			return
		case <-ticker.C:
		}
	}
}

// kill ends the process and all that it started, at once. It may be called more than once.
func (p *process) kill() { _ = p.child.Kill(context.Background()) }

// stop shuts the process down gracefully, and kills it and what it started when that takes too long.
func (p *process) stop() {
	p.child.expectEnd()
	timer := time.AfterFunc(stopTimeout, p.kill)
	defer timer.Stop()
	p.owner.Kill()
	p.kill()
	<-p.child.exited // with all that came of it
	p.confined.remove()
}

// release frees what belongs to a process that has ended: its connection and its socket.
func (p *process) release() {
	p.owner.Kill()
	p.confined.remove()
}

// explainExit adds to an error what the process wrote of its crash. It waits for its end, for a while.
func (p *process) explainExit(err error) error {
	over := time.After(outputGrace)
	for _, done := range []chan struct{}{p.child.exited, p.child.drained} {
		select {
		case <-done:
		case <-over:
			return err
		}
	}
	why := p.wrote.crashed()
	if why == "" || bySignal(p.child.cmd.ProcessState) || p.child.cmd.ProcessState.Success() {
		return err
	}
	return fmt.Errorf("%w; it wrote to stderr: %s", err, why)
}

// killedFromOutside waits for the end of a process and reports whether it was a
// signal that the process itself does not raise when it crashes.
func (p *process) killedFromOutside() bool {
	<-p.child.exited
	return bySignal(p.child.cmd.ProcessState) && p.child.exceeded() == nil
}
