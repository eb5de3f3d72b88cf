// Package webpush has the browsers that users have subscribed for Web Push, and notifies each of them.
//
// Encryption and requests are those of the trigger of type webpush, in a process of its own, which gets
// one device for each call and remembers none.
package webpush

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// The bounds of what is stored.
const (
	// MaxDevices is how many devices are subscribed at most.
	MaxDevices = 50
	// maxEndpoint bounds the length of an endpoint, in bytes. Those of browsers have some hundred.
	maxEndpoint = 2048
	maxError    = 500
)

// The errors that callers tell apart with errors.Is.
var (
	// ErrNotFound: there is no such device.
	ErrNotFound = errors.New("there is no such device")
	// ErrFull: MaxDevices are subscribed.
	ErrFull = errors.New("50 devices are subscribed already; remove one that is not used any more")
)

// Subscription is a PushSubscription of a browser: https://www.w3.org/TR/push-api/. All of it is secret. The keys are
// base64url without padding.
type Subscription struct {
	// Endpoint is where its push service takes messages, an address that starts with https://.
	Endpoint string
	// P256dh is its public key on the curve P-256, Auth its authentication secret: RFC 8291, section 2.
	P256dh, Auth string
}

// Device is a browser that a user has subscribed.
type Device struct {
	// ID is made of the endpoint, and does not give it away.
	ID string
	// User is who subscribed it, Name its browser and system.
	User, Name string
	Subscription
	Created time.Time
	// Sent is when its push service took a message last; zero for never.
	Sent time.Time
	// Error is why its push service did not take the last message; "" if it did.
	Error string
}

// Store keeps devices and the key of the installation.
type Store interface {
	// WebPushKey returns the key that is stored, which is fresh if there was none.
	WebPushKey(ctx context.Context, fresh []byte) ([]byte, error)
	// WebPushDevices returns the devices, the oldest first.
	WebPushDevices(ctx context.Context) ([]Device, error)
	// AddWebPushDevice adds a device, or changes the one with its ID. It is an ErrFull if there are most others.
	AddWebPushDevice(ctx context.Context, d Device, most int) error
	// RemoveWebPushDevice removes a device. It is an ErrNotFound if there is none.
	RemoveWebPushDevice(ctx context.Context, id string) error
	// WebPushSent returns the IDs of the devices that have the message of a delivery.
	WebPushSent(ctx context.Context, delivery string) ([]string, error)
	// RecordWebPush stores that the push service of a device took the message of a delivery.
	RecordWebPush(ctx context.Context, id, delivery string, at time.Time) error
	// RecordWebPushError stores why the push service of a device did not.
	RecordWebPushError(ctx context.Context, id, text string) error
}

// complete checks a subscription of a browser, which may be anything, and returns it with keys without padding. The
// error is an *sdk.InvalidError that repeats nothing of it.
func (s Subscription) complete() (Subscription, error) {
	u, err := url.Parse(s.Endpoint)
	switch {
	case len(s.Endpoint) > maxEndpoint:
		return s, sdk.Invalid("endpoint", "has more than %d bytes", maxEndpoint)
	case err != nil, u.Scheme != "https", !webaddress.Is(u), u.User != nil, u.Fragment != "":
		return s, sdk.Invalid("endpoint", "want the address of a push service, which starts with https://")
	}
	public, err := decode(s.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(public)
	}
	if err != nil {
		return s, sdk.Invalid("keys.p256dh", "want a public key of the curve P-256, as base64url")
	}
	secret, err := decode(s.Auth)
	if err != nil || len(secret) != 16 {
		return s, sdk.Invalid("keys.auth", "want 16 bytes as base64url")
	}
	s.P256dh, s.Auth = encode(public), encode(secret)
	return s, nil
}

// lookupTimeout is how long a browser that subscribes waits for the name of its push service to be looked up.
const lookupTimeout = 5 * time.Second

// CheckPublic returns an *sdk.InvalidError if it cannot be a subscription, or its push service is in a private network,
// as far as its name tells now. A name that cannot be looked up may be found later: each message is checked again when
// it is sent.
func (s Subscription) CheckPublic(ctx context.Context) error {
	if _, err := s.complete(); err != nil {
		return err
	}
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if slices.ContainsFunc(found, func(a netip.Addr) bool { return !httpclient.PublicAddress(a) }) {
		return sdk.Invalid("endpoint",
			"its push service is in a private network; set privatetarget: true of the trigger of type webpush to allow that")
	}
	return nil
}

// id returns the ID of its device. The pages compute it as well, to tell which device is the reader's.
func (s Subscription) id() string {
	sum := sha256.Sum256([]byte(s.Endpoint))
	return hex.EncodeToString(sum[:8])
}

func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
