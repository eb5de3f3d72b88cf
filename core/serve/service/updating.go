package service

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Permission says whether an actor can update the containers of a watcher.
type Permission struct {
	// Allowed is true when the actor may, and the watcher too.
	Allowed bool
	// Why says why not, where that is known: to the watcher, whose Remedy names the setting
	// that allows it, or to the actor.
	Why, Remedy string
	// Paste has the lines that allow it, if there are any.
	Paste config.Paste
}

// UpdatePermission returns whether an actor can update the containers of a watcher.
func (s *Service) UpdatePermission(actor auth.Actor, watcherName string) Permission {
	if s.opt.Updater == nil {
		return Permission{}
	}
	var forbidden *updater.ForbiddenError
	switch err := s.opt.Updater.Allowed(watcherName); {
	case errors.As(err, &forbidden):
		return Permission{Why: s.opt.Redact(forbidden.Why), Remedy: s.opt.Redact(forbidden.Remedy), Paste: forbidden.Paste}
	case errors.Is(err, updater.ErrUnsupported):
		return Permission{Why: "its watcher is of a type that only lists containers"}
	case err != nil:
		return Permission{}
	}
	if err := allow(actor, auth.Write, "update containers"); err != nil {
		return Permission{Why: err.Error(), Paste: ToWrite(actor.Identity)}
	}
	return Permission{Allowed: true}
}

// ToWrite returns the lines that give a program whose token may only read one that may write; nothing
// for who has no token.
func ToWrite(caller auth.Identity) config.Paste {
	if !caller.Token() {
		return config.Paste{}
	}
	return config.Paste{Docs: config.Docs("authentication.md#tokens"), Lines: []config.Lines{{
		Where: "Where the database of Dogwatch can be written, to get a token that may",
		Text:  "dogwatch token create updates --scope write\n",
	}}}
}

// PreviousImage returns the reference of the image to which a rollback of a container
// would return; "" when there is none.
func (s *Service) PreviousImage(ctx context.Context, c sdk.Container) (string, error) {
	if s.opt.Updater == nil {
		return "", nil
	}
	return s.opt.Updater.Previous(ctx, c)
}

// OperationsUnderWay returns how far the operations under way are. Their texts are redacted.
func (s *Service) OperationsUnderWay() []updater.Progress {
	if s.opt.Updater == nil {
		return nil
	}
	return s.opt.Updater.UnderWay()
}

// OperationProgress returns how far the step under way of an operation is; false when
// it is not under way.
func (s *Service) OperationProgress(id string) (watcher.StepProgress, bool) {
	if s.opt.Updater == nil {
		return watcher.StepProgress{}, false
	}
	p, known := s.opt.Updater.Progress(id)
	p.Message = s.opt.Redact(p.Message)
	return p, known
}
