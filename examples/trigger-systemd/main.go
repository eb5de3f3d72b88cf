// Command trigger-systemd is a Dogwatch plugin with one type of trigger,
// "systemd", which starts or restarts a unit for an update of a container.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{systemdType()}})
}

func systemdType() trigger.Type {
	return trigger.Define("systemd", "Start or restart a systemd unit for an update", newSystemd,
		kind.Deliver(kind.AtMostOnce))
}

// options are the schema that the host documents and checks.
type options struct {
	Units     []string      `option:"units,required" help:"Which unit is for which container, as NAME=UNIT or WATCHER/NAME=UNIT; updates of other containers do nothing" example:"web=web.service"`
	Action    string        `option:"action" default:"restart" choices:"start,restart" help:"What is done with the unit; restart suits a quadlet with Pull=newer, start a unit of Type=oneshot that updates"`
	User      bool          `option:"user" default:"false" help:"The units are those of the user of Dogwatch, not the system's"`
	Timeout   time.Duration `option:"timeout" default:"10m" help:"Longest time to wait for a unit"`
	Systemctl string        `option:"systemctl" default:"systemctl" help:"The program systemctl"`
}

// systemd holds only units of its options: of a message it takes the name of a
// container, to look one of them up.
type systemd struct {
	options
	env   sdk.Env
	path  string
	units map[string]string
}

var unitForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9:_.\\@-]*\.(service|target)$`)

func newSystemd(env sdk.Env, o options) (*systemd, error) {
	s := &systemd{options: o, env: env, units: map[string]string{}}
	for _, pair := range o.Units {
		name, unit, _ := strings.Cut(pair, "=")
		name, unit = strings.TrimSpace(name), strings.TrimSpace(unit)
		if name == "" || !unitForm.MatchString(unit) {
			return nil, sdk.Invalid("units", "want NAME=UNIT, such as web=web.service, got %q", pair)
		}
		if other := s.units[name]; other != "" {
			return nil, sdk.Invalid("units", "%s has two units, %s and %s", name, other, unit)
		}
		s.units[name] = unit
	}
	if o.Timeout <= 0 {
		return nil, sdk.Invalid("timeout", "want a time above 0")
	}
	var err error
	if s.path, err = exec.LookPath(o.Systemctl); err != nil {
		return nil,
			sdk.Invalid("systemctl",
				"%q cannot be run here: a container needs the program, and /run/systemd and /run/dbus of its machine", o.Systemctl)
	}
	return s, nil
}

// unitsOf are the units that are for containers, each once.
func (s *systemd) unitsOf(containers []sdk.Container) []string {
	var units []string
	for _, c := range containers {
		unit := s.units[c.Watcher+"/"+c.Name]
		if unit == "" {
			unit = s.units[c.Name]
		}
		if unit != "" && !slices.Contains(units, unit) {
			units = append(units, unit)
		}
	}
	return units
}

// Run waits until each unit was started, or has run if it is of Type=oneshot. A
// sample message runs nothing: it shows whether the units exist.
func (s *systemd) Run(ctx context.Context, req trigger.Request) error {
	if req.Test {
		_, err := s.Probe(ctx, sdk.ProbeRequest{})
		return err
	}
	units := s.unitsOf(req.Containers)
	if len(units) == 0 {
		s.env.Log.Debug("no unit is for these containers")
	}
	var failed []error
	for i, unit := range units {
		req.Report(trigger.Progress{Phase: s.Action, Message: unit, Current: int64(i), Total: int64(len(units))})
		if _, err := s.systemctl(ctx, s.Action, unit); err != nil {
			failed = append(failed, err)
			continue
		}
		s.env.Log.Info("done", "action", s.Action, "unit", unit)
	}
	return errors.Join(failed...)
}

// Probe looks whether the units exist.
func (s *systemd) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	for _, unit := range slices.Sorted(maps.Values(s.units)) {
		state, err := s.systemctl(ctx, "show", "--property=LoadState", unit)
		if err != nil {
			return sdk.ProbeResult{}, err
		}
		if state = strings.TrimPrefix(state, "LoadState="); state != "loaded" {
			return sdk.ProbeResult{}, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("unit %s: %s", unit, state))
		}
	}
	return sdk.ProbeResult{Summary: fmt.Sprintf("%d units exist", len(s.units))}, nil
}

// systemctl runs the program, without a shell, and returns the first line of its output.
func (s *systemd) systemctl(caller context.Context, words ...string) (string, error) {
	ctx, stop := context.WithTimeout(caller, s.Timeout)
	defer stop()
	if s.User {
		words = append([]string{"--user"}, words...)
	}
	cmd := exec.CommandContext(ctx, s.path, append([]string{"--no-ask-password", "--no-pager"}, words...)...)
	cmd.Env = []string{"LC_ALL=C", "SYSTEMD_COLORS=0"}
	for _, name := range []string{"PATH", "HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} {
		if value := os.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.WaitDelay = time.Second
	var out, problem output
	cmd.Stdout, cmd.Stderr = &out, &problem
	err := cmd.Run()
	unit := words[len(words)-1]
	switch {
	case err == nil:
		return out.line(), nil
	case caller.Err() != nil:
		return "", caller.Err()
	case ctx.Err() != nil:
		return "",
			sdk.WithRemedy(fmt.Errorf("unit %s was not ready within %v; systemd goes on with it", unit, s.Timeout),
				"raise timeout if it needs longer")
	}
	text := cmp.Or(problem.line(), err.Error())
	err = fmt.Errorf("unit %s: %s", unit, text)
	switch {
	case strings.Contains(text, "Access denied"), strings.Contains(text, "authentication required"):
		err = sdk.WithKind(sdk.ErrUnauthorized, err)
	case strings.Contains(text, "systemd as init system"), strings.Contains(text, "connect to bus"):
		return "",
			sdk.WithRemedy(sdk.WithKind(sdk.ErrUnavailable, err), "run Dogwatch where systemd runs, not in a container")
	}
	return "", sdk.WithRemedy(err, "look at: journalctl --unit "+unit)
}

// output keeps the beginning of what a program writes.
type output struct{ bytes.Buffer }

func (o *output) Write(p []byte) (int, error) {
	if room := 4<<10 - o.Len(); room > 0 {
		o.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func (o *output) line() string {
	line, _, _ := strings.Cut(strings.TrimSpace(o.String()), "\n")
	return line
}
