package oci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// maxTries bounds the requests for one question: the challenge, a revoked
	// token, one for many repositories, one for this, and a pause or two.
	maxTries = 8
	// maxPauses is how often one question waits for a host that asks for it.
	maxPauses = 2
	// soon is how quickly a connection must break to be tried again at once.
	soon = 2 * time.Second
)

// visit is one question on its way through challenges, redirects and pauses.
type visit struct {
	*Registry
	question
	url *url.URL
	// prefix is what the address of the registry puts before every repository.
	prefix string
	// moved means that url is no longer ours but that of the host which answers
	// for us; away, that this host must not have our credentials; outward, that it
	// must be at a public address.
	moved, away, outward bool
	// sent is what the last request carried.
	sent authorization
	// learned means that its answer told something new about what to carry.
	learned bool
	// narrow asks for a token for this repository alone, because a wide one was
	// rejected; ask is the scope that the registry demanded then.
	narrow bool
	ask    string
	// retried, pinged and pauses bound what is tried only so often.
	retried, pinged bool
	pauses          int
}

// authorization is what a request carried to be let in.
type authorization struct {
	header string
	user   sdk.Credentials
	issuer *issuer
	token  *token
	scope  string
	// fresh means that the token was fetched for this very request.
	fresh bool
}

// ask sends a question until it is answered. read gets the answer, whose status is 2xx or 304.
func (r *Registry) ask(ctx context.Context, q question, read func(*http.Response) error) error {
	address, err := r.address(q)
	if err != nil {
		return err
	}
	base, err := r.base(q.repo.Host)
	if err != nil {
		return err
	}
	v := &visit{Registry: r, question: q, url: address}
	_, v.prefix = splitBase(base)
	for try := 1; ; try++ {
		err := v.once(ctx, read)
		if err == nil || try == maxTries {
			return err
		}
		again, cause := v.again(ctx, err)
		if cause != nil {
			return cause
		}
		if !again {
			return err
		}
	}
}

// once sends the question once, with what is known to be demanded.
func (v *visit) once(ctx context.Context, read func(*http.Response) error) error {
	h, leave, err := v.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if v.sent, err = v.authorize(ctx, h); err != nil {
		return err
	}
	header := http.Header{}
	header.Set("Accept", v.accept)
	if v.validator != "" {
		header.Set("If-None-Match", v.validator)
	}
	if v.sent.header != "" {
		header.Set("Authorization", v.sent.header)
	}
	to := ctx
	if v.outward {
		to = httpclient.Outward(ctx)
	}
	err = v.exchange(newRequest(to, v.method, v.url, header), v.sent.user, func(resp *http.Response) error {
		if s := v.sent; s.token != nil {
			s.issuer.accepted(s.token, s.scope, v.narrow)
		}
		if resp.StatusCode == http.StatusNotModified && v.validator == "" {
			return lie("answered that nothing has changed, which nobody asked")
		}
		return read(resp)
	})
	// Before leaving, so that those who wait at the door know it too.
	v.learn(err)
	return err
}

// enter goes to the host that answers, waiting while another visitor meets it first.
func (v *visit) enter(ctx context.Context) (*host, func(), error) {
	for {
		h := v.shared.host(v.url)
		leave, err := h.enter(ctx)
		if err != nil {
			return nil, nil, err
		}
		to, public := h.follow(v.url)
		if v.moved || to == v.url {
			return h, leave, nil
		}
		leave()
		v.move(to, public)
	}
}

// move goes on at another host. public means that a public address has named it.
func (v *visit) move(to *url.URL, public bool) {
	v.moved, v.away = true, v.away || !v.trusts(v.url, to)
	v.outward = v.outward || public && !strings.EqualFold(v.url.Hostname(), to.Hostname())
	v.url = to
}

// learn remembers what a refusal demands.
func (v *visit) learn(err error) {
	v.learned = false
	var status *statusError
	if !errors.As(err, &status) || status.challenge == nil {
		return
	}
	if status.at.Host != v.url.Host {
		// Another host answers for this one, as ghcr.io may for lscr.io: ask it directly.
		v.shared.host(v.url).redirect(v.url, status.at, status.public)
		v.move(status.at, status.public)
		v.sent, v.learned = authorization{}, true
	}
	if v.shared.host(v.url).learn(*status.challenge, v.prefix+v.repo.Name) {
		v.learned = true
	}
}

func newRequest(ctx context.Context, method string, to *url.URL, header http.Header) *http.Request {
	return (&http.Request{Method: method, URL: to, Header: header, Host: to.Host}).WithContext(ctx)
}

// exchange sends one request in a slot of its host. An answer other than 2xx
// and 304 is a *statusError.
func (r *Registry) exchange(req *http.Request, user sdk.Credentials, read func(*http.Response) error) error {
	to := req.URL
	return r.shared.host(to).do(req.Context(), user.Username, func() error {
		resp, err := r.send(req)
		if err != nil {
			return err
		}
		defer drain(resp)
		r.hear(to, user.Username, resp)
		if resp.StatusCode/100 == 2 || resp.StatusCode == http.StatusNotModified {
			return read(resp)
		}
		failed := failure(resp, time.Now())
		r.hearRefusal(to, user.Username, failed)
		return failed
	})
}

// send sends a request, a second time when the connection broke at once.
func (r *Registry) send(req *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := r.HTTP.Do(req)
	if err != nil && errors.Is(err, sdk.ErrUnavailable) && req.Context().Err() == nil && time.Since(start) < soon {
		if req.GetBody != nil {
			req.Body, _ = req.GetBody() // it is in memory
		}
		resp, err = r.HTTP.Do(req)
	}
	return resp, err
}

// authorize finds what the host wants a request to carry.
func (v *visit) authorize(ctx context.Context, h *host) (authorization, error) {
	c := h.challenge()
	if c == nil {
		return authorization{}, nil
	}
	var user sdk.Credentials
	var err error
	if !v.away {
		if user, err = v.credentials(ctx, v.repo.Host); err != nil {
			return authorization{}, err
		}
	}
	if user.Username == RegistryToken {
		return authorization{header: "Bearer " + user.Password, user: user}, nil
	}
	if c.basic {
		if user == (sdk.Credentials{}) || user.Username == IdentityToken { // that one is for token services only
			return authorization{}, nil
		}
		return authorization{header: "Basic " + encodeBasic(user), user: user}, nil
	}
	return v.bearer(ctx, h, *c, user)
}

// bearer gets a token, from the cache where it can.
func (v *visit) bearer(ctx context.Context, h *host, c challenge, user sdk.Credentials) (authorization, error) {
	realm, err := c.realmURL(v.url)
	if err != nil {
		return authorization{}, err
	}
	anonymous := user == sdk.Credentials{}
	if !anonymous && !v.trusts(v.url, realm) {
		return authorization{}, v.untrusted(realm)
	}
	want := request{scope: h.scope(v.prefix + v.repo.Name), ask: v.ask, narrow: v.narrow, anyScope: anonymous && sharedTokens[c.service], most: scopesOf(c.service)}
	for _, name := range v.repo.ScopeHints {
		if name != v.repo.Name && isRepository(name) {
			want.together = append(want.together, h.scope(v.prefix+name))
		}
	}
	i := v.shared.issuer(c, user)
	t, fresh, err := i.token(ctx, want, func(ctx context.Context, scopes []string) (string, time.Duration, error) {
		ctx = v.reachable(ctx, v.url, realm, c.public)
		return v.fetchToken(ctx, realm, tokenURL(realm, c.service, scopes), user)
	})
	if err != nil {
		return authorization{}, err
	}
	return authorization{header: "Bearer " + t.value, user: user, issuer: i, token: t, scope: want.scope, fresh: fresh}, nil
}

func (r *Registry) fetchToken(ctx context.Context, realm, address *url.URL, user sdk.Credentials) (value string, life time.Duration, err error) {
	header := http.Header{}
	header.Set("Accept", "application/json")
	req := newRequest(ctx, http.MethodGet, address, header)
	switch {
	case user.Username == IdentityToken:
		req = refresh(ctx, realm, address.Query(), user.Password)
	case user != sdk.Credentials{}:
		header.Set("Authorization", "Basic "+encodeBasic(user))
	}
	err = r.exchange(req, user, func(resp *http.Response) (err error) {
		value, life, err = readToken(resp)
		return err
	})
	if err != nil {
		return "", 0, &tokenError{fmt.Errorf("get a token from %s: %w", realm.Host, err)}
	}
	return value, life, nil
}

// tokenError is a failure of the token service, not of the registry.
type tokenError struct{ error }

func (e *tokenError) Unwrap() error { return e.error }

// again decides what a failure means. It reports whether the question is worth
// asking again, or returns why it cannot be.
func (v *visit) again(ctx context.Context, err error) (bool, error) {
	var status *statusError
	if !errors.As(err, &status) {
		return false, nil
	}
	var service *tokenError
	switch {
	case status.limited():
		v.pauses++
		return status.after > 0 && status.after <= patience && v.pauses <= maxPauses, nil
	case errors.As(err, &service):
		return false, nil
	case status.status == http.StatusUnauthorized, status.status == http.StatusForbidden:
		return v.letIn(ctx, status)
	case (tooLong(status.status) || status.status == http.StatusBadRequest) && v.sent.token != nil:
		return v.sent.issuer.bulky(v.sent.token), nil
	case status.status == http.StatusNotFound && v.sent.header == "" && v.named(ctx):
		// Some registries hide what they do not show to everybody.
		return v.ping(ctx, status)
	}
	return false, nil
}

// letIn answers a 401 or 403: with the challenge it carries, with a fresh or
// narrower token, or with new credentials.
func (v *visit) letIn(ctx context.Context, status *statusError) (bool, error) {
	switch c := v.shared.host(v.url).challenge(); {
	case v.learned:
		return v.canAnswer(ctx, *c), nil
	case v.sent.token != nil:
		return v.otherToken(status), nil
	case v.sent.header != "":
		return v.first() && v.login().Refused(v.sent.user), nil
	case c != nil:
		// Another visitor learned the challenge while we went without.
		return v.first() && v.canAnswer(ctx, *c), nil
	}
	return v.ping(ctx, status)
}

// first reports whether this is the first retry of its kind.
func (v *visit) first() bool {
	first := !v.retried
	v.retried = true
	return first
}

// canAnswer reports whether we have what a challenge asks for.
func (v *visit) canAnswer(ctx context.Context, c challenge) bool {
	return !c.basic || v.named(ctx) && !v.away
}

// named reports whether there are credentials to log in with. That they cannot
// be had now will be told when they are used.
func (v *visit) named(ctx context.Context) bool {
	if v.Login != nil || v.login() == nil {
		return v.Login != nil
	}
	c, err := v.credentials(ctx, v.repo.Host)
	return err != nil || c != sdk.Credentials{}
}

// otherToken reports whether another token may be accepted where the last one was not.
func (v *visit) otherToken(status *statusError) bool {
	s := v.sent
	wide := s.issuer.rejected(s.token, s.scope)
	if status.challenge != nil && scopeLength(status.challenge.scope) <= maxScopeText {
		v.ask = status.challenge.scope
	}
	switch {
	case v.narrow:
		return false
	case wide:
		v.narrow = true
		return true
	}
	return (s.token.wide() || !s.fresh) && v.first()
}

// ping asks the host itself what it demands, once. It is for registries whose
// refusals do not say.
func (v *visit) ping(ctx context.Context, refusal *statusError) (bool, error) {
	if v.pinged || v.away {
		return false, nil
	}
	v.pinged = true
	base, err := v.base(v.repo.Host)
	if err != nil {
		return false, err
	}
	root, _ := splitBase(base)
	err = v.exchange(newRequest(ctx, http.MethodGet, root.JoinPath("/"), http.Header{}), sdk.Credentials{}, func(*http.Response) error { return nil })
	if ctx.Err() != nil {
		return false, gaveUp(ctx)
	}
	demand := challenge{basic: true}
	var status *statusError
	switch {
	case errors.As(err, &status) && status.challenge != nil:
		demand = *status.challenge
	case refusal.status != http.StatusUnauthorized:
		// The refusal of the question tells more than a failed ping.
		return false, nil
	}
	v.shared.host(base).learn(demand, v.prefix+v.repo.Name)
	return v.canAnswer(ctx, demand), nil
}
