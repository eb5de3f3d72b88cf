package oci

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// maxAttempts bounds the attempts of one request: the challenge, a revoked
	// token, one for many repositories, one for this, and a pause or two.
	maxAttempts = 8
	// maxPauses is how often one request waits because of a rate limit.
	maxPauses = 2
	// quickFailure is how quickly a connection must break to be retried at once.
	quickFailure = 2 * time.Second
)

// attempt is a request attempt, and what the attempts before it have found out:
// challenges, redirects and pauses.
type attempt struct {
	*Registry
	request
	url *url.URL
	// prefix is what the address of the registry puts before every repository.
	prefix string
	// redirected means that url is that of the host to which the registry's own
	// redirects; untrusted, that this host must not have the credentials; outward,
	// that it must be at a public address.
	redirected, untrusted, outward bool
	// sent is what the last attempt carried.
	sent authorization
	// learned means that its response said something new about what to carry.
	learned bool
	// narrow requests a token for this repository alone, because a wide one was
	// refused; demandedScope is the scope that the registry demanded then.
	narrow        bool
	demandedScope string
	// retried, pinged and pauses bound the retries of each sort.
	retried, pinged bool
	pauses          int
}

// do sends a request, with retries where they may help. read gets the response,
// whose status is 2xx or 304; it is called again when a retry follows its error.
// The error of another status is a *statusError.
func (r *Registry) do(ctx context.Context, req request, read func(*http.Response) error) error {
	base, err := r.base(req.repo.Host)
	if err != nil {
		return err
	}
	address, err := req.address(base)
	if err != nil {
		return err
	}
	a := &attempt{Registry: r, request: req, url: address}
	_, a.prefix = splitBase(base)
	for n := 1; ; n++ {
		err := a.send(ctx, read)
		if err == nil || n == maxAttempts {
			return err
		}
		retry, cause := a.shouldRetry(ctx, err)
		if cause != nil {
			return cause
		}
		if !retry {
			return err
		}
	}
}

// send makes one attempt, with what the host is known to demand, if it has a validator as a conditional request.
func (a *attempt) send(ctx context.Context, read func(*http.Response) error) error {
	h, done, err := a.host(ctx)
	if err != nil {
		return err
	}
	defer done()
	if a.sent, err = a.authorize(ctx, h); err != nil {
		return err
	}
	header := http.Header{}
	header.Set("Accept", a.accept)
	condition(header, a.validator)
	if a.sent.header != "" {
		header.Set("Authorization", a.sent.header)
	}
	to := ctx
	if a.outward {
		to = httpclient.Outward(ctx)
	}
	err = a.exchange(newRequest(to, a.method, a.url, header), a.sent.user, func(resp *http.Response) error {
		if s := a.sent; s.token != nil {
			s.issuer.accepted(s.token, s.scope, a.narrow)
		}
		if err := checkCondition(resp, a.validator); err != nil {
			return err
		}
		return read(resp)
	})
	// Before done, so that the requests that wait for discovery know it too.
	a.learn(err)
	return err
}

// host returns the host to send to, after a concurrent first request to it has
// discovered what it demands. The caller calls done after its attempt.
func (a *attempt) host(ctx context.Context) (h *host, done func(), err error) {
	for {
		h := a.shared.host(a.url)
		done, err := h.discover(ctx)
		if err != nil {
			return nil, nil, err
		}
		to, public := h.redirectOf(a.url)
		if a.redirected || to == a.url {
			return h, done, nil
		}
		done()
		a.redirect(to, public)
	}
}

// redirect sends later attempts to another host. public means that a public address has named it.
func (a *attempt) redirect(to *url.URL, public bool) {
	a.redirected, a.untrusted = true, a.untrusted || !a.trusts(a.url, to)
	a.outward = a.outward || public
	a.url = to
}

// learn remembers the challenge of a response and the host it came from.
func (a *attempt) learn(err error) {
	a.learned = false
	var status *statusError
	if !errors.As(err, &status) || status.challenge == nil {
		return
	}
	if status.source.Host != a.url.Host {
		// This host redirects everything, as lscr.io does to ghcr.io: the next attempt goes there directly.
		a.shared.host(a.url).setRedirect(a.url, status.source, status.public)
		a.redirect(status.source, status.public)
		a.sent, a.learned = authorization{}, true
	}
	if a.shared.host(a.url).learn(*status.challenge, a.prefix+a.repo.Name) {
		a.learned = true
	}
}

func newRequest(ctx context.Context, method string, to *url.URL, header http.Header) *http.Request {
	return (&http.Request{Method: method, URL: to, Header: header, Host: to.Host}).WithContext(ctx)
}

// exchange sends one HTTP request when the limits of its host allow it. The error
// of a status other than 2xx and 304 is a *statusError.
func (r *Registry) exchange(req *http.Request, user sdk.Credentials, read func(*http.Response) error) error {
	to := req.URL
	return r.shared.host(to).throttle(req.Context(), user.Username, func() error {
		resp, err := r.roundTrip(req)
		if err != nil {
			return err
		}
		defer drain(resp)
		r.recordLimit(to, user.Username, resp)
		if resp.StatusCode/100 == 2 || resp.StatusCode == http.StatusNotModified {
			return read(resp)
		}
		failed := newStatusError(resp, time.Now())
		r.recordPause(to, user.Username, failed)
		return failed
	})
}

// roundTrip sends an HTTP request, a second time when the connection broke at once.
func (r *Registry) roundTrip(req *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := r.HTTP.Do(req)
	if err != nil && errors.Is(err, sdk.ErrUnavailable) && req.Context().Err() == nil && time.Since(start) < quickFailure {
		if req.GetBody != nil {
			req.Body, _ = req.GetBody() // it is in memory
		}
		resp, err = r.HTTP.Do(req)
	}
	return resp, err
}
