package ecr

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// margin is how long before its end an authorization is renewed. AWS gives them for 12 hours.
	margin = 5 * time.Minute
	// least is how old an authorization must be before a refusal is blamed on it:
	// a fresh one is refused because the user may not read the repository.
	least = time.Minute
	// refusalTime is for how long AWS is not asked again after it refused the
	// keys, or there were none to show: looking for them takes time as well.
	refusalTime = time.Minute
)

// login trades the access key for what the registry accepts, and keeps it.
type login struct {
	api api
	// turn is held by the one call that asks AWS.
	turn chan struct{}

	mu      sync.Mutex
	current sdk.Credentials
	since   time.Time
	until   time.Time
	// refused is why there was no authorization at refusedAt.
	refused   error
	refusedAt time.Time
}

func newLogin(o Options, client doer) oci.Login {
	return &login{api: newAPI(o, client), turn: make(chan struct{}, 1)}
}

// Credentials implements oci.Login.
func (l *login) Credentials(ctx context.Context, host string) (sdk.Credentials, error) {
	if strings.EqualFold(host, gallery) {
		return sdk.Credentials{}, nil
	}
	if c, ok, err := l.known(); ok {
		return c, err
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return sdk.Credentials{}, ctx.Err()
	}
	defer func() { <-l.turn }()
	if c, ok, err := l.known(); ok {
		return c, err
	}
	return l.renew(ctx)
}

// known returns what needs not be asked, and whether there is any: an
// authorization that is valid, or why there was none a moment ago.
func (l *login) known() (sdk.Credentials, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := time.Now(); {
	case now.Before(l.until):
		return l.current, true, nil
	case l.refused != nil && now.Sub(l.refusedAt) < refusalTime:
		return sdk.Credentials{}, true, l.refused
	}
	return sdk.Credentials{}, false, nil
}

func (l *login) renew(ctx context.Context) (sdk.Credentials, error) {
	given, until, err := l.api.authorization(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = nil
	if errors.Is(err, sdk.ErrUnauthorized) {
		l.refused, l.refusedAt = err, time.Now()
	}
	if err != nil {
		return sdk.Credentials{}, err
	}
	l.current, l.since, l.until = given, time.Now(), until.Add(-margin)
	return l.current, nil
}

// Refused implements oci.Login.
func (l *login) Refused(used sdk.Credentials) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != used {
		return true
	}
	if time.Since(l.since) < least {
		return false
	}
	l.until = time.Time{}
	return true
}
