package trigger

import (
	"slices"
	"strings"
)

// Device is a browser that a user has subscribed for Web Push: a PushSubscription of
// https://www.w3.org/TR/push-api/ with the key with which the host signs for its push service. All
// of it is secret. The texts are base64url without padding.
type Device struct {
	// Endpoint is the address at which its push service takes messages.
	Endpoint string
	// P256dh is its public key on the curve P-256, uncompressed, and Auth its
	// authentication secret: RFC 8291, section 2.
	P256dh, Auth string
	// Key is the private key of the host for VAPID: RFC 8292.
	Key string
}

// minSecretPart is the length from which a part of an endpoint is secret: shorter ones, such as "send", are
// words of the push service.
const minSecretPart = 12

// Secrets returns the texts that no error and no log may hold.
func (d Device) Secrets() []string {
	all := []string{d.Endpoint, d.P256dh, d.Auth, d.Key}
	_, path, _ := strings.Cut(strings.TrimPrefix(d.Endpoint, "https://"), "/")
	all = append(all, strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/?&=#", r) })...)
	return slices.DeleteFunc(all, func(part string) bool { return len(part) < minSecretPart })
}
