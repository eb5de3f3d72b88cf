package webpushtest

import (
	"crypto/ecdh"
	"encoding/base64"
	"testing"
)

// TestDecryptExample is that of RFC 8291, appendix A.
func TestDecryptExample(t *testing.T) {
	decode := func(text string) []byte {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	key, err := ecdh.P256().NewPrivateKey(decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		t.Fatal(err)
	}
	d := Device{key, decode("BTBZMqHH6r4Tts7J_aSIgg")}
	const public = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	if got := d.P256dh(); got != public {
		t.Errorf("public key %s", got)
	}
	body := decode("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	if text, err := d.Decrypt(body); string(text) != "When I grow up, I want to be a watermelon" {
		t.Errorf("%q, %v", text, err)
	}
	body[len(body)-1] ^= 1
	if text, err := d.Decrypt(body); err == nil {
		t.Errorf("a forged body was read: %q", text)
	}
}
