package auth

import (
	"context"
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// unknownUser is the subject of events about users that do not exist. What was
// typed as a name may be a password, and is not recorded.
const unknownUser = "unknown user"

// The audit of sign-ins and tokens: who did what, from which address. It is in the log of events, of which an
// administrator sees this part, and in the program's log.

// auditRequest records what a client did. What happened stands even if that fails.
func (a *Auth) auditRequest(r *http.Request, t event.Type, subject string, login event.Login) {
	login.Address = a.Address(r)
	a.audit(r.Context(), t, subject, login)
}

// audit records what happened to a user, a session or a token, as auditRequest does.
func (a *Auth) audit(ctx context.Context, t event.Type, subject string, login event.Login) {
	a.logEvent(t, subject, login)
	a.storeEvent(ctx, t, subject, login)
}

// logEvent writes an event to the program's log. Filters of fail2ban read these
// lines: the user, method and address come first, and in this order.
func (a *Auth) logEvent(t event.Type, subject string, login event.Login) {
	fields := []any{"user", subject}
	for _, part := range []struct{ name, value string }{{"method", login.Method}, {"address", login.Address},
		{"token", login.Token}, {"by", login.By}, {"error", login.Error}} {
		if part.value != "" {
			fields = append(fields, part.name, part.value)
		}
	}
	if login.Attempts > 1 {
		fields = append(fields, "attempts", login.Attempts)
	}
	a.log.Info(string(t), fields...)
}

func (a *Auth) storeEvent(ctx context.Context, t event.Type, subject string, login event.Login) {
	e := event.Event{At: a.now(), Type: t, Subject: subject, Payload: event.Payload{Login: &login}}
	if err := a.opt.Store.Commit(context.WithoutCancel(ctx), event.Change{Events: []event.Event{e}}); err != nil {
		a.log.Error("record a login", "error", err)
	}
}

// auditFailure records that a client was refused. It samples attempts of one
// network that come too fast, and notes how many each record stands for. Throttled
// attempts count too, as programs such as fail2ban ban addresses by the log.
func (a *Auth) auditFailure(r *http.Request, method, subject string, why error) {
	skipped, sampled := a.failures.sample(a.rateKey(r), a.now())
	if !sampled {
		return
	}
	login := event.Login{Method: method, Address: a.Address(r), Error: why.Error()}
	if skipped > 0 {
		login.Attempts = skipped + 1
	}
	a.logEvent(event.LoginFailed, subject, login)
	if a.trail.take("", a.now()) == 0 {
		a.storeEvent(r.Context(), event.LoginFailed, subject, login)
	}
}
