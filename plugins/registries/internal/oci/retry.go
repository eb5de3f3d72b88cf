package oci

import (
	"context"
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/sdk"
)

// shouldRetry decides what a failure means. It reports whether another attempt
// may succeed, or returns why none is possible.
func (a *attempt) shouldRetry(ctx context.Context, err error) (bool, error) {
	var status *statusError
	if !errors.As(err, &status) {
		return false, nil
	}
	var service *tokenError
	switch {
	case status.limited():
		a.pauses++
		return status.after > 0 && status.after <= maxWait && a.pauses <= maxPauses, nil
	case errors.As(err, &service):
		return false, nil
	case status.status == http.StatusUnauthorized, status.status == http.StatusForbidden:
		return a.retryUnauthorized(ctx, status)
	case (tooLong(status.status) || status.status == http.StatusBadRequest) && a.sent.token != nil:
		return a.sent.issuer.requestTooLong(a.sent.token), nil
	case status.status == http.StatusNotFound && a.sent.header == "" && a.hasCredentials(ctx):
		// Some registries report private repositories as missing to anonymous clients.
		return a.ping(ctx, status)
	}
	return false, nil
}

// retryUnauthorized reports whether to retry after a 401 or 403: with the
// challenge it carries, with a fresh or narrower token, or with new credentials.
func (a *attempt) retryUnauthorized(ctx context.Context, status *statusError) (bool, error) {
	switch c := a.shared.host(a.url).challenge(); {
	case a.learned:
		return a.canAuthenticate(ctx, *c), nil
	case a.sent.token != nil:
		return a.retryWithOtherToken(status), nil
	case a.sent.header != "":
		return a.firstRetry() && a.sent.user != a.repo.Credentials && a.login().Refused(a.sent.user), nil
	case c != nil:
		// A concurrent request learned the challenge while this one went without.
		return a.firstRetry() && a.canAuthenticate(ctx, *c), nil
	}
	return a.ping(ctx, status)
}

// firstRetry reports whether this is the first retry after a refusal.
func (a *attempt) firstRetry() bool {
	first := !a.retried
	a.retried = true
	return first
}

// canAuthenticate reports whether there is something to meet a challenge with.
func (a *attempt) canAuthenticate(ctx context.Context, c challenge) bool {
	return !c.basic || a.hasCredentials(ctx) && !a.untrusted
}

// hasCredentials reports whether there are credentials to log in with. An error
// in getting them counts as true: the next attempt returns it.
func (a *attempt) hasCredentials(ctx context.Context) bool {
	if a.Login != nil {
		return true
	}
	c, err := a.ownCredentials(ctx)
	return err != nil || c != sdk.Credentials{}
}

// retryWithOtherToken reports whether another token may be accepted where the last one was not.
func (a *attempt) retryWithOtherToken(status *statusError) bool {
	s := a.sent
	wide := s.issuer.tokenRefused(s.token, s.scope)
	if status.challenge != nil && scopeLength(status.challenge.scope) <= maxScopeText {
		a.demandedScope = status.challenge.scope
	}
	switch {
	case a.narrow:
		return false
	case wide:
		a.narrow = true
		return true
	}
	return (s.token.wide() || !s.fresh) && a.firstRetry()
}

// ping requests the root of the API to learn what the host demands, at most once.
// It is for registries whose refusals carry no challenge.
func (a *attempt) ping(ctx context.Context, refused *statusError) (bool, error) {
	if a.pinged || a.untrusted {
		return false, nil
	}
	a.pinged = true
	base, err := a.base(a.repo.Host)
	if err != nil {
		return false, err
	}
	root, _ := splitBase(base)
	err = a.exchange(newRequest(ctx, http.MethodGet, root.JoinPath("/"), http.Header{}), sdk.Credentials{},
		func(*http.Response) error { return nil })
	if ctx.Err() != nil {
		return false, contextError(ctx)
	}
	demand := challenge{basic: true}
	var status *statusError
	switch {
	case errors.As(err, &status) && status.challenge != nil:
		demand = *status.challenge
	case refused.status != http.StatusUnauthorized:
		// The refusal itself says more than a failed ping.
		return false, nil
	}
	a.shared.host(base).learn(demand, a.prefix+a.repo.Name)
	return a.canAuthenticate(ctx, demand), nil
}
