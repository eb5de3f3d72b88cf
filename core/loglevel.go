package core

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/logging"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// logLevel changes the level of the log while it is written. Plugins are not
// told: they send what they log from debug on, and the host leaves out what is
// not wanted. Its methods may be called concurrently.
type logLevel struct {
	root  hclog.Logger // of all loggers, see logging.New
	store *store.Store
	auth  *auth.Auth
	now   func() time.Time

	changing sync.Mutex
}

// Level returns the least severe level that is logged.
func (l *logLevel) Level() string { return l.root.GetLevel().String() }

// SetLevel changes it at once, until the next start, and records who did so in
// the log of events. The error is an *sdk.InvalidError when there is no such level.
func (l *logLevel) SetLevel(r *http.Request, name string) error {
	to, err := logging.ParseLevel(name)
	if err != nil || name == "" {
		return sdk.Invalid("level", "want trace, debug, info, warn or error")
	}
	l.changing.Lock()
	defer l.changing.Unlock()
	from := l.root.GetLevel()
	if from == to {
		return nil
	}
	changed := event.Setting{From: from.String(), To: to.String(), User: auth.From(r.Context()).User, Address: l.auth.Address(r)}
	tell := func() {
		l.root.Named("app").Info("the log level changes", "from", changed.From, "to", changed.To, "user", changed.User, "address", changed.Address)
	}
	// Told at the more talkative of the two levels, where it is more likely to be seen.
	if to > from {
		tell()
	}
	l.root.SetLevel(to)
	if to < from {
		tell()
	}
	e := event.Event{At: l.now(), Type: event.SettingChanged, Subject: "log.level", Payload: event.Payload{Setting: &changed}}
	if err := l.store.Commit(context.WithoutCancel(r.Context()), event.Change{Events: []event.Event{e}}); err != nil {
		l.root.Named("app").Error("record that the log level changed", "error", err)
	}
	return nil
}
