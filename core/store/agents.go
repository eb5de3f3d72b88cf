package store

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/agent"
)

// Store implements agent.Store.
var _ agent.Store = (*Store)(nil)

// keepTokens is how long a token is kept after it has expired, so that who comes late learns why.
const keepTokens = 24 * time.Hour

// AddAgentToken implements agent.Store.
func (s *Store) AddAgentToken(ctx context.Context, w agent.Wanted) error {
	return s.write(ctx, "store a token of an agent", func(t tx) error {
		if _, err := t.exec("DELETE FROM agent_tokens WHERE expires_at < ?",
			millis(s.now().Add(-keepTokens))); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO agent_tokens (id, hash, name, creator, expires_at) VALUES (?, ?, ?, ?, ?)",
			w.ID, w.Hash, w.Name, w.Creator, millis(w.Expires))
		return err
	}, nil)
}

// JoinAgent implements agent.Store.
func (s *Store) JoinAgent(ctx context.Context, id string, hash []byte, a agent.Agent) (agent.Agent, error) {
	var refused error
	err := s.write(ctx, "add an agent", func(t tx) error {
		var w agent.Wanted
		var expires int64
		var usedBy []byte
		err := t.row("SELECT hash, name, creator, expires_at, used_by FROM agent_tokens WHERE id = ?", id).
			Scan(&w.Hash, &w.Name, &w.Creator, &expires, &usedBy)
		refused = found(err, "token")
		switch {
		case errors.Is(refused, ErrNotFound):
			refused = agent.ErrTokenUnknown
		case err != nil:
			return err
		case subtle.ConstantTimeCompare(hash, w.Hash) != 1:
			refused = agent.ErrTokenUnknown
		case usedBy != nil && !bytes.Equal(usedBy, a.Key):
			refused = agent.ErrTokenUsed
		case !s.now().Before(instant(expires)):
			refused = agent.ErrTokenExpired
		}
		if refused != nil {
			return refused
		}
		if a.Creator = w.Creator; w.Name != "" {
			a.Name = w.Name
		}
		refused = addAgent(t, id, a, w.Name != "")
		return refused
	}, nil)
	for _, known := range []error{agent.ErrTokenUnknown, agent.ErrTokenUsed, agent.ErrTokenExpired, agent.ErrNameTaken} {
		if errors.Is(refused, known) {
			return a, known
		}
	}
	return a, err
}

// addAgent adds an agent, and notes that it has used a token. With replaces it takes the name of another one.
func addAgent(t tx, token string, a agent.Agent, replaces bool) error {
	var owner []byte
	err := t.row("SELECT key FROM agents WHERE name = ?", a.Name).Scan(&owner)
	switch err = found(err, "agent"); {
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	case a.Name == "", err == nil && !replaces && !bytes.Equal(owner, a.Key):
		return agent.ErrNameTaken
	}
	if _, err := t.exec("DELETE FROM agents WHERE name = ? OR key = ?", a.Name, a.Key); err != nil {
		return err
	}
	if _, err := t.exec("INSERT INTO agents (name, key, version, creator, joined_at, seen_at) VALUES (?, ?, ?, ?, ?, 0)",
		a.Name, a.Key, a.Version, a.Creator, millis(a.Joined)); err != nil {
		return err
	}
	_, err = t.exec("UPDATE agent_tokens SET used_by = ? WHERE id = ?", a.Key, token)
	return err
}

// Agents implements agent.Store.
func (s *Store) Agents(ctx context.Context) ([]agent.Agent, error) {
	return queryRows(ctx, s, "read the agents",
		"SELECT name, key, version, creator, joined_at, seen_at FROM agents ORDER BY name", nil,
		func(scan scanner) (a agent.Agent, err error) {
			var joined, seen int64
			err = scan(&a.Name, &a.Key, &a.Version, &a.Creator, &joined, &seen)
			a.Joined, a.Seen = instant(joined), instant(seen)
			return a, err
		})
}

// SeenAgent implements agent.Store.
func (s *Store) SeenAgent(ctx context.Context, key []byte, version string, at time.Time) error {
	return s.write(ctx, "store when an agent was connected", func(t tx) error {
		_, err := t.exec("UPDATE agents SET version = ?, seen_at = ? WHERE key = ?", version, millis(at), key)
		return err
	}, nil)
}

// RemoveAgent implements agent.Store.
func (s *Store) RemoveAgent(ctx context.Context, name string) error {
	return s.changeAgent(ctx, "revoke an agent", "DELETE FROM agents WHERE name = ?", name)
}

// RenameAgent implements agent.Store.
func (s *Store) RenameAgent(ctx context.Context, name, to string) error {
	all, err := s.Agents(ctx)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Name == to {
			return agent.ErrNameTaken
		}
	}
	return s.changeAgent(ctx, "rename an agent", "UPDATE agents SET name = ? WHERE name = ?", to, name)
}

func (s *Store) changeAgent(ctx context.Context, doing, query string, args ...any) error {
	var none bool
	err := s.write(ctx, doing, func(t tx) error {
		done, err := t.exec(query, args...)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		none = n == 0
		return err
	}, nil)
	if err == nil && none {
		return agent.ErrNotFound
	}
	return err
}
