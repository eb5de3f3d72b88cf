package store

import (
	"context"
	"time"
)

// sessionsPerUser is how many sessions of one user are kept; a new one takes the place of the oldest.
const sessionsPerUser = 50

// Session is somebody who logged in. The secret that the browser holds is not
// in it, only its SHA-256.
type Session struct {
	Hash []byte
	User string
	// Provider is the way in which the user logged in, such as "basic.ana".
	Provider string
	// Stamp stands for the settings of the provider at that time.
	Stamp   []byte
	Created time.Time
	Expires time.Time
}

// Session returns the session with a hash that has not expired, or ErrNotFound.
func (s *Store) Session(ctx context.Context, hash []byte) (Session, error) {
	session := Session{Hash: hash}
	var created, expires int64
	err := s.reader.QueryRowContext(ctx, "SELECT user, provider, stamp, created_at, expires_at FROM sessions WHERE hash = ? AND expires_at > ?", hash, millis(s.now())).
		Scan(&session.User, &session.Provider, &session.Stamp, &created, &expires)
	session.Created, session.Expires = instant(created), instant(expires)
	return session, s.wrap("read a session", found(err, "session"))
}

// AddSession stores a session. Of one user's, the oldest beyond fifty end.
func (s *Store) AddSession(ctx context.Context, n Session) error {
	return s.write(ctx, "store a session", func(t tx) error {
		if _, err := t.exec("INSERT INTO sessions (hash, user, provider, stamp, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
			n.Hash, n.User, n.Provider, blob(n.Stamp), millis(n.Created), millis(n.Expires)); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM sessions WHERE hash IN (
			SELECT hash FROM sessions WHERE provider = ? AND user = ? ORDER BY created_at DESC, hash = ? DESC LIMIT -1 OFFSET ?)`,
			n.Provider, n.User, n.Hash, sessionsPerUser)
		return err
	}, nil)
}

// ExtendSession moves the end of a session; one that is gone stays gone.
func (s *Store) ExtendSession(ctx context.Context, hash []byte, expires time.Time) error {
	return s.write(ctx, "extend a session", func(t tx) error {
		_, err := t.exec("UPDATE sessions SET expires_at = ? WHERE hash = ?", millis(expires), hash)
		return err
	}, nil)
}

// EndSession deletes a session; one that is gone is not an error.
func (s *Store) EndSession(ctx context.Context, hash []byte) error {
	return s.write(ctx, "end a session", func(t tx) error {
		_, err := t.exec("DELETE FROM sessions WHERE hash = ?", hash)
		return err
	}, nil)
}
