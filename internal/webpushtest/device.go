// Package webpushtest has what tests of Web Push need: a device, which reads a message as a browser does.
package webpushtest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// Device is a browser with a subscription.
type Device struct {
	Private *ecdh.PrivateKey
	Secret  []byte // its authentication secret
}

// NewDevice returns a device with keys of its own.
func NewDevice() (Device, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // never fails
	return Device{key, secret}, err
}

// P256dh returns its public key, base64url.
func (d Device) P256dh() string {
	return base64.RawURLEncoding.EncodeToString(d.Private.PublicKey().Bytes())
}

// Auth returns its authentication secret, base64url.
func (d Device) Auth() string { return base64.RawURLEncoding.EncodeToString(d.Secret) }

// The lengths of the parts of a body: RFC 8188, section 2.1.
const (
	saltLength   = 16
	keyLength    = 65
	headerLength = saltLength + 4 + 1 + keyLength
)

// Decrypt returns the text of the body of a request to its push service: RFC 8291, section 3.4, and RFC 8188,
// section 2.
func (d Device) Decrypt(body []byte) ([]byte, error) {
	if len(body) < headerLength || body[saltLength+4] != keyLength {
		return nil, errors.New("the header is not one of aes128gcm")
	}
	salt, sender := body[:saltLength], body[saltLength+5:headerLength]
	if size := binary.BigEndian.Uint32(body[saltLength:]); int(size) < len(body)-headerLength {
		return nil, errors.New("the body has more than one record")
	}
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := d.Private.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(d.Private.PublicKey().Bytes()) + string(sender)
	ikm, err := hkdf.Key(sha256.New, shared, d.Secret, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	padded, err := gcm.Open(nil, nonce, body[headerLength:], nil)
	if err != nil {
		return nil, err
	}
	text := bytes.TrimRight(padded, "\x00")
	if len(text) == 0 || text[len(text)-1] != 2 {
		return nil, errors.New("the last record does not end with its delimiter")
	}
	return text[:len(text)-1], nil
}
