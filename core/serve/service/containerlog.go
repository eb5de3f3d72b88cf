package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// ErrNoLog: the log of a container cannot be read. The text of the error says why.
var ErrNoLog = errors.New("there is no log to read")

// LogReaders are the watchers that read the logs of containers.
type LogReaders interface {
	// LogReader returns the watcher with a name; false when there is none.
	LogReader(watcherName string) (LogReader, bool)
}

// LogReader is a watcher; *component.Watcher says what its methods return.
type LogReader interface {
	watcher.LogReader
	CanReadLogs() bool
	LogsMissing() (variable string, byOwner bool)
}

// LogAccess says whether an actor can read the logs of a watcher's containers.
type LogAccess struct {
	Allowed bool
	// Variable is the environment variable that has to be true for that; "" where that is not what is missing.
	Variable string
	// ByOwner is true where the owner of the host of an agent does not allow it.
	ByOwner bool
}

// LogAccess returns whether an actor can read the logs of a watcher's containers.
func (s *Service) LogAccess(actor auth.Actor, watcherName string) LogAccess {
	w, known := s.logReader(watcherName)
	if !known || !w.CanReadLogs() || actor.Scope < auth.Write {
		return LogAccess{}
	}
	variable, byOwner := w.LogsMissing()
	return LogAccess{Allowed: variable == "" && !byOwner, Variable: variable, ByOwner: byOwner}
}

// remedy says what would let logs be read.
func (a LogAccess) remedy() string {
	const onHost = "run dogwatch agent --logs on its host, whose owner does not allow it"
	switch {
	case a.Variable == "":
		return onHost
	case a.ByOwner:
		return "set " + a.Variable + "=true, and " + onHost
	}
	return "set " + a.Variable + "=true"
}

func (s *Service) logReader(watcherName string) (LogReader, bool) {
	if s.opt.Logs == nil {
		return nil, false
	}
	return s.opt.Logs.LogReader(watcherName)
}

// ContainerLog returns the last lines that a container wrote, as many as watcher.MaxLogLines at most, without secrets.
// Nothing of them is stored. The error is an ErrNotFound when there is no such container any more, an ErrForbidden when
// the actor may not write or the watcher may not read logs, and an ErrNoLog when there is none to read.
func (s *Service) ContainerLog(ctx context.Context, actor auth.Actor, id string, lines int) (watcher.Log, error) {
	if err := allow(actor, auth.Write, "read the logs of containers"); err != nil {
		return watcher.Log{}, err
	}
	rec, err := s.Container(id)
	if err != nil {
		return watcher.Log{}, err
	}
	c := rec.Container
	w, known := s.logReader(c.Watcher)
	if !known || !w.CanReadLogs() {
		return watcher.Log{}, sdk.WithKind(ErrNoLog, fmt.Errorf("the watcher %s cannot read the logs of containers", c.Watcher))
	}
	if access := s.LogAccess(actor, c.Watcher); !access.Allowed {
		return watcher.Log{}, sdk.WithKind(ErrForbidden, fmt.Errorf("the watcher %s may not read the logs of containers: %s",
			c.Watcher, access.remedy()))
	}
	log, err := w.ReadLog(ctx, watcher.LogRequest{ContainerID: c.ID, Lines: lines})
	switch {
	case errors.Is(err, sdk.ErrUnsupported): // that of an agent whose host has one without the ability
		return watcher.Log{}, sdk.WithKind(ErrNoLog, s.safe(err))
	case errors.Is(err, sdk.ErrNotFound):
		return watcher.Log{}, sdk.WithKind(ErrNotFound, s.safe(err))
	case err != nil:
		return watcher.Log{}, s.safe(err)
	}
	redact.Each(log.Lines, func(l *watcher.LogLine) *string { return &l.Text }, s.opt.Redact)
	return log, nil
}
