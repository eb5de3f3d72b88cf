package ecr

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// margin is how long before its end an authorization is renewed. AWS gives them for 12 hours.
	margin = 5 * time.Minute
	// minAge is how old an authorization must be before a refusal may be due to its age:
	// a fresh one is refused because the user may not read the repository.
	minAge = time.Minute
	// failureTime is for how long no authorization is requested after AWS refused
	// the keys, or none were found: looking for them takes time as well.
	failureTime = time.Minute
)

// login exchanges the access key for what the registries of each region accept.
type login struct {
	options Options
	keys    aws.CredentialsProvider
	client  doer

	mu sync.Mutex
	// regions are those of the images that were requested.
	regions map[string]*session
}

func newLogin(o Options, client doer) oci.Login {
	return &login{options: o, keys: o.provider(client), client: client, regions: map[string]*session{}}
}

// Credentials implements oci.Login.
func (l *login) Credentials(ctx context.Context, host string) (sdk.Credentials, error) {
	region, private := regionOf(host)
	if !private {
		return sdk.Credentials{}, nil
	}
	return l.session(region).credentials(ctx)
}

func (l *login) session(region string) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.regions[region]
	if s == nil {
		s = &session{api: newAPI(l.options, region, l.keys, l.client), semaphore: make(chan struct{}, 1)}
		l.regions[region] = s
	}
	return s
}

// Refused implements oci.Login.
func (l *login) Refused(used sdk.Credentials) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, again := false, false
	for _, s := range l.regions {
		current, replaced := s.refused(used)
		found, again = found || current, again || replaced
	}
	return again || !found // no session has it: a concurrent call has renewed it
}

// session keeps the authorization of a region.
type session struct {
	api api
	// semaphore is held by the one call that requests an authorization.
	semaphore chan struct{}

	mu      sync.Mutex
	current sdk.Credentials
	since   time.Time
	until   time.Time
	// failure is why there was no authorization at failedAt.
	failure  error
	failedAt time.Time
}

func (s *session) credentials(ctx context.Context) (sdk.Credentials, error) {
	if c, ok, err := s.known(); ok {
		return c, err
	}
	select {
	case s.semaphore <- struct{}{}:
	case <-ctx.Done():
		return sdk.Credentials{}, ctx.Err()
	}
	defer func() { <-s.semaphore }()
	if c, ok, err := s.known(); ok {
		return c, err
	}
	return s.renew(ctx)
}

// known returns what needs no request, and whether there is any: an authorization
// that is valid, or why there was none a moment ago.
func (s *session) known() (sdk.Credentials, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := time.Now(); {
	case now.Before(s.until):
		return s.current, true, nil
	case s.failure != nil && now.Sub(s.failedAt) < failureTime:
		return sdk.Credentials{}, true, s.failure
	}
	return sdk.Credentials{}, false, nil
}

func (s *session) renew(ctx context.Context) (sdk.Credentials, error) {
	given, until, err := s.api.authorization(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = nil
	if errors.Is(err, sdk.ErrUnauthorized) {
		s.failure, s.failedAt = err, time.Now()
	}
	if err != nil {
		return sdk.Credentials{}, err
	}
	s.current, s.since, s.until = given, time.Now(), until.Add(-margin)
	return s.current, nil
}

// refused ends an authorization that the registry did not accept. current is
// whether the session has it, again whether it will get another one.
func (s *session) refused(used sdk.Credentials) (current, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.current != used:
		return false, false
	case time.Since(s.since) < minAge:
		return true, false
	}
	s.until = time.Time{}
	return true, true
}
