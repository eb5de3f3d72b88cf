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
	// lentTime is for how long what a helper gave is used without asking it
	// again: helpers of clouds give tokens that live for an hour or more.
	lentTime = 5 * time.Minute
	// failedTime is for how long a helper that failed is left alone.
	failedTime = time.Minute
	// least is how old credentials must be before a refusal is blamed on their age.
	least = 10 * time.Second
	// maxLent and maxTold bound what is remembered.
	maxLent = 256
	maxTold = 64
)

// Store gives out the credentials of one config.json, which is read again when
// it has changed. It implements oci.DefaultLogin and is safe for concurrent use.
type Store struct {
	path string
	// timeout bounds one call of a helper.
	timeout time.Duration
	// turn is held by the one call that asks a helper.
	turn chan struct{}

	mu     sync.Mutex
	log    hclog.Logger
	told   map[string]bool // warnings
	loaded bool            // the file was looked for at least once
	config config
	seen   os.FileInfo // of the file that config is from; nil when there is none
	lent   map[question]lent
}

// question is what a helper is asked about; with no host it stands for the
// helper itself.
type question struct{ helper, host string }

// lent is what a helper answered.
type lent struct {
	credentials sdk.Credentials
	err         error
	at          time.Time
}

func (l lent) live(now time.Time) bool {
	if l.err != nil {
		return now.Sub(l.at) < failedTime
	}
	return !l.at.IsZero() && now.Sub(l.at) < lentTime
}

// New returns the store of the file at path, or in the folder at path. The file needs not exist yet.
func New(path string) *Store {
	return &Store{path: path, timeout: helperTimeout, turn: make(chan struct{}, 1), told: map[string]bool{}, lent: map[question]lent{}}
}

// LogTo says where to warn of a file or a helper that cannot be used. The first call counts.
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
	given, whole := entry.credentials()
	if !whole {
		return given, sdk.WithKind(sdk.ErrUnauthorized, fmt.Errorf("auths of %s: the entry %q holds no user and password; docker login writes it anew", s.path, key))
	}
	return given, nil
}

// Source names the file if it has credentials for a host, as far as that is
// known without asking a helper; else it is "".
func (s *Store) Source(host string) string {
	host = canonical(host)
	c := s.load()
	if _, _, named := find(c.CredHelpers, host); named {
		return s.path
	}
	if entry, _, _ := find(c.Auths, host); entry != (auth{}) {
		return s.path
	}
	if l, known := s.known(question{c.CredsStore, host}); known && l.credentials != (sdk.Credentials{}) {
		return s.path
	}
	return ""
}

// Refused tells that a registry did not accept used. It reports whether other
// credentials may be had now: the file has changed, or a helper is asked again.
func (s *Store) Refused(used sdk.Credentials) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := false
	for q, l := range s.lent {
		if l.credentials == used && time.Since(l.at) >= least {
			delete(s.lent, q)
			again = true
		}
	}
	return again
}

// kinded gives a failure of a helper a kind: unless it was merely slow, somebody must mend it.
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
	if err == nil && s.seen != nil && os.SameFile(s.seen, info) && s.seen.ModTime().Equal(info.ModTime()) && s.seen.Size() == info.Size() {
		return s.config
	}
	s.config, s.seen = config{}, nil
	clear(s.lent)
	if err == nil {
		s.config, err = read(path)
		s.seen = info // also of one that cannot be used: once is enough
	}
	// What is wrong with the file from the start, the host has said.
	if err != nil && s.loaded && !errors.Is(err, os.ErrNotExist) {
		s.warnLocked(fmt.Errorf("the credentials of docker login are not used: %w", err))
	}
	s.loaded = true
	return s.config
}

// fromHelper returns what a helper has for a host, asking at most one at a time.
func (s *Store) fromHelper(ctx context.Context, helper, host, server string) (sdk.Credentials, error) {
	q := question{helper, host}
	if l, known := s.known(q); known {
		return l.credentials, l.err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return sdk.Credentials{}, ctx.Err()
	}
	defer func() { <-s.turn }()
	if l, known := s.known(q); known {
		return l.credentials, l.err
	}
	given, err := ask(ctx, helper, server, s.timeout)
	if ctx.Err() != nil {
		return sdk.Credentials{}, ctx.Err()
	}
	if errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, exec.ErrNotFound) {
		q.host = "" // it will fare no better with other hosts
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lent) >= maxLent {
		clear(s.lent)
	}
	s.lent[q] = lent{credentials: given, err: err, at: time.Now()}
	return given, err
}

// known returns what a helper answered a moment ago.
func (s *Store) known(q question) (lent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if l := s.lent[question{helper: q.helper}]; l.live(now) {
		return l, true
	}
	l := s.lent[q]
	return l, l.live(now)
}

func (s *Store) warn(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnLocked(err)
}

// warnLocked logs a problem once. The caller holds the lock.
func (s *Store) warnLocked(err error) {
	if s.log == nil || s.told[err.Error()] {
		return
	}
	if len(s.told) == maxTold {
		clear(s.told)
	}
	s.told[err.Error()] = true
	s.log.Warn(err.Error())
}
