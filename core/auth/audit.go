package auth

import (
	"context"
	"net/http"

	"github.com/dogwatch/dogwatch/core/event"
)

// nobody is the subject of events about users that do not exist.
const nobody = "unknown user"

// record appends to the log of events. What happened stands even if that fails.
func (a *Auth) record(r *http.Request, t event.Type, subject string, login event.Login) {
	login.Address = a.Address(r)
	a.append(r.Context(), t, subject, login)
}

func (a *Auth) append(ctx context.Context, t event.Type, subject string, login event.Login) {
	e := event.Event{At: a.now(), Type: t, Subject: subject, Payload: event.Payload{Login: &login}}
	known := []any{"user", subject}
	for _, part := range []struct{ name, value string }{{"method", login.Method}, {"address", login.Address}, {"token", login.Token}, {"by", login.By}, {"error", login.Error}} {
		if part.value != "" {
			known = append(known, part.name, part.value)
		}
	}
	a.log.Info(string(t), known...)
	if err := a.opt.Store.Commit(context.WithoutCancel(ctx), event.Change{Events: []event.Event{e}}); err != nil {
		a.log.Error("record a login", "error", err)
	}
}

// failed records that somebody was turned away, unless that happens too often to be kept.
func (a *Auth) failed(r *http.Request, method, subject string, why error) {
	if a.trail.take("", a.now()) > 0 {
		return
	}
	a.record(r, event.LoginFailed, subject, event.Login{Method: method, Error: why.Error()})
}
