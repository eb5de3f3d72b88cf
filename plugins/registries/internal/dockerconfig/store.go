package dockerconfig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// cacheTime is for how long the output of a helper is used without running it
	// again: helpers of clouds give tokens that are valid for an hour or more.
	cacheTime = 5 * time.Minute
	// failureTime is for how long a helper that failed is not run again.
	failureTime = time.Minute
	// minAge is how old credentials must be before a refusal may be due to their age.
	minAge = 10 * time.Second
	// maxCached and maxWarnings bound what is held in memory.
	maxCached   = 256
	maxWarnings = 64
)

// Store returns the credentials of one config.json, which is read again when
// it has changed. It implements oci.DefaultLogin and is safe for concurrent use.
type Store struct {
	path string
	// timeout bounds one call of a helper.
	timeout time.Duration
	// semaphore is held by the one call that runs a helper.
	semaphore chan struct{}

	mu     sync.Mutex
	log    hclog.Logger
	warned map[string]bool // warnings that were logged
	loaded bool            // the file was looked for at least once
	config config
	seen   os.FileInfo // of the file that config is from; nil when there is none
	cache  map[cacheKey]cached
}

// cacheKey is a helper and the host of a run; without a host it stands for the
// helper itself.
type cacheKey struct{ helper, host string }

// cached is the result of a run of a helper.
type cached struct {
	credentials sdk.Credentials
	err         error
	at          time.Time
}

func (l cached) live(now time.Time) bool {
	if l.err != nil {
		return now.Sub(l.at) < failureTime
	}
	return !l.at.IsZero() && now.Sub(l.at) < cacheTime
}

// New returns the store of the file at path, or in the folder at path. The file needs not exist yet.
func New(path string) *Store {
	return &Store{
		path: path, timeout: helperTimeout, semaphore: make(chan struct{}, 1), warned: map[string]bool{},
		cache: map[cacheKey]cached{},
	}
}

// LogTo sets where to log that a file or a helper cannot be used. Only the first call counts.
func (s *Store) LogTo(log hclog.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil && log != nil {
		s.log = log.ResetNamed("dockerconfig")
	}
}

// Credentials returns what the file has for a host, or the zero value. An entry
// or a helper for this very host must work; what is wrong with the file or with
// the helper of all hosts is a warning, for public images need neither.
func (s *Store) Credentials(ctx context.Context, host string) (sdk.Credentials, error) {
	host = canonical(host)
	c := s.load()
	entry, key, stored := find(c.Auths, host)
	server := host
	switch {
	case stored:
		server = key
	case reference.IsHub(host):
		server = hubServer
	}
	if helper, key, named := find(c.CredHelpers, host); named {
		if !stored {
			server = key
		}
		given, err := s.fromHelper(ctx, helper, host, server)
		if err != nil {
			return given, fmt.Errorf("credHelpers of %s: %w", s.path, kinded(err))
		}
		return given, nil
	}
	if c.CredsStore != "" {
		given, err := s.fromHelper(ctx, c.CredsStore, host, server)
		switch {
		case ctx.Err() != nil:
			return given, ctx.Err()
		case err != nil:
			s.warn(fmt.Errorf("credsStore of %s is passed over: %w", s.path, err))
		case given != sdk.Credentials{}:
			return given, nil
		}
	}
	given, readable := entry.credentials()
	if !readable {
		return given,
			sdk.WithKind(sdk.ErrUnauthorized,
				fmt.Errorf("auths of %s: the entry %q holds no user and password; docker login writes it anew", s.path, key))
	}
	return given, nil
}

// Source names the file if it has credentials for a host, as far as that is
// known without running a helper; else it is "".
func (s *Store) Source(host string) string {
	host = canonical(host)
	c := s.load()
	if _, _, named := find(c.CredHelpers, host); named {
		return s.path
	}
	if entry, _, _ := find(c.Auths, host); entry != (auth{}) {
		return s.path
	}
	if l, known := s.known(cacheKey{c.CredsStore, host}); known && l.credentials != (sdk.Credentials{}) {
		return s.path
	}
	return ""
}

// Refused drops cached credentials that a registry did not accept. It reports
// whether Credentials may return others: the next call runs the helper again.
func (s *Store) Refused(used sdk.Credentials) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := false
	for key, l := range s.cache {
		if l.credentials == used && time.Since(l.at) >= minAge {
			delete(s.cache, key)
			again = true
		}
	}
	return again
}

// kinded gives a failure of a helper a kind: unless it was merely slow, the operator must mend it.
func kinded(err error) error {
	if errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return sdk.WithKind(sdk.ErrUnauthorized, err)
}

// load returns what the file says now. A file that cannot be read says nothing.
func (s *Store) load() config {
	path := locate(s.path)
	info, err := os.Stat(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.seen != nil && os.SameFile(s.seen, info) && s.seen.ModTime().Equal(info.ModTime()) &&
		s.seen.Size() == info.Size() {
		return s.config
	}
	s.config, s.seen = config{}, nil
	clear(s.cache)
	if err == nil {
		s.config, err = read(path)
		s.seen = info // also of one that cannot be used: it is not read again
	}
	// What is wrong with the file from the start, the host has said.
	if err != nil && s.loaded && !errors.Is(err, os.ErrNotExist) {
		s.warnLocked(fmt.Errorf("the credentials of docker login are not used: %w", err))
	}
	s.loaded = true
	return s.config
}

// fromHelper returns what a helper has for a host, from the cache where it can.
// At most one helper runs at a time.
func (s *Store) fromHelper(ctx context.Context, helper, host, server string) (sdk.Credentials, error) {
	key := cacheKey{helper, host}
	if l, known := s.known(key); known {
		return l.credentials, l.err
	}
	select {
	case s.semaphore <- struct{}{}:
	case <-ctx.Done():
		return sdk.Credentials{}, ctx.Err()
	}
	defer func() { <-s.semaphore }()
	if l, known := s.known(key); known {
		return l.credentials, l.err
	}
	given, err := runHelper(ctx, helper, server, s.timeout)
	if ctx.Err() != nil {
		return sdk.Credentials{}, ctx.Err()
	}
	if errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, exec.ErrNotFound) {
		key.host = "" // it will fare no better with other hosts
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cache) >= maxCached {
		clear(s.cache)
	}
	s.cache[key] = cached{credentials: given, err: err, at: time.Now()}
	return given, err
}

// known returns the cached result of a helper.
func (s *Store) known(key cacheKey) (cached, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if l := s.cache[cacheKey{helper: key.helper}]; l.live(now) {
		return l, true
	}
	l := s.cache[key]
	return l, l.live(now)
}

func (s *Store) warn(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnLocked(err)
}

// warnLocked logs a problem once. The caller holds the lock.
func (s *Store) warnLocked(err error) {
	if s.log == nil || s.warned[err.Error()] {
		return
	}
	if len(s.warned) == maxWarnings {
		clear(s.warned)
	}
	s.warned[err.Error()] = true
	s.log.Warn(err.Error())
}
