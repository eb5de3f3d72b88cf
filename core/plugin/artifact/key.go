package artifact

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"aead.dev/minisign"
)

// Key is the public key of a publisher: of minisign, or an ECDSA key over P-256 as
// cosign makes them. The zero Key is none.
type Key struct {
	minisign *minisign.PublicKey
	cosign   *ecdsa.PublicKey
	text     string
}

const maxKeyFile = 64 << 10

// ParseKey reads a key: the line of a minisign key (RW…), a PEM block, its content
// in one line, or a file with one of these.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	if k, ok := readKey(text); ok {
		return k, nil
	}
	if strings.ContainsAny(text, "\n") || text == "" {
		return Key{}, errors.New("is no key of minisign (RW…) and no PEM block of an ECDSA key over P-256")
	}
	f, err := os.Open(text)
	if err != nil {
		return Key{}, errors.New("is neither a key (of minisign, RW…, or ECDSA over P-256) nor a file that can be read")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return Key{}, fmt.Errorf("read the key: %w", err)
	}
	k, ok := readKey(strings.TrimSpace(string(data)))
	if !ok {
		return Key{}, fmt.Errorf("the file %s holds no key of minisign and no PEM block of an ECDSA key over P-256", text)
	}
	return k, nil
}

func readKey(text string) (Key, bool) {
	var m minisign.PublicKey
	if m.UnmarshalText([]byte(text)) == nil {
		return Key{minisign: &m, text: m.String()}, true
	}
	var der []byte
	if block, _ := pem.Decode([]byte(text)); block != nil {
		der = block.Bytes
	} else if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
		der = raw
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return Key{}, false
	}
	e, ok := public.(*ecdsa.PublicKey)
	if !ok || e.Curve != elliptic.P256() {
		return Key{}, false
	}
	return Key{cosign: e, text: base64.StdEncoding.EncodeToString(der)}, true
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.text == "" }

// Equal reports whether both are the same key.
func (k Key) Equal(other Key) bool { return k.text == other.text }

// Text is the key in one line, which ParseKey reads.
func (k Key) Text() string { return k.text }

// String names the key as users see it.
func (k Key) String() string {
	switch {
	case k.minisign != nil:
		return fmt.Sprintf("minisign %016X", k.minisign.ID())
	case k.cosign != nil:
		sum := sha256.Sum256([]byte(k.text))
		return fmt.Sprintf("cosign %X", sum[:8])
	}
	return "none"
}

// verifyMinisign reports whether sig is a signature by the key of what r reads.
// Its trusted comment is covered by it.
func (k Key) verifyMinisign(r io.Reader, sig []byte) (bool, error) {
	var s minisign.Signature
	if err := s.UnmarshalText(sig); err != nil {
		return false, errors.New("its signature is malformed")
	}
	if s.Algorithm == minisign.EdDSA { // made by old versions, of the file itself
		message, err := io.ReadAll(r)
		return err == nil && minisign.Verify(*k.minisign, message, sig), err
	}
	m := minisign.NewReader(r)
	if _, err := io.Copy(io.Discard, m); err != nil {
		return false, err
	}
	return m.Verify(*k.minisign, sig), nil
}

// verifyComment reports whether the key made the trusted comment of a signature. The
// comment is signed together with the signature of the file
// (https://jedisct1.github.io/minisign/#signature-format).
func (k Key) verifyComment(sig []byte) bool {
	var s minisign.Signature
	raw, err := base64.StdEncoding.DecodeString(k.text)
	if err != nil || len(raw) < ed25519.PublicKeySize || s.UnmarshalText(sig) != nil {
		return false
	}
	public := ed25519.PublicKey(raw[len(raw)-ed25519.PublicKeySize:]) // after the algorithm and the key's number
	return ed25519.Verify(public, append(s.Signature[:], s.TrustedComment...), s.CommentSignature[:])
}

// signedBy returns which key, by its name, made a minisign signature.
func signedBy(sig []byte) string {
	var s minisign.Signature
	if err := s.UnmarshalText(sig); err != nil {
		return ""
	}
	return fmt.Sprintf("minisign %016X", s.KeyID)
}

// verifyCosign reports whether sig, in base64, is a signature by the key of message.
func (k Key) verifyCosign(sum [sha256.Size]byte, sig string) bool {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(sig))
	return err == nil && ecdsa.VerifyASN1(k.cosign, sum[:], raw)
}
