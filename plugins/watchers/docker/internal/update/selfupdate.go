package update

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// handOver takes the steps of a plan that a helper finishes.
func (r *replacement) handOver(ctx context.Context, f replace.Facts, plan watcher.Plan) (watcher.Outcome, error) {
	for _, s := range plan.Steps {
		var err error
		if s.Code == watcher.StepHandover {
			err = r.startHelper(ctx, f, s)
		} else {
			err = r.step(ctx, s)
		}
		var gone *journalError
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.As(err, &gone):
			return watcher.Outcome{}, err
		default:
			return unchanged(r.op, reasonCode(s, err), err.Error()), nil
		}
		if s.Code == watcher.StepHandover {
			return r.follow(ctx, f.Self, s)
		}
	}
	return unchanged(r.op, "dryrun", "the image was pulled, and "+plan.Name+" was left as it is (dryrun)"), nil
}

// startHelper creates and starts the helper. The step ends only with the operation.
func (r *replacement) startHelper(ctx context.Context, f replace.Facts, s watcher.Step) error {
	switch err := r.journal.Begin(ctx, s); {
	case errors.Is(err, watcher.ErrStop):
		return err
	case err != nil:
		return &journalError{err}
	}
	err := r.runHelper(ctx, f)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if left := r.engine.Remove(ctx, r.helper(), true, false); left != nil {
		return &journalError{errors.Join(err, left)} // it may run: Recover finds out
	}
	if end := r.journal.End(ctx, s, nil, err); end != nil {
		return &journalError{end}
	}
	return err
}

func (r *replacement) helper() string { return replace.HelperName(r.op.Plan.Name, r.op.ID) }

func (r *replacement) runHelper(ctx context.Context, f replace.Facts) error {
	spec, err := r.helperSpec(ctx, f)
	if err != nil {
		return err
	}
	body := container.CreateRequest{
		Config: spec.Config, HostConfig: spec.Host,
		NetworkingConfig: &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{}},
	}
	for _, e := range spec.Create {
		body.NetworkingConfig.EndpointsConfig[e.Name] = e.Settings
	}
	query := engine.Query("name", spec.Name)
	if err := r.engine.Post(ctx, "create the helper container", "/containers/create", query, body, nil); err != nil {
		return err
	}
	for _, e := range spec.Connect {
		in := network.ConnectOptions{Container: spec.Name, EndpointConfig: e.Settings}
		if err := r.engine.Post(ctx, "connect the helper container", "/networks/"+e.Name+"/connect", nil, in,
			nil); err != nil {
			return err
		}
	}
	if _, err := r.engine.Output(ctx, spec.Name); err != nil { // without which its outcome would not be known
		return err
	}
	return r.engine.Post(ctx, "start the helper container", "/containers/"+spec.Name+"/start", nil, nil, nil)
}

// helperSpec plans what the helper is to do, and the helper itself.
func (r *replacement) helperSpec(ctx context.Context, f replace.Facts) (replace.Spec, error) {
	self := f.Target
	if i := slices.IndexFunc(f.Others, func(c replace.Container) bool { return c.ID == f.Self }); i >= 0 {
		self = f.Others[i]
	}
	options, err := json.Marshal(r.HelperOptions(r.engine.Endpoint.String()))
	if err != nil {
		return replace.Spec{}, err
	}
	job := Handover{
		Operation: r.op.ID, Helper: r.helper(), UserAgent: r.engine.UserAgent, Options: options, Request: r.op.Request,
	}
	job.Request.ContainerID = f.Target.ID
	job.Request.Image.ID, job.Request.Image.Config = r.imageID, nil
	job.Request.Credentials = sdk.Credentials{}
	job.Request.Rules.Compose = nil // the file is changed by now
	inner := f
	inner.Self, inner.Compose = "", replace.Compose{}
	job.Plan = replace.Plan(inner, job.Request)
	if len(job.Plan.Blocks) > 0 {
		return replace.Spec{}, &coded{job.Plan.Blocks[0].Code, job.Plan.Blocks[0].Text}
	}
	job.Plan.Carried, job.Plan.Changes, job.Plan.Warnings = nil, nil, nil
	text, err := json.Marshal(job)
	if err != nil {
		return replace.Spec{}, err
	}
	command, err := r.HelperCommand()
	if err != nil {
		return replace.Spec{}, err
	}
	return replace.Helper(f, self, job.Helper, r.op.ID, command, handoverVariable+"="+string(text)), nil
}

// errLeaving ends what follows a helper that is about to stop this very process.
var errLeaving = errors.New("a helper container goes on with the operation, " +
	"and the next start of Dogwatch reads how it ended")

// follow waits for the helper, stores the steps that it takes, and returns its outcome.
func (r *replacement) follow(ctx context.Context, self string, s watcher.Step) (watcher.Outcome, error) {
	var known []watcher.StepRecord
	for _, step := range r.op.Steps {
		if step.Code != watcher.StepPull && step.Code != watcher.StepEdit && step.Code != watcher.StepHandover {
			known = append(known, step)
		}
	}
	for starts := 0; ; {
		c, err := r.engine.Container(ctx, r.helper())
		switch {
		case engine.HasStatus(err, http.StatusNotFound),
			err == nil && c.State != nil && (c.State.Dead || c.State.Status == container.StateRemoving):
			return r.withoutHelper(ctx, self, s)
		case err != nil:
			return watcher.Outcome{}, err
		}
		log, err := r.engine.Output(ctx, r.helper())
		if engine.HasStatus(err, http.StatusConflict) || engine.HasStatus(err, http.StatusNotFound) { // it is being removed
			if err := pause(ctx, helperPause); err != nil {
				return watcher.Outcome{}, err
			}
			continue
		}
		if err != nil {
			return watcher.Outcome{}, err
		}
		helper := readHelper(log)
		running := c.State == nil || c.State.Running || c.State.Restarting
		if running && r.leaving(self, helper) {
			return watcher.Outcome{}, errLeaving
		}
		if known, err = r.relay(ctx, known, helper.steps); err != nil {
			return watcher.Outcome{}, err
		}
		if helper.progress != nil {
			r.journal.Progress(*helper.progress)
		}
		switch {
		case helper.outcome != nil:
			return r.finish(ctx, s, *helper.outcome)
		case running:
		case c.State.Status == container.StateCreated, starts == helperStarts:
			// It is removed so that it does not act later on.
			if err := r.engine.Remove(ctx, c.ID, true, false); err != nil {
				return watcher.Outcome{}, err
			}
			return r.withoutHelper(ctx, self, s)
		default: // it recovers what it left
			starts++
			r.log.Warn("the helper container exited too soon; starting it again", "container", r.helper(), "code",
				c.State.ExitCode, "log", tail(log))
			if err := r.engine.Post(ctx, "start the helper container", "/containers/"+c.ID+"/start", nil, nil,
				nil); err != nil && !engine.IsResponse(err) {
				return watcher.Outcome{}, err
			}
		}
		if err := pause(ctx, helperPause); err != nil {
			return watcher.Outcome{}, err
		}
	}
}

// leaving reports whether the helper is about to stop the container that this process runs in.
func (r *replacement) leaving(self string, helper helperLog) bool {
	if self == "" || helper.outcome != nil || len(helper.steps) == 0 {
		return false
	}
	s, ids := helper.steps[len(helper.steps)-1], recreated(r.op.Plan)
	isOld := false
	for _, id := range ids {
		isOld = isOld || id == self
	}
	stopsOld := s.Code == watcher.StepStop && ids[s.Container] == self
	stopsNew := strings.HasPrefix(s.ID, rollBackPrefix) && !isOld
	return !s.Ended && (stopsOld || stopsNew)
}

// relay has the host store those steps of the helper that it does not know.
func (r *replacement) relay(ctx context.Context, known, steps []watcher.StepRecord) ([]watcher.StepRecord, error) {
	for i, s := range steps {
		if i >= len(known) {
			err := r.journal.Begin(ctx, s.Step)
			if errors.Is(err, watcher.ErrStop) { // too late: the helper is not stopped any more
				err = r.journal.Begin(ctx, s.Step)
			}
			if err != nil {
				return known, &journalError{err}
			}
			known = append(known, watcher.StepRecord{Step: s.Step})
			r.noteStop(watcher.StepRecord{Step: s.Step})
		}
		if s.Ended && !known[i].Ended {
			var failed error
			if s.Error != "" {
				failed = errors.New(s.Error)
			}
			if err := r.journal.End(ctx, s.Step, s.Facts, failed); err != nil {
				return known, &journalError{err}
			}
			known[i] = s
			r.noteStop(s)
			// for a return without the helper
			if id := s.Facts[factNew]; id != "" && r.old[s.Container].ContainerJSONBase != nil {
				r.created[r.old[s.Container].ID] = id
			}
		}
	}
	return known, nil
}

// finish stores the outcome before it removes the helper, whose log is the only other place where it is.
func (r *replacement) finish(ctx context.Context, s watcher.Step, out watcher.Outcome) (watcher.Outcome, error) {
	fact := out
	fact.Evidence = nil // which the host cleans and stores with the outcome only
	text, err := json.Marshal(fact)
	if err != nil {
		return out, err
	}
	if err := r.journal.End(ctx, s, map[string]string{factOutcome: string(text)}, nil); err != nil {
		return watcher.Outcome{}, &journalError{err}
	}
	return r.removeHelper(ctx, out)
}

func (r *replacement) removeHelper(ctx context.Context, out watcher.Outcome) (watcher.Outcome, error) {
	err := r.engine.Remove(ctx, r.helper(), true, false)
	switch {
	case err != nil && !engine.IsResponse(err):
		return watcher.Outcome{}, err
	case err != nil:
		out.Warnings = append(out.Warnings, watcher.Reason{
			Code: "step." + watcher.StepHandover, Text: "the helper container " + r.helper() + " is left: " + err.Error(),
		})
	}
	return out, nil
}

// recoverHandover finds out how far a helper came, and waits for it.
func (r *replacement) recoverHandover(ctx context.Context) (watcher.Outcome, error) {
	var handover *watcher.StepRecord
	for i, s := range r.op.Steps {
		if s.Code == watcher.StepHandover {
			handover = &r.op.Steps[i]
		}
	}
	switch {
	case handover == nil:
		return unchanged(r.op, watcher.ReasonInterrupted,
			"the update of "+r.op.Plan.Name+" was interrupted before anything was changed"), nil
	case handover.Facts[factOutcome] != "":
		var out watcher.Outcome
		if err := json.Unmarshal([]byte(handover.Facts[factOutcome]), &out); err != nil {
			return out, fmt.Errorf("read the outcome of the helper container: %w", err)
		}
		return r.removeHelper(ctx, out)
	case handover.Ended:
		return unchanged(r.op, reasonCode(handover.Step, nil), handover.Error), nil
	}
	all, err := r.engine.Containers(ctx, true)
	if err != nil {
		return watcher.Outcome{}, err
	}
	return r.follow(ctx, r.self(ctx, all), handover.Step)
}

// withoutHelper ends an operation whose helper is gone. The Dogwatch that runs is the
// one that stays: the old one returns to what was, the new one removes what was.
func (r *replacement) withoutHelper(ctx context.Context, self string, s watcher.Step) (watcher.Outcome, error) {
	name, cause := r.op.Plan.Name, errors.New("the helper container was gone before it had finished")
	clear(r.stopping) // this process runs in one of the old containers, or needs it, and must not stop it
	if err := pause(ctx, helperSettle); err != nil {
		return watcher.Outcome{}, err
	}
	old, err := r.engine.Container(ctx, r.op.Plan.ContainerID)
	if err != nil && !engine.HasStatus(err, http.StatusNotFound) {
		return watcher.Outcome{}, err
	}
	holder, err := r.engine.Container(ctx, name)
	if err != nil && !engine.HasStatus(err, http.StatusNotFound) {
		return watcher.Outcome{}, err
	}
	ids := recreated(r.op.Plan)
	stays := holder.ContainerJSONBase != nil && holder.ID != ids[name] && holder.State != nil && holder.State.Running
	for _, id := range ids {
		stays = stays && id != self
	}
	var out watcher.Outcome
	switch untouched := old.ContainerJSONBase != nil && strings.TrimPrefix(old.Name, "/") == name; {
	case stays:
		for other, id := range ids {
			if err := r.removeOld(ctx, other, id); err != nil && !engine.HasStatus(err, http.StatusNotFound) {
				r.warn(watcher.Step{Code: watcher.StepRemove, Text: "remove the old container " + other}, err)
			}
		}
		out, err = r.updated(ctx)
	case untouched:
		out = unchanged(r.op, watcher.ReasonInterrupted, cause.Error())
	default:
		if r.target, err = target(r.op.Plan.From.Reference, r.op.Request.Image); err != nil {
			return out, err
		}
		out, err = r.rollBack(ctx, watcher.Step{Code: watcher.ReasonInterrupted}, cause)
	}
	if err != nil {
		return watcher.Outcome{}, err
	}
	return r.finish(ctx, s, out)
}
