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
	ReadsLogs() bool
	LogsVariable() string
}

// LogAccess says whether an actor can read the logs of a watcher's containers.
type LogAccess struct {
	Allowed bool
	// Variable is the environment variable that has to be true for that; "" where that is not what is missing.
	Variable string
}

// LogAccess returns whether an actor can read the logs of a watcher's containers.
func (s *Service) LogAccess(actor auth.Actor, watcherName string) LogAccess {
	w, known := s.logReader(watcherName)
	switch {
	case !known || !w.CanReadLogs() || actor.Scope < auth.Write:
		return LogAccess{}
	case !w.ReadsLogs():
		return LogAccess{Variable: w.LogsVariable()}
	}
	return LogAccess{Allowed: true}
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
	switch {
	case !known || !w.CanReadLogs():
		return watcher.Log{}, sdk.WithKind(ErrNoLog, fmt.Errorf("the watcher %s cannot read the logs of containers", c.Watcher))
	case !w.ReadsLogs():
		return watcher.Log{}, sdk.WithKind(ErrForbidden, fmt.Errorf("the watcher %s may not read the logs of containers: "+
			"set %s=true", c.Watcher, w.LogsVariable()))
	}
	log, err := w.ReadLog(ctx, watcher.LogRequest{ContainerID: c.ID, Lines: lines})
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		return watcher.Log{}, sdk.WithKind(ErrNotFound, s.safe(err))
	case err != nil:
		return watcher.Log{}, s.safe(err)
	}
	texts := make([]string, len(log.Lines))
	for i, line := range log.Lines {
		texts[i] = line.Text
	}
	for i, text := range redact.Lines(texts, s.opt.Redact) {
		log.Lines[i].Text = text
	}
	return log, nil
}
