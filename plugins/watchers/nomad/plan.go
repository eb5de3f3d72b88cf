package nomad

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/internal/api"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

var _ watcher.Updater = (*Nomad)(nil)

// The codes of blocks and warnings.
const (
	BlockReadOnly = "engine.readonly"
	BlockImage    = orchestrated.BlockImage
	BlockRegions  = "workload.regions"
	BlockStopped  = "workload.stopped"
	BlockCanaries = "workload.canaries"
	BlockRefused  = "workload.refused" // by the cluster
	WarnManifest  = "workload.manifest"
	WarnUnwatched = "workload.unwatched"
	WarnUnhealthy = "workload.unhealthy"
	WarnRuns      = "workload.runs"
	WarnChanges   = "workload.changes"
	WarnPlacement = "workload.placement"
	WarnProbe     = "probe.workload"
	WarnHooks     = "hooks.workload"
)

// Plan implements watcher.Updater. It costs two requests, of which one is a change that the server only tries.
func (n *Nomad) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	t, err := n.target(ctx, req.ContainerID)
	if err != nil {
		return watcher.Plan{}, err
	}
	l, err := n.live(ctx, t)
	if err != nil {
		return watcher.Plan{}, err
	}
	p := n.plan(l, req)
	image, err := orchestrated.ImageOf(l.image, req.Image)
	if err != nil || len(p.Blocks) > 0 {
		return p, nil
	}
	job, err := l.with(image)
	if err != nil {
		return watcher.Plan{}, err
	}
	trial, err := n.client.Try(ctx, t.job.namespace, t.job.id, job)
	switch {
	case ctx.Err() != nil || errors.Is(err, sdk.ErrUnavailable):
		return watcher.Plan{}, errors.Join(err, ctx.Err())
	case err != nil:
		p.Blocks = append(p.Blocks, watcher.Reason{Code: BlockRefused, Text: orchestrated.Sentence(err)})
	}
	p.Warnings = append(p.Warnings, l.tried(trial)...)
	return p, nil
}

// plan makes a plan from what the cluster has.
func (n *Nomad) plan(l live, req watcher.UpdateRequest) watcher.Plan {
	wait := ""
	if l.isWatched() {
		wait = "wait until all allocations of " + l.name + " run the new image and are healthy"
	}
	p := orchestrated.NewPlan(req, "Nomad", l.name, l.image, wait)
	p.State = l.State()
	switch {
	case strings.Contains(l.image, "${"):
		p.Blocks = []watcher.Reason{{Code: BlockImage, Text: fmt.Sprintf("the image %.100q of %s has a variable, "+
			"which Nomad replaces on the node: change it where the variable is set", httpclient.Clean(l.image), l.name)}}
	case len(p.Blocks) == 0:
		p.Blocks, p.Warnings = n.blocks(l, req.Rules), l.warnings(req.Rules)
	}
	return p
}

// blocks say what keeps a job from being updated.
func (n *Nomad) blocks(l live, rules watcher.UpdateRules) (all []watcher.Reason) {
	block := func(code, format string, args ...any) {
		all = append(all, watcher.Reason{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if !n.update {
		block(BlockReadOnly, "%s", readOnly)
	}
	if l.Multiregion != nil {
		block(BlockRegions, "%s runs in several regions, each of which has its own version: change its job file, and run that", l.name)
	}
	if l.Stop {
		block(BlockStopped, "%s is stopped, so nothing would run the new image: start it with nomad job start", l.name)
	}
	if u := l.group.Update; l.isWatched() && u != nil && u.Canary > 0 && !u.AutoPromote {
		block(BlockCanaries, "%s has canaries that somebody has to promote: set auto_promote in its update block, or run its job file",
			l.name)
	}
	if rules.Compose != nil && rules.Compose.Required {
		block(watcher.BlockComposeAbsent, "%s is a job of Nomad, which no compose file has: change its job file", l.name)
	}
	return all
}

// readOnly is why nothing is changed without the option.
const readOnly = "this watcher only reads: set its option update to true to let it update jobs"

// warnings say what an update leaves as it is, and which of its rules a cluster does not know.
func (l live) warnings(rules watcher.UpdateRules) (all []watcher.Reason) {
	warn := func(code, format string) {
		all = append(all, watcher.Reason{Code: code, Text: fmt.Sprintf(format, l.name)})
	}
	warn(WarnManifest, "the job file of %s is not changed: write the new image there too, or running it returns to the old one")
	switch {
	case l.Periodic != nil || l.ParameterizedJob != nil:
		warn(WarnUnwatched, "%s has the new image from its next job on, so whether that works is not known")
	case !l.isWatched():
		warn(WarnUnwatched, "%s has no allocations (count = 0), so whether the new image works is not known")
	case strings.HasSuffix(l.Type, "batch"):
		warn(WarnRuns, "%s is a batch job, which runs again with the new image at once")
	case l.Status != "running":
		warn(WarnUnhealthy, "%s does not run, so a failed update returns to what does not work either")
	}
	if h := rules.Health; h.HTTP != "" || h.TCP != "" || len(h.Command) > 0 {
		warn(WarnProbe, "the probe of %s is not used: Nomad waits for the checks of its services")
	}
	if len(rules.Hooks.Pre)+len(rules.Hooks.Post) > 0 {
		warn(WarnHooks, "the hooks of %s are not run: they belong to one container, and a job has many allocations")
	}
	return all
}

// tried are warnings of what the server would do: change more than the image, or find no node. Values are left out,
// which may be secret.
func (l live) tried(trial api.Trial) (all []watcher.Reason) {
	if trial.Diff != nil {
		ours := strings.Join([]string{l.target.group, l.task, "Config", "image"}, ".")
		more := slices.DeleteFunc(trial.Diff.Changes(), func(name string) bool { return name == ours })
		if len(more) > 0 {
			all = append(all, watcher.Reason{Code: WarnChanges, Text: fmt.Sprintf(
				"registering %s changes more than its image: %s", l.name, httpclient.Clean(strings.Join(more, ", ")))})
		}
	}
	for _, group := range slices.Sorted(maps.Keys(trial.FailedTGAllocs)) {
		all = append(all, watcher.Reason{Code: WarnPlacement, Text: fmt.Sprintf(
			"Nomad finds no node for all allocations of %s now: %s", l.name, unplaced(group, trial.FailedTGAllocs[group]))})
	}
	return all
}

// unplaced says why an allocation of a group is not placed.
func unplaced(group string, p api.Placement) string {
	text := fmt.Sprintf("the group %s: %d nodes, %d filtered, %d exhausted", group, p.NodesEvaluated, p.NodesFiltered, p.NodesExhausted)
	for _, reasons := range []map[string]int{p.ConstraintFiltered, p.DimensionExhausted} {
		for _, why := range slices.Sorted(maps.Keys(reasons)) {
			text += ", " + why
		}
	}
	return httpclient.Clean(text)
}
