package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Source is the watcher of the agent's own host: that of a plugin which the agent has started.
type Source interface {
	ListRaw(ctx context.Context) ([]watcher.Container, error)
	Watch(ctx context.Context, emit func(watcher.Event)) error
	Probe(ctx context.Context) (sdk.ProbeResult, error)
	watcher.Updater
	watcher.LogReader
}

// Watcher is what an agent lets its controller do with the watcher of its host. Its methods may be called
// concurrently.
type Watcher struct {
	source     Source
	operations *Operations
	limits     Limits
	blank      func(string) string
	// name is what the controller calls the agent.
	name atomic.Pointer[string]
}

var (
	_ watcher.Updater   = (*Watcher)(nil)
	_ watcher.LogReader = (*Watcher)(nil)
)

// NewWatcher returns the watcher of an agent, whose operations are those of the source. What blank returns for a text
// has no secrets of the agent.
func NewWatcher(source Source, operations *Operations, limits Limits, blank func(string) string) *Watcher {
	return &Watcher{source: source, operations: operations, limits: limits, blank: blank}
}

func (w *Watcher) called() string {
	if name := w.name.Load(); name != nil {
		return *name
	}
	return "the host"
}

// List implements watcher.Watcher.
func (w *Watcher) List(ctx context.Context) ([]watcher.Container, error) {
	return w.source.ListRaw(ctx)
}

// Watch implements watcher.EventWatcher. The first event has the containers listed: what happened while there was no
// link is not known. While the plugin of the host is down it waits for it.
func (w *Watcher) Watch(ctx context.Context, emit func(watcher.Event)) error {
	emit(watcher.Event{Action: watcher.ActionChanged})
	return w.source.Watch(ctx, emit)
}

// Probe implements sdk.Prober.
func (w *Watcher) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	found, err := w.source.Probe(ctx)
	if errors.Is(err, sdk.ErrUnsupported) {
		return sdk.ProbeResult{Summary: "the agent answers; the watcher of its host has no probe"}, nil
	}
	return found, err
}

// ReadLog implements watcher.LogReader. It is an ErrUnsupported unless the owner of the host allows it.
func (w *Watcher) ReadLog(ctx context.Context, req watcher.LogRequest) (watcher.Log, error) {
	if !w.limits.Logs {
		return watcher.Log{}, sdk.WithKind(sdk.ErrUnsupported, fmt.Errorf("the owner of %s does not allow reading the logs "+
			"of containers: run dogwatch agent --logs there", w.called()))
	}
	log, err := w.source.ReadLog(ctx, req)
	redact.Each(log.Lines, func(l *watcher.LogLine) *string { return &l.Text }, w.blank)
	return log, err
}

// Plan implements watcher.Updater. What the owner of the host does not allow is in the plan.
func (w *Watcher) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	rules, warnings, blocks, err := w.allowed(ctx, req)
	if err != nil {
		return watcher.Plan{}, err
	}
	req.Rules, req.Credentials = rules, sdk.Credentials{}
	plan, err := w.source.Plan(ctx, req)
	if err != nil {
		return plan, err
	}
	var all []watcher.Container
	if len(w.limits.Stacks) > 0 {
		if all, err = w.source.ListRaw(ctx); err != nil {
			return plan, err
		}
	}
	plan.Warnings = slices.Concat(plan.Warnings, warnings)
	plan.Blocks = slices.Concat(w.limits.blocks(w.called(), plan, all), blocks, plan.Blocks)
	return plan, nil
}

// allowed returns what of the rules of a request its limits allow; see Limits.rules.
func (w *Watcher) allowed(
	ctx context.Context, req watcher.UpdateRequest,
) (rules watcher.UpdateRules, warnings, blocks []watcher.Reason, err error) {
	var own watcher.Container
	if hooks := req.Rules.Hooks; len(hooks.Pre)+len(hooks.Post)+len(req.Rules.Health.Command) > 0 {
		all, err := w.source.ListRaw(ctx)
		if err != nil {
			return rules, nil, nil, err
		}
		if i := slices.IndexFunc(all, func(c watcher.Container) bool { return c.ID == req.ContainerID }); i >= 0 {
			own = all[i]
		}
	}
	rules, warnings, blocks = w.limits.rules(w.called(), req.Rules, own)
	return rules, warnings, blocks, nil
}

// Apply implements watcher.Updater. An operation that was begun before is followed. The plan is made once more, as that
// of the controller could name what the owner of the host does not allow.
func (w *Watcher) Apply(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (watcher.Outcome, error) {
	j, err := w.operations.find(op.ID)
	if err != nil {
		return watcher.Outcome{}, err
	}
	if j == nil {
		plan, err := w.Plan(ctx, op.Request)
		switch {
		case err != nil:
			return watcher.Outcome{}, err
		case len(plan.Blocks) > 0:
			return unchanged(op, plan.Blocks[0].Code, plan.Blocks[0].Text), nil
		case plan.State != op.Plan.State || plan.ContainerID != op.Plan.ContainerID:
			return unchanged(op, "changed", plan.Name+" or what depends on it changed since this was planned: plan again"), nil
		}
		op.Plan, op.Steps = plan, nil
		if !w.limits.Hooks {
			op.Request.Rules.Hooks = watcher.Hooks{}
		}
		var refused *watcher.Reason
		if j, refused, err = w.operations.begin(op); err != nil {
			return watcher.Outcome{}, err
		}
		if refused != nil {
			return unchanged(op, refused.Code, refused.Text), nil
		}
	}
	return j.follow(ctx, op.Steps, journal)
}

// Recover implements watcher.Updater: it says what became of an operation. One that never came here is not begun any
// more, also when it comes late.
func (w *Watcher) Recover(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (watcher.Outcome, error) {
	j, err := w.operations.find(op.ID)
	if err != nil {
		return watcher.Outcome{}, err
	}
	if j == nil {
		out := unchanged(op, watcher.ReasonInterrupted,
			"the update of "+op.Plan.Name+" was interrupted before its container was changed")
		if len(op.Steps) > 0 {
			out.State = watcher.Broken
			out.Reason = watcher.Reason{Code: ReasonUnknown, Text: fmt.Sprintf("the agent has no record of it any more, so "+
				"what became of %s is not known: look at it", op.Plan.Name)}
		}
		if j, err = w.operations.settle(op, out); err != nil {
			return watcher.Outcome{}, err
		}
	}
	if op.Cancelled {
		j.cancel()
	}
	return j.follow(ctx, op.Steps, journal)
}
