package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Change asks for the update or the rollback of a container.
type Change struct {
	// Container is its id.
	Container string
	Kind      operation.Kind
	// Version is the tag to update to, the one of the result or of one of its levels; "" for the one of the result.
	Version string
	// Rules are added to what labels and configuration ask for.
	Rules watcher.UpdateRules
	// Digest and State are those of the plan that the user has confirmed, if any; see updater.Request.
	Digest, State string
}

// Plan says what an update or a rollback would do, and does nothing. What keeps it
// from being carried out is in the plan's Blocks. The error is an ErrNotFound when
// there is no such container, an ErrForbidden that names the setting when its watcher
// may not update, an *sdk.InvalidError when there is no such version, and else one of those of package updater.
func (s *Service) Plan(ctx context.Context, actor auth.Actor, change Change) (watcher.Plan, error) {
	if err := allow(actor, auth.Read, "see plans"); err != nil {
		return watcher.Plan{}, err
	}
	req, err := s.changeRequest(ctx, actor, change)
	if err != nil {
		return watcher.Plan{}, err
	}
	plan, err := s.opt.Updater.Plan(ctx, req)
	if err != nil {
		return watcher.Plan{}, s.changeError(err)
	}
	return s.redactPlan(plan), nil
}

// StartOperation begins the update or the rollback of a container, and returns once that is
// stored: it is carried out from then on, whatever becomes of ctx. The error is that
// of Plan, or an updater.ErrConflict or updater.ErrBlocked.
func (s *Service) StartOperation(ctx context.Context, actor auth.Actor, change Change) (operation.Operation, error) {
	if err := allow(actor, auth.Write, "update containers"); err != nil {
		return operation.Operation{}, err
	}
	req, err := s.changeRequest(ctx, actor, change)
	if err != nil {
		return operation.Operation{}, err
	}
	op, err := s.opt.Updater.Start(ctx, req)
	if err != nil {
		s.log.Info("operation refused", "kind", change.Kind, "container", req.Container.Watcher+"/"+req.Container.Name,
			"actor", actor.User, "address", actor.ClientAddress(), "error", s.opt.Redact(err.Error()))
		return operation.Operation{}, s.changeError(err)
	}
	s.log.Info("operation queued", "id", op.ID, "kind", change.Kind, "container", op.Watcher+"/"+op.Name, "actor",
		actor.User, "address", actor.ClientAddress())
	return s.redactOperation(op), nil
}

func (s *Service) changeRequest(ctx context.Context, actor auth.Actor, change Change) (updater.Request, error) {
	rec, err := s.Container(change.Container)
	switch {
	case err != nil:
		return updater.Request{}, err
	case s.opt.Updater == nil:
		return updater.Request{}, fmt.Errorf("%s/%s: %w", rec.Container.Watcher, rec.Container.Name, updater.ErrUnsupported)
	}
	c := rec.Container
	if change.Kind == operation.Update {
		if c, err = s.changed(ctx, c, change.Version); err != nil {
			return updater.Request{}, err
		}
	}
	return updater.Request{Container: c, Kind: change.Kind, Rules: change.Rules, Actor: actor.User,
		Digest: change.Digest, State: change.State}, nil
}

// CancelOperation has an operation stop before its next step. The error is an
// ErrNotFound when there is none with this id, and an updater.ErrEnded when it has ended.
func (s *Service) CancelOperation(ctx context.Context, actor auth.Actor, id string) error {
	if err := allow(actor, auth.Write, "cancel operations"); err != nil {
		return err
	}
	if s.opt.Updater == nil {
		return fmt.Errorf("cancel operation %.20q: %w", id, ErrNotFound)
	}
	if err := s.opt.Updater.Cancel(ctx, id, actor.User); err != nil {
		return s.changeError(err)
	}
	s.log.Info("operation cancelled", "id", id, "actor", actor.User, "address", actor.ClientAddress())
	return nil
}

// Operations returns the operations that a filter selects, the newest first.
func (s *Service) Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error) {
	if s.opt.Operations == nil {
		return nil, nil
	}
	found, err := s.opt.Operations.Operations(ctx, f)
	for i := range found {
		found[i] = s.redactOperation(found[i])
	}
	return found, err
}

// Operation returns the operation with an id, or an ErrNotFound.
func (s *Service) Operation(ctx context.Context, id string) (operation.Operation, error) {
	missing := fmt.Errorf("operation %.20q: %w", id, ErrNotFound)
	if s.opt.Operations == nil {
		return operation.Operation{}, missing
	}
	op, err := s.opt.Operations.Operation(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, operation.ErrNotFound):
		return operation.Operation{}, missing
	case err != nil:
		return operation.Operation{}, err
	}
	return s.redactOperation(op), nil
}

// changeError returns an error of the updater without secrets, of the kind that
// callers of this package know.
func (s *Service) changeError(err error) error {
	var blocked *updater.BlockedError
	var conflict *updater.ConflictError
	switch {
	case errors.As(err, &blocked):
		return &updater.BlockedError{Plan: s.redactPlan(blocked.Plan)}
	case errors.As(err, &conflict):
		return &updater.ConflictError{Operation: s.redactOperation(conflict.Operation)}
	case errors.Is(err, updater.ErrForbidden):
		return sdk.WithKind(ErrForbidden, s.safe(err))
	case errors.Is(err, operation.ErrNotFound):
		return sdk.WithKind(ErrNotFound, s.safe(err))
	}
	return s.safe(err)
}

// redactPlan returns a plan without secrets. Of a user's environment variables only
// the names are shown. Codes and ids stay as they are, and names and
// references but for what cannot be seen of them.
func (s *Service) redactPlan(p watcher.Plan) watcher.Plan {
	p.Name, p.From.Reference, p.To.Reference = visible.Line(p.Name), visible.Line(p.From.Reference),
		visible.Line(p.To.Reference)
	p.Dependents, p.Backups = slices.Clone(p.Dependents), slices.Clone(p.Backups)
	for i := range p.Dependents {
		p.Dependents[i].Name = visible.Line(p.Dependents[i].Name)
	}
	for i := range p.Backups {
		p.Backups[i].Name, p.Backups[i].Image = visible.Line(p.Backups[i].Name), visible.Line(p.Backups[i].Image)
	}
	p.Steps, p.Carried, p.Changes = slices.Clone(p.Steps), slices.Clone(p.Carried), slices.Clone(p.Changes)
	for i := range p.Steps {
		p.Steps[i].Text = s.opt.Redact(p.Steps[i].Text)
	}
	for i, c := range p.Carried {
		p.Carried[i].Value = s.opt.Redact(c.Value)
		if strings.HasPrefix(c.Name, "env ") {
			p.Carried[i].Value = ""
		}
	}
	for i, c := range p.Changes {
		p.Changes[i].Before, p.Changes[i].After = s.opt.Redact(c.Before), s.opt.Redact(c.After)
	}
	p.Files = slices.Clone(p.Files)
	for i := range p.Files {
		p.Files[i].Diff = s.opt.Redact(p.Files[i].Diff)
	}
	p.Warnings, p.Blocks = s.reasons(p.Warnings), s.reasons(p.Blocks)
	return p
}

// redactOperation returns an operation without secrets in the texts that come from elsewhere.
func (s *Service) redactOperation(op operation.Operation) operation.Operation {
	op.Error = s.opt.Redact(op.Error)
	op.Plan = s.redactPlan(op.Plan)
	op.Image.Config = nil
	op.Rules.Health.Command = s.texts(op.Rules.Health.Command)
	op.Rules.Health.HTTP = s.opt.Redact(op.Rules.Health.HTTP)
	op.Rules.Hooks.Pre, op.Rules.Hooks.Post = s.texts(op.Rules.Hooks.Pre), s.texts(op.Rules.Hooks.Post)
	op.Steps = slices.Clone(op.Steps)
	for i := range op.Steps {
		step := &op.Steps[i]
		step.Text, step.Error = s.opt.Redact(step.Text), s.opt.Redact(step.Error)
		step.Facts = maps.Clone(step.Facts)
		for name, value := range step.Facts {
			step.Facts[name] = s.opt.Redact(value)
		}
	}
	if op.Outcome != nil {
		outcome := *op.Outcome
		outcome.Reason.Text = s.opt.Redact(outcome.Reason.Text)
		outcome.Warnings = s.reasons(outcome.Warnings)
		outcome.Evidence = s.redactEvidence(outcome.Evidence)
		op.Outcome = &outcome
	}
	return op
}

func (s *Service) redactEvidence(e *watcher.Evidence) *watcher.Evidence {
	if e == nil {
		return nil
	}
	clean := *e
	clean.Container, clean.Status = visible.Line(e.Container), visible.Line(e.Status)
	clean.Error, clean.Log = s.opt.Redact(e.Error), s.opt.Redact(e.Log)
	clean.Health = slices.Clone(e.Health)
	for i := range clean.Health {
		clean.Health[i].Output = s.opt.Redact(clean.Health[i].Output)
	}
	return &clean
}

func (s *Service) reasons(all []watcher.Reason) []watcher.Reason {
	redacted := slices.Clone(all)
	for i := range redacted {
		redacted[i].Text = s.opt.Redact(redacted[i].Text)
	}
	return redacted
}
