package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// Token lets one agent join. Its text is id.secret.fingerprint, each in base64url.
type Token struct {
	id, secret  []byte
	fingerprint [sha256.Size]byte
}

const (
	tokenID     = 6
	tokenSecret = 16
)

var tokenEncoding = base64.RawURLEncoding.Strict()

var errNoToken = errors.New("this is no token of an agent: copy all of the line that dogwatch agent token printed")

func newToken(fingerprint [sha256.Size]byte) Token {
	t := Token{make([]byte, tokenID), make([]byte, tokenSecret), fingerprint}
	_, _ = rand.Read(t.id) // which never fails
	_, _ = rand.Read(t.secret)
	return t
}

// ParseToken reads the text of a token. The error repeats nothing of it.
func ParseToken(text string) (t Token, err error) {
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) != 3 {
		return t, errNoToken
	}
	var decoded [3][]byte
	for i, size := range []int{tokenID, tokenSecret, sha256.Size} {
		decoded[i], err = tokenEncoding.DecodeString(parts[i])
		if err != nil || len(decoded[i]) != size {
			return t, errNoToken
		}
	}
	return Token{decoded[0], decoded[1], [sha256.Size]byte(decoded[2])}, nil
}

// Text is what a user takes to the agent's host. It is a secret.
func (t Token) Text() string {
	return strings.Join([]string{
		t.ID(), tokenEncoding.EncodeToString(t.secret), tokenEncoding.EncodeToString(t.fingerprint[:]),
	}, ".")
}

// ID names the token, and is no secret.
func (t Token) ID() string { return tokenEncoding.EncodeToString(t.id) }

// String keeps the secret out of logs.
func (t Token) String() string { return "token " + t.ID() }

// GoString is String.
func (t Token) GoString() string { return t.String() }

// Hash is what is stored of the secret.
func (t Token) Hash() []byte {
	sum := sha256.Sum256(t.secret)
	return sum[:]
}
