// Package update says which update is which. It alone defines when two updates
// are the same and when a container has changed; what checks, stores, delivers
// or shows updates asks it. Everything in it is free of I/O and state.
package update

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// Key is the identity of an update: what is offered to whom. Two updates are the
// same if and only if their keys are ==, whenever and in whatever process they
// were found; events and deliveries dedupe by it. The id of a container is not part of it, since a container gets
// another one each time it is recreated.
type Key struct {
	// Subject is "watcher/name"; see event.Subject.
	Subject string
	// Kind is sdk.KindTag or sdk.KindDigest.
	Kind string
	// FromTag is the running tag, and ToTag the offered one. They are equal for a new digest behind one tag.
	FromTag string
	// FromDigest is the digest of the running image. It is empty for a newer tag:
	// to run another build of the same tag makes it no other update.
	FromDigest string
	ToTag      string
	// ToDigest is the offered digest. It is empty where only tags were compared.
	ToDigest string
}

// KeyOf returns the key of the update that a container is offered. It means
// something only while the container's UpdateAvailable is true.
func KeyOf(c *sdk.Container) Key {
	k := Key{Subject: event.Subject(*c), Kind: c.UpdateKind.Kind}
	if k.Kind == sdk.KindDigest {
		k.FromTag, k.FromDigest = c.Watched().Tag.Value, c.UpdateKind.LocalValue
		k.ToTag, k.ToDigest = c.Watched().Tag.Value, c.UpdateKind.RemoteValue
	} else {
		k.FromTag, k.ToTag = c.UpdateKind.LocalValue, c.UpdateKind.RemoteValue
	}
	if c.Result != nil {
		k.ToTag, k.ToDigest = c.Result.Tag, c.Result.Digest
	}
	return k
}

// From returns what runs and To what is offered, as users see it: tags, or the
// digests behind one tag.
func (k Key) From() string {
	if k.Kind == sdk.KindDigest {
		return k.FromDigest
	}
	return k.FromTag
}

// To returns what is offered; see From.
func (k Key) To() string {
	if k.Kind == sdk.KindDigest {
		return k.ToDigest
	}
	return k.ToTag
}

// Equal reports whether two states of one container have an update, and the same
// one. A container that was renamed or taken over by another watcher in between
// keeps its update, so the subjects of the keys are not compared.
func Equal(before, after *sdk.Container) bool {
	if !before.UpdateAvailable || !after.UpdateAvailable {
		return false
	}
	a, b := KeyOf(before), KeyOf(after)
	a.Subject = b.Subject
	return a == b
}

// The text form of a key is its fields in their order, separated by commas. In a
// field every byte but letters, digits and -._:/@ is a tilde and two upper case
// hexadecimal digits. So the text needs no escaping in the path of a URL (RFC
// 3986, section 3.3) and no proxy that normalises percent-encodings changes it.
const (
	fieldCount = 6
	separator  = ","
	escapeByte = '~'
	hexDigits  = "0123456789ABCDEF"
)

// SameTarget reports whether two updates lead a container to the same image, from
// whichever it runs. Tags are of one build: a tag that was offered leads to what it
// means, as in Equal.
func (k Key) SameTarget(other Key) bool {
	return k.Subject == other.Subject && k.Kind == other.Kind && k.To() == other.To()
}

// String returns the text form, which Parse reads:
// "local/nginx,tag,1.25.0,,1.26.0,".
func (k Key) String() string {
	var b strings.Builder
	for i, field := range [fieldCount]string{k.Subject, k.Kind, k.FromTag, k.FromDigest, k.ToTag, k.ToDigest} {
		if i > 0 {
			b.WriteString(separator)
		}
		for j := range len(field) {
			if c := field[j]; literal(c) {
				b.WriteByte(c)
			} else {
				b.Write([]byte{escapeByte, hexDigits[c>>4], hexDigits[c&15]})
			}
		}
	}
	return b.String()
}

func literal(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._:/@", c) >= 0
}

// Parse reads the text form of a key. It accepts only what String returns, so
// that every key has one text.
func Parse(text string) (Key, error) {
	fields := strings.Split(text, separator)
	if len(fields) != fieldCount {
		return Key{}, fmt.Errorf("update %q: it has %d fields separated by commas, want %d", text, len(fields), fieldCount)
	}
	for i, field := range fields {
		var err error
		if fields[i], err = unescape(field); err != nil {
			return Key{}, fmt.Errorf("update %q: %w", text, err)
		}
	}
	k := Key{
		Subject: fields[0], Kind: fields[1], FromTag: fields[2], FromDigest: fields[3], ToTag: fields[4], ToDigest: fields[5],
	}
	if again := k.String(); again != text {
		return Key{}, fmt.Errorf("update %q: want it written as %q", text, again)
	}
	return k, nil
}

func unescape(field string) (string, error) {
	var b strings.Builder
	for {
		plain, rest, escaped := strings.Cut(field, string(escapeByte))
		b.WriteString(plain)
		if !escaped {
			return b.String(), nil
		}
		if len(rest) < 2 {
			return "", fmt.Errorf("%q ends within an escaped byte", field)
		}
		c, err := strconv.ParseUint(rest[:2], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q is no escaped byte, want a tilde and two hexadecimal digits", "~"+rest[:2])
		}
		b.WriteByte(byte(c))
		field = rest[2:]
	}
}

// MarshalText returns the text form.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the text form; see Parse.
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k, err = Parse(string(text))
	return err
}
