package signedlink

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/internal/signedlinktoken"
	"github.com/dogwatch/dogwatch/sdk"
)

// Link is what a signed link stands for: one thing that may be decided about one
// update, by the reader of a message.
type Link struct {
	Action choice.Kind
	Update update.Key
	// Trigger is whose message it is in: "ntfy.main".
	Trigger string
	// Expires has whole seconds.
	Expires time.Time

	// generation is how often links of the trigger had been revoked.
	generation uint64
	nonce      [nonceSize]byte
}

const (
	version   = 1
	nonceSize = 9
	macSize   = 16
	keySize   = 32
	// maxToken bounds what is decoded before a signature is known to be right.
	maxToken = 4 << 10
)

// errMalformed: a text is no token.
var errMalformed = errors.New("malformed")

// Any is the action of a link whose page lets the reader choose one.
const Any choice.Kind = "any"

var actionCodes = []choice.Kind{1: choice.Approved, 2: choice.Skip, 3: choice.Snooze, 4: Any}

var kindCodes = []string{1: sdk.KindTag, 2: sdk.KindDigest}

func codeOf[T comparable](codes []T, value T) byte {
	for code, v := range codes {
		if code > 0 && v == value {
			return byte(code)
		}
	}
	return 0
}

// sign returns the token of a link. It is short, since some services limit the URLs
// of buttons to 512 characters: digests are packed, and nothing is named.
func (l Link) sign(key []byte) string {
	b := []byte{version, codeOf(actionCodes, l.Action), codeOf(kindCodes, l.Update.Kind)}
	b = append(b, l.nonce[:]...)
	b = binary.AppendUvarint(b, uint64(l.Expires.Unix()))
	b = binary.AppendUvarint(b, l.generation)
	k := l.Update
	for _, text := range []string{l.Trigger, k.Subject, k.FromTag, k.FromDigest, k.ToTag, k.ToDigest} {
		b = appendText(b, text)
	}
	return signedlinktoken.Prefix + base64.RawURLEncoding.EncodeToString(append(b, mac(key, b)...))
}

func mac(key, payload []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(payload)
	return h.Sum(nil)[:macSize]
}

// digestPrefix starts the digests that are packed into 32 bytes.
const digestPrefix = "sha256:"

// appendText appends a text as twice its length and its bytes, or as 1 and the 32 bytes of a digest.
func appendText(b []byte, text string) []byte {
	if packed, err := hex.DecodeString(strings.TrimPrefix(text, digestPrefix)); err == nil && len(packed) == sha256.Size &&
		text == digestPrefix+hex.EncodeToString(packed) {
		return append(append(b, 1), packed...)
	}
	return append(binary.AppendUvarint(b, uint64(len(text))<<1), text...)
}

// verify reads a token that was signed with key. The only error is errMalformed,
// for forged tokens too.
func verify(key []byte, token string) (Link, error) {
	text, has := strings.CutPrefix(token, signedlinktoken.Prefix)
	if !has || len(text) > maxToken || strings.ContainsAny(text, "\r\n") { // which the decoder ignores
		return Link{}, errMalformed
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < macSize {
		return Link{}, errMalformed
	}
	payload := b[:len(b)-macSize]
	if !hmac.Equal(b[len(payload):], mac(key, payload)) {
		return Link{}, errMalformed
	}
	return decode(payload)
}

// decode reads what sign has written. A payload with a right signature may be of
// another version of Dogwatch.
func decode(payload []byte) (l Link, err error) {
	r := reader{rest: payload}
	v, action, kind := r.byte(), r.byte(), r.byte()
	copy(l.nonce[:], r.take(nonceSize))
	l.Expires = time.Unix(int64(r.number()), 0).UTC()
	l.generation = r.number()
	l.Trigger = r.text()
	l.Update = update.Key{Subject: r.text(), FromTag: r.text(), FromDigest: r.text(), ToTag: r.text(), ToDigest: r.text()}
	if r.short || len(r.rest) > 0 || v != version || int(action) >= len(actionCodes) || action == 0 ||
		int(kind) >= len(kindCodes) || kind == 0 {
		return Link{}, errMalformed
	}
	l.Action, l.Update.Kind = actionCodes[action], kindCodes[kind]
	return l, nil
}

// reader reads a payload; short is set once something is missing.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.short, r.rest = true, nil
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.short, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) text() string {
	switch n := r.number(); {
	case n == 1:
		return digestPrefix + hex.EncodeToString(r.take(sha256.Size))
	case n&1 == 1:
		r.short = true
		return ""
	default:
		return string(r.take(n >> 1))
	}
}
