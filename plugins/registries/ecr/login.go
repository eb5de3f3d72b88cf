package ecr

import (
	"context"
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
}

func newLogin(o Options, client doer) oci.Login {
	return &login{api: newAPI(o, client), turn: make(chan struct{}, 1)}
}

// Credentials implements oci.Login.
func (l *login) Credentials(ctx context.Context, host string) (sdk.Credentials, error) {
	if strings.EqualFold(host, gallery) {
		return sdk.Credentials{}, nil
	}
	if c, ok := l.valid(); ok {
		return c, nil
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return sdk.Credentials{}, ctx.Err()
	}
	defer func() { <-l.turn }()
	if c, ok := l.valid(); ok {
		return c, nil
	}
	return l.renew(ctx)
}

func (l *login) valid() (sdk.Credentials, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current, time.Now().Before(l.until)
}

func (l *login) renew(ctx context.Context) (sdk.Credentials, error) {
	given, until, err := l.api.authorization(ctx)
	if err != nil {
		return sdk.Credentials{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
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
