package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

var _ watcher.Updater = (*Kubernetes)(nil)

// The codes of blocks and warnings.
const (
	BlockReadOnly = "engine.readonly"
	BlockChanged  = orchestrated.BlockChanged
	BlockImage    = orchestrated.BlockImage
	BlockPod      = "workload.pod"
	BlockKept     = watcher.BlockKept
	BlockApplied  = watcher.BlockApplied
	BlockPaused   = "workload.paused"
	BlockRefused  = "workload.refused" // by the cluster
	WarnManifest  = "workload.manifest"
	WarnTakeover  = "workload.takeover"
	WarnUnwatched = "workload.unwatched"
	WarnUnhealthy = "workload.unhealthy"
	WarnProbe     = "probe.workload"
	WarnHooks     = "hooks.workload"
)

// Plan implements watcher.Updater. It costs three requests, of which one is a change that the server only tries.
func (k *Kubernetes) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	t, err := k.target(req.ContainerID)
	if err != nil {
		return watcher.Plan{}, err
	}
	p := watcher.Plan{ContainerID: req.ContainerID, Name: t.name(), Space: watcher.Space{Download: -1, Writable: -1}}
	if _, can := updatable[t.kind]; !can {
		p.Blocks = []watcher.Reason{{Code: BlockPod, Text: p.Name + " is a pod that no workload makes: update it where it is started from"}}
		return p, nil
	}
	l, err := k.live(ctx, t)
	if err != nil {
		return watcher.Plan{}, err
	}
	p = k.plan(l, req)
	if err := k.runs(ctx, l, &p.From); err != nil {
		return watcher.Plan{}, err
	}
	image, err := orchestrated.ImageOf(l.image, req.Image)
	if err != nil || len(p.Blocks) > 0 {
		return p, nil
	}
	a := l.application(image)
	a.DryRun = true
	switch err := denial(k.client.Apply(ctx, l.resource, l.workload, a)); {
	case errors.Is(err, sdk.ErrUnavailable):
		return watcher.Plan{}, err
	case err != nil && !errors.Is(err, cluster.ErrConflict) && !strings.Contains(err.Error(), "does not support dry run"):
		p.Blocks = append(p.Blocks, watcher.Reason{Code: BlockRefused, Text: orchestrated.Sentence(err)})
	}
	return p, nil
}

// runs fills in which image the pods run, to which a user may return: its digest where that is known.
func (k *Kubernetes) runs(ctx context.Context, l live, from *watcher.PlannedImage) error {
	var pods []pod
	r := cluster.Resource{Version: "v1", Name: "pods", Namespace: l.namespace}
	_, err := k.client.List(ctx, r, func(o *cluster.Object) {
		if p, says := reducePod(o); says && p.of == l.owner() {
			pods = append(pods, p)
		}
	})
	id, _ := running(container{l.container, l.image}, pods)
	if _, digest, has := strings.Cut(id, "@"); has && from.Digest == "" {
		from.ID = digest
	}
	return denial(err)
}

// plan makes a plan from what the cluster has.
func (k *Kubernetes) plan(l live, req watcher.UpdateRequest) watcher.Plan {
	wait := ""
	if l.isWatched() {
		wait = "wait until all pods of " + l.name() + " run the new image and are ready"
	}
	p := orchestrated.NewPlan(req, "Kubernetes", l.name(), l.image, wait)
	if p.State = l.state(); len(p.Blocks) == 0 {
		p.Blocks, p.Warnings = k.blocks(l, req.Rules), l.warnings(req.Rules)
	}
	return p
}

// isWatched reports whether the cluster replaces pods by itself, so that it shows whether the image works.
func (l live) isWatched() bool {
	return l.kind != "cronjob" && l.Spec.UpdateStrategy.Type != "OnDelete"
}

// blocks say what keeps a workload from being updated.
func (k *Kubernetes) blocks(l live, rules watcher.UpdateRules) (all []watcher.Reason) {
	block := func(code, format string, args ...any) {
		all = append(all, watcher.Reason{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if !k.options.Update {
		block(BlockReadOnly, "this watcher only reads: set its option update to true to let it update workloads")
	}
	kept := l.keeper()
	if kept != "" {
		block(BlockKept, "%s", kept)
	}
	for _, m := range l.setters() {
		if file := l.manifest(); m.Operation == "Apply" && kept == "" && file != "" {
			block(BlockApplied, "the image of %s is applied by %s (server-side apply): change it in %s", l.name(), m.Manager, file)
		} else if m.Operation == "Apply" && kept == "" {
			block(BlockApplied, "the image of %s is applied by %s (server-side apply): change it there", l.name(), m.Manager)
		}
	}
	if l.Spec.Paused {
		block(BlockPaused, "%s is paused, so nothing would be rolled out: resume it with kubectl rollout resume", l.name())
	}
	if rules.Compose != nil && rules.Compose.Required {
		block(watcher.BlockComposeAbsent, "%s is a workload of Kubernetes, which no compose file has: change its manifest", l.name())
	}
	return all
}

// warnings say what an update leaves as it is, and which of its rules a cluster does not know.
func (l live) warnings(rules watcher.UpdateRules) (all []watcher.Reason) {
	warn := func(code, format string, args ...any) {
		all = append(all, watcher.Reason{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	name := l.name()
	if file := l.manifest(); file != "" {
		warn(WarnManifest, "the manifest of %s is not changed: write the new image into %s, or applying it returns to the old one", name, file)
	} else {
		warn(WarnManifest, "the manifest of %s is not changed: write the new image there too, or applying it returns to the old one", name)
	}
	for _, m := range l.setters() {
		if m.Operation == "Update" {
			warn(WarnTakeover, "the image of %s was set by %s, from which the field manager dogwatch takes it over", name, m.Manager)
		}
	}
	current, wanted := l.pods()
	switch {
	case l.kind == "cronjob":
		warn(WarnUnwatched, "%s has the new image from its next job on, so whether that works is not known", name)
	case !l.isWatched():
		warn(WarnUnwatched, "the pods of %s are replaced when somebody deletes them (OnDelete), so whether the new image works is not known", name)
	case current < wanted:
		warn(WarnUnhealthy, "%s of %s pods of %s are ready, so a failed update returns to what does not work either",
			fmt.Sprint(current), fmt.Sprint(wanted), name)
	}
	if h := rules.Health; h.HTTP != "" || h.TCP != "" || len(h.Command) > 0 {
		warn(WarnProbe, "the probe of %s is not used: Kubernetes waits for the readiness probes of its pods", name)
	}
	if len(rules.Hooks.Pre)+len(rules.Hooks.Post) > 0 {
		warn(WarnHooks, "the hooks of %s are not run: they belong to one container, and a workload has many pods", name)
	}
	return all
}
