// Package command runs a shell command for an update.
//
// The command gets the containers in its environment, under the names that
// WUD's scripts know (name, image_tag_value, update_kind_remote_value,
// container_json, …), the message as title and body, and the JSON again on its
// standard input, which has no size limit. Values come from labels and
// registries: quote them in the command ("$name").
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// grace is how long a command may take to end after SIGTERM before it is killed.
const grace = 5 * time.Second

// Options configures one command trigger.
type Options struct {
	Cmd     string        `option:"cmd,required" help:"Command to run; quote its variables, as in \"$name\"" example:"/scripts/notify.sh"`
	Shell   string        `option:"shell" default:"/bin/sh" help:"Shell that runs it, called with -c"`
	Timeout time.Duration `option:"timeout" default:"60s" help:"Longest time it may run; 0 for no limit"`
	Env     []string      `option:"env" help:"Variables of the environment to hand on besides PATH, HOME, LANG, TZ and the like; Dogwatch must get them from plugins.env"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("command", "Run a shell command", New, kind.Deliver(kind.AtMostOnce))
}

type command struct {
	log     hclog.Logger
	cmd     string
	shell   string
	timeout time.Duration
	base    []string // the environment that every run has
}

// New returns a trigger that runs one command.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if _, err := exec.LookPath(o.Shell); err != nil {
		return nil,
			sdk.Invalid("shell", "%q cannot be run here: %v; a container image without a shell needs one added",
				o.Shell, errors.Unwrap(err))
	}
	for _, name := range o.Env {
		if _, set := os.LookupEnv(name); !set && env.Warn != nil {
			env.Warn(fmt.Sprintf("env: there is no variable %s; list it in plugins.env", name))
		}
	}
	return &command{log: env.Log, cmd: o.Cmd, shell: o.Shell, timeout: o.Timeout, base: inherited(o.Env)}, nil
}

// Run runs the command to its end. An exit code other than 0, a signal or the
// timeout is an error. Whatever the command has left running is killed.
func (c *command) Run(ctx context.Context, req trigger.Request) error {
	payload, err := httpclient.EncodeJSON(message.Content(req)) // for standard input
	if err != nil {
		return err
	}
	caller := ctx
	if c.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.timeout)
		defer stop()
	}
	variables, dropped := environment(c.base, req, payload)
	if len(dropped) > 0 {
		c.log.Warn("too large for the environment; read standard input", "variables", dropped)
	}
	stdout, stderr := newLines(func(line string) { c.log.Info("stdout", "line", line) }),
		newLines(func(line string) { c.log.Warn("stderr", "line", line) })
	cmd := exec.CommandContext(ctx, c.shell, "-c", c.cmd)
	cmd.Env = variables
	cmd.Stdin = bytes.NewReader(payload)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = grace
	err = runGroup(cmd)
	stdout.end()
	stderr.end()
	return c.outcome(caller, ctx, err, stderr.last)
}

// outcome explains how a run ended. caller is the context of the delivery, ctx that with the timeout.
func (c *command) outcome(caller, ctx context.Context, err error, lastLine string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		c.log.Warn("the command ended and left processes behind; they were killed")
		return nil
	case caller.Err() != nil:
		return fmt.Errorf("the command was stopped: %w", caller.Err())
	case ctx.Err() != nil:
		// Not a context error: it would cause a retry, and a command must not run twice.
		return fmt.Errorf("the command did not end within %v and was stopped; raise timeout if it needs longer", c.timeout)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("start %s: %w", c.shell, err)
	}
	text := fmt.Sprintf("the command ended with exit code %d", exit.ExitCode())
	if exit.ExitCode() < 0 {
		text = "the command was ended by a " + exit.String()
	}
	if lastLine != "" {
		text += ": " + httpclient.Clean(lastLine)
	}
	return errors.New(text)
}
