package store

import (
	"context"
	"fmt"
	"time"
)

// Token is a token for the API. The secret that its holder has is not in it, only its SHA-256.
type Token struct {
	// ID is never given out twice.
	ID   int64
	Name string
	Hash []byte
	// Scope is "read" or "write".
	Scope   string
	Creator string
	Created time.Time
	// Expires is the zero time for a token that never does.
	Expires time.Time
	// Used is when it was used last, roughly; the zero time when it never was.
	Used time.Time
}

const tokenColumns = "SELECT id, name, hash, scope, creator, created_at, expires_at, used_at FROM tokens "

func readToken(scan scanner) (Token, error) {
	var t Token
	var created, expires, used int64
	err := scan(&t.ID, &t.Name, &t.Hash, &t.Scope, &t.Creator, &created, &expires, &used)
	t.Created, t.Expires, t.Used = instant(created), instant(expires), instant(used)
	return t, err
}

// Tokens returns all tokens, expired ones too, the newest first.
func (s *Store) Tokens(ctx context.Context) ([]Token, error) {
	return queryRows(ctx, s, "read tokens", tokenColumns+"ORDER BY id DESC", nil, readToken)
}

// Token returns the token with a hash, an expired one too, or ErrNotFound.
func (s *Store) Token(ctx context.Context, hash []byte) (Token, error) {
	t, err := readToken(s.reader.QueryRowContext(ctx, tokenColumns+"WHERE hash = ?", hash).Scan)
	return t, s.wrap("read a token", found(err, "token"))
}

// AddToken stores a token and returns it with its ID.
func (s *Store) AddToken(ctx context.Context, n Token) (Token, error) {
	err := s.write(ctx, "store a token", func(t tx) error {
		done, err := t.exec("INSERT INTO tokens (name, hash, scope, creator, created_at, expires_at, used_at) VALUES (?, ?, ?, ?, ?, ?, 0)",
			n.Name, n.Hash, n.Scope, n.Creator, millis(n.Created), millis(n.Expires))
		if err != nil {
			return err
		}
		n.ID, err = done.LastInsertId()
		return err
	}, nil)
	return n, err
}

// UseToken records when a token was used.
func (s *Store) UseToken(ctx context.Context, id int64, at time.Time) error {
	return s.write(ctx, "record the use of a token", func(t tx) error {
		_, err := t.exec("UPDATE tokens SET used_at = ? WHERE id = ?", millis(at), id)
		return err
	}, nil)
}

// RemoveToken deletes a token and returns what it was, or ErrNotFound.
func (s *Store) RemoveToken(ctx context.Context, id int64) (gone Token, err error) {
	err = s.write(ctx, fmt.Sprintf("delete token %d", id), func(t tx) error {
		gone, err = readToken(t.row("DELETE FROM tokens WHERE id = ? RETURNING id, name, hash, scope, creator, created_at, expires_at, used_at", id).Scan)
		return found(err, "token %d", id)
	}, nil)
	return gone, err
}
