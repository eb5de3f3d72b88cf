package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/tg123/go-htpasswd"
	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// Schemes are the ways in which Hash hashes, the first being the best one for most.
func Schemes() []string { return []string{"bcrypt", "argon2id"} }

// Hash returns the hash of a password: "bcrypt" with cost 10 (about 50 ms) or
// "argon2id" with 19 MiB and two passes (RFC 9106; the parameters are those of
// the OWASP password storage cheat sheet).
func Hash(password, scheme string) (string, error) {
	switch scheme {
	case "bcrypt":
		if len(password) > 72 {
			return "", errors.New("bcrypt reads no more than 72 bytes of a password: choose a shorter one, or argon2id")
		}
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
		return string(hash), err
	case "argon2id":
		h := argon{memory: 19 << 10, passes: 2, threads: 1, salt: make([]byte, 16)}
		_, _ = rand.Read(h.salt) // never fails (crypto/rand)
		h.sum = h.key(password, 32)
		return h.String(), nil
	}
	return "", fmt.Errorf("unknown scheme %q: the schemes are %s", scheme, strings.Join(Schemes(), " and "))
}

// hash checks passwords.
type hash interface {
	matches(password string) bool
	plain() bool
}

// parseHash reads a hash as htpasswd, mkpasswd or Hash write it. Errors do not repeat it.
func parseHash(text string) (hash, error) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "$$"):
		return nil, errors.New("its $ are doubled, as compose files need it and nothing else does: write each once")
	case strings.HasPrefix(text, "$argon2id$"):
		return parseArgon(text)
	case strings.HasPrefix(text, "$2"):
		if _, err := bcrypt.Cost([]byte(text)); err != nil || len(text) != 60 {
			return nil,
				errors.New("is no complete bcrypt hash: it has 60 characters, in a compose file with each $ written twice")
		}
	case strings.HasPrefix(text, "$apr1$"), strings.HasPrefix(text, "$1$"):
		if salt, sum, _ := strings.Cut(text[strings.Index(text[1:], "$")+2:], "$"); salt == "" || len(sum) != 22 {
			return nil, errors.New("is no complete apr1 hash: in a compose file write each $ twice")
		}
	case strings.HasPrefix(text, "$5$"), strings.HasPrefix(text, "$6$"):
		length := map[byte]int{'5': 43, '6': 86}[text[1]]
		if sum := text[strings.LastIndexByte(text, '$')+1:]; strings.Count(text, "$") < 3 || len(sum) != length {
			return nil, errors.New("is no complete sha-crypt hash: in a compose file write each $ twice")
		}
	case strings.HasPrefix(text, "{SHA}"), strings.HasPrefix(text, "{SSHA}"):
	case strings.HasPrefix(text, "$"), strings.HasPrefix(text, "{"):
		return nil, errors.New("is of no known kind: known are bcrypt, argon2id, apr1, {SHA} and sha-crypt; " +
			"in a compose file write each $ twice; dogwatch hash-password prints one")
	case isRemains(text):
		return nil,
			errors.New("is what is left of a hash when its $ are taken for variables: in a compose file write each $ twice, " +
				"in a shell put the hash in single quotes; a password that looks so needs its hash here, which dogwatch hash-password prints")
	case isDES(text):
		return nil,
			errors.New("is a hash of the old crypt, which is not safe and not supported; dogwatch hash-password prints another")
	default:
		return cleartext(text), nil
	}
	for _, read := range []htpasswd.PasswdParser{htpasswd.AcceptBcrypt, htpasswd.AcceptMd5, htpasswd.AcceptSha,
		htpasswd.AcceptSsha, htpasswd.AcceptCryptSha} {
		switch parsed, err := read(text); {
		case err != nil:
			return nil, errors.New("is no complete hash")
		case parsed != nil:
			return encoded{parsed}, nil
		}
	}
	return nil, errors.New("is of no known kind")
}

// remains have what is left of a hash when each $ and the name that follows it is replaced by nothing. Docker Compose
// leaves $ before digits, . and / as they are, or refuses the file
// (https://docs.docker.com/reference/compose-file/interpolation/); a shell takes $ and one digit for a
// variable, too (POSIX, XCU 2.6.2).
//   - argon2id: =19=65536,t=3,p=4, with what follows a + or / or, in a shell, a digit of its texts;
//   - apr1, MD5 and SHA crypt: the sum from its first . or / on, perhaps after the salt from there on;
//   - SHA crypt with rounds, in a shell: =10000 and the same;
//   - bcrypt, in a shell: y0 and the same, with $ when its salt begins so, or all but one digit of the salt.
var remains = lazyregexp.New(`^(=[0-9]+=[0-9]+,t=[0-9].*|(=[0-9]+|[abxy][0-9])?\$?[./][./$0-9A-Za-z]*|` +
	`=[0-9]+|[abxy][0-9]([./0-9A-Za-z]{52})?)$`)

// isRemains reports whether text looks like what a compose file or a shell leaves of a hash. None of these is
// likely to be a password, and taken for one it would let in whoever knows the mistake.
func isRemains(text string) bool { return remains().MatchString(text) }

// isDES reports whether text has the form of the traditional crypt, which What's Up Docker does not take either.
func isDES(text string) bool {
	const digits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return len(text) == 13 && strings.Trim(text, digits) == ""
}

type encoded struct{ htpasswd.EncodedPasswd }

func (e encoded) matches(password string) bool { return e.MatchesPassword(password) }
func (encoded) plain() bool                    { return false }

// cleartext is a password that is not hashed, which What's Up Docker takes.
type cleartext string

func (c cleartext) matches(password string) bool {
	return subtle.ConstantTimeCompare([]byte(c), []byte(password)) == 1
}
func (cleartext) plain() bool { return true }

// argon is an argon2id hash in the form of the reference implementation:
// $argon2id$v=19$m=19456,t=2,p=1$salt$sum.
type argon struct {
	memory, passes uint32 // memory in KiB
	threads        uint8
	salt, sum      []byte
}

const (
	argonForm = "$argon2id$v=19$m=%d,t=%d,p=%d"
	// maxArgonMemory, in KiB, and maxArgonPasses keep a typing error from taking the machine down.
	maxArgonMemory = 1 << 20
	maxArgonPasses = 64
)

func parseArgon(text string) (hash, error) {
	bad := errors.New("is no complete argon2id hash of version 19: in a compose file write each $ twice")
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return nil, bad
	}
	var h argon
	if _, err := fmt.Sscanf(strings.Join(parts[:4], "$"), argonForm, &h.memory, &h.passes, &h.threads); err != nil {
		return nil, bad
	}
	var err, err2 error
	h.salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	h.sum, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || err2 != nil || len(h.salt) < 8 || len(h.sum) < 16 || h.passes == 0 || h.threads == 0 {
		return nil, bad
	}
	if h.memory > maxArgonMemory || h.passes > maxArgonPasses {
		return nil, fmt.Errorf("asks for more than %d MiB of memory or %d passes", maxArgonMemory>>10, maxArgonPasses)
	}
	return h, nil
}

func (h argon) key(password string, length int) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.passes, h.memory, h.threads, uint32(length))
}

func (h argon) matches(password string) bool {
	return subtle.ConstantTimeCompare(h.key(password, len(h.sum)), h.sum) == 1
}
func (argon) plain() bool { return false }

func (h argon) String() string {
	code := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf(argonForm, h.memory, h.passes, h.threads) + "$" + code(h.salt) + "$" + code(h.sum)
}
