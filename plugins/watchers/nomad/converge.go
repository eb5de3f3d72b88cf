package nomad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/secrets"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/internal/api"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// steadyLooks is in how many looks in a row allocations without a deployment must run, and not restart.
	steadyLooks = 5
	// longestDeadline bounds the deadline of a job.
	longestDeadline = time.Hour
)

// condition is how far the rollout of a version is.
type condition struct {
	healthy, wanted int
	done            bool
	settled         bool   // done counts at once, since the cluster has waited
	restarts        int    // of the allocations
	failure         string // why the cluster has given up; "" while it has not
	problem         string // why an allocation does not run, or is not placed; "" where that is not known
}

// Converge implements orchestrated.Workload: it waits until the deployment of the version with an image is successful,
// or where there is none until its allocations run. The error says why they do not: that the cluster gave up, that
// nothing changed for too long, or who gave the job another image.
func (r *rollout) Converge(ctx context.Context, image string, _ *live) error {
	var best, restarts, steady int
	var seen uint64
	since := time.Now()
	for {
		l, p, err := r.look(ctx)
		switch {
		case errors.Is(err, sdk.ErrNotFound), ctx.Err() != nil:
			return cmp.Or(ctx.Err(), err)
		case err != nil: // the server may be restarting
			r.log.Debug("a job cannot be watched, trying again", "job", r.Op.Plan.Name, "error", err)
		case l.image != image:
			return &orchestrated.OvertakenError[live]{By: l, Name: l.name}
		case l.Stop:
			return sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s was stopped meanwhile", l.name))
		case p.failure != "":
			return errors.New(p.failure)
		}
		steady++
		if err != nil || !p.done || p.restarts > restarts {
			steady = 0
		}
		if restarts = p.restarts; steady >= steadyLooks || steady > 0 && p.settled || err == nil && !l.isWatched() {
			return nil
		}
		if err == nil {
			r.Journal.Progress(watcher.StepProgress{
				Message: fmt.Sprintf("%d of %d allocations run the image", p.healthy, p.wanted),
				Current: int64(p.healthy), Total: int64(p.wanted),
			})
			if p.healthy > best || l.JobModifyIndex > seen {
				best, seen, since = max(best, p.healthy), l.JobModifyIndex, time.Now()
			}
		}
		if deadline := r.deadline(l); time.Since(since) > deadline {
			return cmp.Or(err, fmt.Errorf("nothing changed for %s, and %d of %d allocations of %s run the image: %s", deadline,
				p.healthy, p.wanted, r.Op.Plan.Name, cmp.Or(p.problem, "the cluster does not say why")))
		}
		if err := backoff.Wait(ctx, r.poll); err != nil {
			return err
		}
	}
}

// deadline is how long nothing may change: what the user says, or a little longer than the job allows, so that the
// cluster gives up before.
func (r *rollout) deadline(l live) time.Duration {
	if window := r.Op.Request.Rules.Health.Window; window > 0 {
		return window
	}
	deadline := r.progressDeadline
	if u := l.group.Update; u != nil && u.ProgressDeadline > 0 {
		deadline = min(u.ProgressDeadline, longestDeadline)
	}
	return deadline + steadyLooks*r.poll
}

// look reads the job, and how far its newest version is.
func (r *rollout) look(ctx context.Context) (l live, p condition, err error) {
	if l, err = r.Read(ctx); err != nil || l.Stop || !l.isWatched() {
		return l, p, err
	}
	all, err := r.client.Allocations(ctx, l.job.namespace, l.job.id)
	if err != nil {
		return l, p, err
	}
	_, p.problem = newest(all, *r.target, l.Version.Version)
	if made, err := r.deployed(ctx, l, &p); made || err != nil {
		return l, p, err
	}
	return l, p, r.placed(ctx, l, all, &p)
}

// deployed reads how far the deployment of a job is, and reports whether its newest version has one. That is made with
// the first allocation. Services have one unless max_parallel is 0, system jobs since Nomad 1.11.
func (r *rollout) deployed(ctx context.Context, l live, p *condition) (made bool, err error) {
	d, err := r.client.Deployment(ctx, l.job.namespace, l.job.id)
	if err != nil || d.ID == "" || d.JobVersion != l.Version.Version {
		return false, err
	}
	for _, group := range d.TaskGroups {
		p.healthy, p.wanted = p.healthy+group.HealthyAllocs, p.wanted+group.DesiredTotal
	}
	p.done, p.settled = d.Status == "successful", true
	if d.Status == "failed" || d.Status == "cancelled" {
		p.failure = httpclient.Clean(cmp.Or(d.StatusDescription, "the deployment is "+d.Status))
		if p.problem != "" {
			p.failure = p.problem + " (" + p.failure + ")"
		}
	}
	return true, nil
}

// placed reads how far the allocations of a job are that has no deployment.
func (r *rollout) placed(ctx context.Context, l live, all []api.Allocation, p *condition) error {
	evaluations, err := r.client.Evaluations(ctx, l.job.namespace, l.job.id)
	if err != nil {
		return err
	}
	var last api.Evaluation
	for _, e := range evaluations {
		if e.Status == "complete" && e.CreateIndex >= max(l.JobModifyIndex, last.CreateIndex) {
			last = e
		}
	}
	if l.Type == "service" {
		p.wanted = l.group.Count
	}
	running := 0 // or shall
	for _, a := range all {
		isNew := a.JobVersion == l.Version.Version
		isRunning := a.DesiredStatus == "run" && (a.ClientStatus == "running" || a.ClientStatus == "pending")
		isDone := isNew && a.ClientStatus == "complete" && strings.HasSuffix(l.Type, "batch")
		if a.TaskGroup != l.target.group || !isRunning && !isDone && !isNew {
			continue
		}
		if isNew && a.ClientStatus == "failed" {
			p.failure = cmp.Or(p.problem, "the allocation "+short(a.ID)+" failed")
		}
		if isRunning || isDone {
			running++
		}
		if isNew && (a.ClientStatus == "running" || isDone) {
			p.healthy++
			p.restarts += a.TaskStates[l.task].Restarts
		}
	}
	p.wanted = max(p.wanted, running)
	failed, isFailed := last.FailedTGAllocs[l.target.group]
	if isFailed && p.problem == "" {
		p.problem = unplaced(l.target.group, failed)
	}
	p.done = last.CreateIndex > 0 && !isFailed && p.healthy >= p.wanted
	return nil
}

// newest returns the newest allocation of a version in which a task has a problem, and that problem; nil for none.
func newest(all []api.Allocation, t target, version uint64) (found *api.Allocation, why string) {
	for i, a := range all {
		text, _ := problem(a, t.task)
		isNewer := found == nil || a.CreateIndex > found.CreateIndex
		if a.TaskGroup == t.group && a.JobVersion == version && text != "" && isNewer {
			found, why = &all[i], text
		}
	}
	return found, why
}

// problem says why a task of an allocation does not run, or not well, and with which exit code it ended; "" where that
// is not known.
func problem(a api.Allocation, task string) (text string, exitCode int) {
	for _, e := range a.TaskStates[task].Events {
		isFailure := e.Type == "Terminated" || strings.Contains(strings.ToLower(e.Type), "fail")
		if !isFailure && (e.Type != "Alloc Unhealthy" || text != "") {
			continue
		}
		if e.Type == "Terminated" {
			exitCode, _ = strconv.Atoi(e.Details["exit_code"]) // 0 where it is not known
		}
		text = fmt.Sprintf("the allocation %s: %s", short(a.ID), httpclient.Clean(cmp.Or(e.DisplayMessage, e.Type)))
	}
	return text, exitCode
}

// short is an id as the command nomad shows it.
func short(id string) string { return httpclient.Clean(id[:min(8, len(id))]) }

// Evidence implements orchestrated.Workload.
func (r *rollout) Evidence(ctx context.Context, image string) *watcher.Evidence {
	now, err := r.Read(ctx)
	if err != nil {
		return nil
	}
	of := r.target.job
	versions, err := r.client.Versions(ctx, of.namespace, of.id)
	if err != nil {
		return nil
	}
	all, err := r.client.Allocations(ctx, of.namespace, of.id)
	if err != nil {
		return nil
	}
	for _, v := range versions {
		if l, is := r.target.in(v); is && l.image == image {
			a, why := newest(all, *r.target, v.Version)
			if a == nil {
				return nil
			}
			_, code := problem(*a, r.target.task)
			hide := secrets.Hiding(now.Settings(r.target.group, r.target.task))
			return &watcher.Evidence{
				Container: short(a.ID), Status: a.ClientStatus, ExitCode: code, Error: hide(why),
				Log: r.output(ctx, a.ID, "stdout", hide) + r.output(ctx, a.ID, "stderr", hide),
			}
		}
	}
	return nil
}

// output is the end of what the task of an allocation has written to a stream, with a line break; "" for nothing.
func (r *rollout) output(ctx context.Context, allocation, stream string, hide func(string) string) string {
	text := secrets.EndOfLog(func(to io.Writer) error {
		err := r.client.Log(ctx, r.target.job.namespace, allocation, r.target.task, stream, secrets.MaxLog, to)
		if err == nil || errors.Is(err, sdk.ErrNotFound) {
			return nil
		}
		return errors.New(orchestrated.Sentence(err))
	}, hide)
	if text = strings.TrimRight(text, "\n"); text != "" {
		text += "\n"
	}
	return text
}
