package update

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func unchanged(op watcher.Operation, code, text string) watcher.Outcome {
	return watcher.Outcome{
		State: watcher.Unchanged, Reason: watcher.Reason{Code: code, Text: text}, ContainerID: op.Request.ContainerID,
	}
}

// updated describes the end of a successful operation, with what another client did meanwhile.
func (r *replacement) updated(ctx context.Context) (watcher.Outcome, error) {
	name, out := r.op.Plan.Name, watcher.Outcome{State: watcher.Updated}
	id := r.created[r.op.Plan.ContainerID]
	c, err := r.engine.Container(ctx, cmp.Or(id, name))
	if id != "" && engine.HasStatus(err, http.StatusNotFound) {
		out.State, out.Warnings = watcher.Broken, r.warnings
		text := removedMeanwhile(name).text + " after it had worked: create it again"
		out.Reason = watcher.Reason{Code: lostNew, Text: text}
		return out, nil
	}
	if err != nil {
		return out, err
	}
	step := watcher.Step{Code: watcher.StepStart, Text: "leave the new " + name + " as it was"}
	if other := strings.TrimPrefix(c.Name, "/"); other != name {
		r.warn(step, fmt.Errorf("another client has renamed it to %s", other))
	}
	if err := alive(c); err != nil && replace.Statuses(r.op.Plan)[name] != replace.Stopped {
		r.warn(step, fmt.Errorf("it does not run any more: %w", err))
	}
	out.ContainerID, out.Downtime, out.Warnings = c.ID, r.health, r.warnings
	backups, err := r.backupsNow(ctx, name)
	for _, b := range backups {
		out.Kept = append(out.Kept, engine.Name(b))
	}
	return out, err
}
