package signedlink

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/internal/signedlinktoken"
	"github.com/dogwatch/dogwatch/sdk"
)

var testKey = bytes.Repeat([]byte{7}, keySize)

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

// anyLink returns a link of random texts.
func anyLink(r *rand.Rand) Link {
	text := func() string {
		switch r.IntN(4) {
		case 0:
			return ""
		case 1:
			return digest(string("0123456789abcdef"[r.IntN(16)]))
		}
		b := make([]byte, r.IntN(80))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return string(b)
	}
	l := Link{
		Action: actionCodes[1+r.IntN(4)], Trigger: text(), generation: r.Uint64N(1 << 40),
		Update: update.Key{
			Kind: kindCodes[1+r.IntN(2)], Subject: text(), FromTag: text(), FromDigest: text(), ToTag: text(), ToDigest: text(),
		},
		Expires: time.Unix(r.Int64N(1<<34), 0).UTC(),
	}
	for i := range l.nonce {
		l.nonce[i] = byte(r.IntN(256))
	}
	return l
}

func TestTokenRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		want := anyLink(r)
		token := want.sign(testKey)
		if got, err := verify(testKey, token); err != nil || got != want {
			t.Fatalf("%+v\nbecame %+v, %v", want, got, err)
		}
	}
	// These look like packed digests, and are none.
	for _, odd := range []string{"sha256:", digest("A"), digest("a")[:70], digest("a") + "00",
		"sha512:" + strings.Repeat("a", 64), strings.Repeat("a", 64)} {
		want := Link{
			Action: choice.Skip, Update: update.Key{Kind: sdk.KindDigest, ToDigest: odd}, Expires: time.Unix(1, 0).UTC(),
		}
		if got, err := verify(testKey, want.sign(testKey)); err != nil || got != want {
			t.Errorf("%q became %q, %v", odd, got.Update.ToDigest, err)
		}
	}
}

// A token with any other bit, of any other key, cut off or continued is none.
func TestTokenForged(t *testing.T) {
	token := example.sign(testKey)
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, signedlinktoken.Prefix))
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(raw) {
		forged := bytes.Clone(raw)
		forged[bit/8] ^= 1 << (bit % 8)
		if l, err := verify(testKey, signedlinktoken.Prefix+base64.RawURLEncoding.EncodeToString(forged)); err == nil {
			t.Fatalf("with bit %d another it is %+v", bit, l)
		}
	}
	for n := range len(token) {
		if _, err := verify(testKey, token[:n]); err == nil {
			t.Fatalf("the first %d characters are accepted", n)
		}
	}
	for _, other := range []string{token + "A", token + "=", token + "\n", " " + token, strings.ToLower(token), "",
		signedlinktoken.Prefix, SampleToken} {
		if _, err := verify(testKey, other); err == nil {
			t.Errorf("%q is accepted", other)
		}
	}
	if _, err := verify(bytes.Repeat([]byte{8}, keySize), token); err == nil {
		t.Error("a token of another key is accepted")
	}
}

var example = Link{
	Action: choice.Approved, Trigger: "discord.main", Expires: time.Unix(1_774_000_000, 0).UTC(), generation: 3,
	Update: update.Key{
		Subject: "nas/home-assistant", Kind: sdk.KindDigest, FromTag: "stable-alpine", FromDigest: digest("a"),
		ToTag: "stable-alpine", ToDigest: digest("b"),
	},
}

// Discord refuses messages with a longer URL, and so does Pushover.
func TestTokenFitsInButtons(t *testing.T) {
	address := "https://dogwatch.home.example.org/dogwatch" + Path + example.sign(testKey)
	if len(address) > 320 {
		t.Errorf("%d characters: %s", len(address), address)
	}
}

func TestTokenIsBlankedInTexts(t *testing.T) {
	token := example.sign(testKey)
	if got := signedlinktoken.Blank(`{"url":"https://h/decide/`+token+`","b":"`+token+`"}`,
		"***"); got != `{"url":"https://h/decide/***","b":"***"}` {
		t.Error(got)
	}
	if got := signedlinktoken.Blank("dwl_ and dwl_short are no tokens", "***"); got != "dwl_ and dwl_short are no tokens" {
		t.Error(got)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte{})
	token := example.sign(testKey)
	raw, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, signedlinktoken.Prefix))
	f.Add(raw[:len(raw)-macSize])
	f.Fuzz(func(t *testing.T, payload []byte) {
		signed := signedlinktoken.Prefix +
			base64.RawURLEncoding.EncodeToString(append(bytes.Clone(payload), mac(testKey, payload)...))
		l, err := verify(testKey, signed)
		if err != nil {
			return
		}
		if again, err := verify(testKey, l.sign(testKey)); err != nil || again != l {
			t.Errorf("%+v becomes %+v, %v", l, again, err)
		}
	})
}
