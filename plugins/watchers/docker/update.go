package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/docker/docker/api/types/container"
	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/self"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/update"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

var (
	_ watcher.Updater   = (*Docker)(nil)
	_ watcher.LogReader = (*Docker)(nil)
)

// newUpdater makes what updates containers as the options say.
func (d *Docker) newUpdater(o Options) *update.Updater {
	u := update.New(d.engine, d.inspector, &d.predecessors, d.log)
	u.Hooks, u.Compose, u.ComposeTrusted = o.Hooks, o.Compose, o.ComposeTrusted
	u.Quadlets, u.Bus = o.Quadlets, o.Bus
	u.Whereabouts = func(ctx context.Context, all []container.Summary) []string {
		return self.Here().Containers(ctx, d.engine, all)
	}
	u.HelperCommand = func() ([]string, error) {
		program, err := os.Executable()
		return []string{program, "plugin", "handover"}, err
	}
	u.HelperOptions = func(address string) any {
		// Its environment may name another engine, and compose files are not there where it runs.
		o := o
		o.Socket, o.Host, o.Compose = address, "", ""
		o.SSH, o.Proxy = SSH{}, nil // which may hold a secret, and are not used there, see update.Updater
		return o
	}
	return u
}

// Plan implements watcher.Updater. It costs one request for each container of the engine.
func (d *Docker) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	return d.updater.Plan(ctx, req)
}

// Apply implements watcher.Updater.
func (d *Docker) Apply(ctx context.Context, op watcher.Operation, journal watcher.Journal) (watcher.Outcome, error) {
	return d.updater.Apply(ctx, op, journal)
}

// Recover implements watcher.Updater. Once all new containers worked it resumes the update;
// before that it returns to the old ones.
func (d *Docker) Recover(ctx context.Context, op watcher.Operation, journal watcher.Journal) (watcher.Outcome, error) {
	return d.updater.Recover(ctx, op, journal)
}

// Handover does what a helper container is for: it carries out the operation that is
// in the environment, writes its steps and outcome to out, and leaves the container to
// be removed. Run again after a crash it recovers. The error means that it did not finish.
func Handover(ctx context.Context, out io.Writer) error {
	job, err := update.ReadHandover()
	if err != nil {
		return err
	}
	var o Options
	if err := json.Unmarshal(job.Options, &o); err != nil {
		return fmt.Errorf("read the options of the watcher: %w", err)
	}
	log := hclog.New(&hclog.LoggerOptions{Output: os.Stderr})
	d, err := New(sdk.Env{Log: log, UserAgent: job.UserAgent, Warn: func(message string) { log.Warn(message) }}, o)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.updater.CarryOut(ctx, job, out)
}
