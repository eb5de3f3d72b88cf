package store

import (
	"context"
	"time"
)

// sessionsPerUser is how many sessions of one user are kept; a new one takes the place of the oldest.
const sessionsPerUser = 50

// Session is the login of a user. The secret that the browser holds is not
// in it, only its SHA-256.
type Session struct {
	Hash []byte
	User string
	// Provider is the way in which the user logged in, such as "basic.ana".
	Provider string
	// Stamp stands for the settings of the provider at that time.
	Stamp []byte
	// Used is about when it was used last.
	Created, Expires, Used time.Time
	// Kept is whether it outlives the browser's being closed.
	Kept bool
}

const sessionColumns = "SELECT hash, user, provider, stamp, created_at, expires_at, used_at, kept FROM sessions "

func readSession(scan scanner) (Session, error) {
	var s Session
	var created, expires, used int64
	err := scan(&s.Hash, &s.User, &s.Provider, &s.Stamp, &created, &expires, &used, &s.Kept)
	s.Created, s.Expires, s.Used = instant(created), instant(expires), instant(used)
	return s, err
}

// Session returns the session with a hash that has not expired, or ErrNotFound.
func (s *Store) Session(ctx context.Context, hash []byte) (Session, error) {
	session, err := readSession(s.reader.QueryRowContext(ctx, sessionColumns+"WHERE hash = ? AND expires_at > ?", hash,
		millis(s.now())).Scan)
	return session, s.wrap("read a session", found(err, "session"))
}

// Sessions returns all sessions that have not expired, the one used last first.
func (s *Store) Sessions(ctx context.Context) ([]Session, error) {
	return queryRows(ctx, s, "read sessions",
		sessionColumns+"WHERE expires_at > ? ORDER BY used_at DESC, created_at DESC, hash", []any{millis(s.now())},
		readSession)
}

// AddSession stores a session. Of one user's, the oldest beyond fifty end.
func (s *Store) AddSession(ctx context.Context, n Session) error {
	return s.write(ctx, "store a session", func(t tx) error {
		if _, err := t.exec("INSERT INTO sessions (hash, user, provider, stamp, created_at, expires_at, used_at, kept) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			n.Hash, n.User, n.Provider, blob(n.Stamp), millis(n.Created), millis(n.Expires), millis(n.Used),
			n.Kept); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM sessions WHERE hash IN (
			SELECT hash FROM sessions WHERE provider = ? AND user = ? ORDER BY created_at DESC, hash = ? DESC LIMIT -1 OFFSET ?)`,
			n.Provider, n.User, n.Hash, sessionsPerUser)
		return err
	}, nil)
}

// UseSession stores when a session was used, when it ends and whether it is
// kept; one that is gone stays gone.
func (s *Store) UseSession(ctx context.Context, u Session) error {
	return s.write(ctx, "record the use of a session", func(t tx) error {
		_, err := t.exec("UPDATE sessions SET used_at = ?, expires_at = ?, kept = ? WHERE hash = ?", millis(u.Used),
			millis(u.Expires), u.Kept, u.Hash)
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
