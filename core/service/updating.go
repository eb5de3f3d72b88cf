package service

import (
	"context"
	"errors"
	"strings"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Permission says whether an actor can update the containers of a watcher.
type Permission struct {
	// Allowed is true when the actor may, and the watcher too.
	Allowed bool
	// Remedy says what allows it to the watcher; "" when something else is missing.
	Remedy string
}

// UpdatePermission returns whether an actor can update the containers of a watcher.
func (s *Service) UpdatePermission(actor auth.Actor, watcherName string) Permission {
	if s.opt.Updater == nil {
		return Permission{}
	}
	err := s.opt.Updater.Allowed(watcherName)
	if errors.Is(err, updater.ErrForbidden) {
		_, remedy, _ := strings.Cut(err.Error(), updater.ErrForbidden.Error()+": ")
		return Permission{Remedy: s.opt.Redact(remedy)}
	}
	return Permission{Allowed: err == nil && actor.Scope >= auth.Write}
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
