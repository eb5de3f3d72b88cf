// Package webpush notifies the browsers that users have subscribed on the dashboard, with Web Push:
// RFC 8030 (the request), RFC 8291 (its encryption) and RFC 8292 (VAPID, who sends it).
package webpush

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/SherClockHolmes/webpush-go"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxTTL is the longest time that the push service of Chrome keeps a message:
// https://firebase.google.com/docs/cloud-messaging/customize-messages/setting-message-lifespan.
const maxTTL = 28 * 24 * time.Hour

// Options configures one webpush trigger.
type Options struct {
	Subject       string        `option:"subject,required" help:"Where push services reach you when something is wrong with your messages: mailto:you@example.org, or an address that starts with https://" example:"mailto:you@example.org"`
	TTL           time.Duration `option:"ttl" default:"24h" help:"How long a push service keeps a message for a device that is switched off, up to 672h (28 days)"`
	PrivateTarget bool          `option:"privatetarget" default:"false" help:"Send also to push services in private networks: for one that you run yourself"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("webpush", "Notify the phones and computers that are subscribed on the dashboard", New,
		kind.Docs("https://developer.mozilla.org/docs/Web/API/Push_API"), kind.Messages(), kind.Needs(kind.CapDevices))
}

type webPush struct {
	env     sdk.Env
	options Options
}

// New returns a trigger that notifies devices.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	o.Subject = strings.TrimSpace(o.Subject)
	u, err := url.Parse(o.Subject)
	mail := err == nil && u.Scheme == "mailto" && strings.Contains(strings.Trim(u.Opaque, "@"), "@")
	if !mail && (err != nil || u.Scheme != "https" || !webaddress.Is(u)) {
		return nil, sdk.Invalid("subject", "want mailto: and a mail address, or an address that starts with https://")
	}
	if o.TTL < 0 || o.TTL > maxTTL {
		return nil, sdk.Invalid("ttl", "want 0s to %s, got %s", maxTTL, o.TTL)
	}
	client, err := httpclient.New(env, o.Options)
	if err != nil {
		return nil, err
	}
	client.Close()
	return &webPush{env, o}, nil
}

// errNoDevice is the answer to a request of a host that hands out no devices.
var errNoDevice = sdk.WithKind(sdk.ErrUnsupported, errors.New("the request names no device to notify"))

// errKeys is the answer to a device whose keys are not those of RFC 8291.
var errKeys = errors.New("the keys of the device cannot be used; remove the device and subscribe it again")

// Run notifies one device. The error is an sdk.ErrNotFound when the push service has dropped the subscription
// (RFC 8030, section 7.3), and never holds the endpoint or a key.
func (w *webPush) Run(ctx context.Context, req trigger.Request) error {
	d := req.Device
	if d == nil {
		return errNoDevice
	}
	public, err := publicKey(d.Key)
	if err != nil {
		return err
	}
	payload, err := payloadOf(req)
	if err != nil {
		return err
	}
	endpoint, err := url.Parse(d.Endpoint)
	if err != nil || !webaddress.Is(endpoint) {
		return errors.New("the endpoint of the device is no address on the web")
	}
	// A client for each run, since its errors must not repeat what is secret of this device.
	client, err := httpclient.New(w.env, w.options.Options, d.Secrets()...)
	if err != nil {
		return err
	}
	defer client.Close()
	if !w.options.PrivateTarget {
		ctx = httpclient.Outward(ctx) // a browser names the endpoint, and it must not lead us into the network
	}
	resp, err := webpush.SendNotificationWithContext(ctx, payload,
		&webpush.Subscription{Endpoint: d.Endpoint, Keys: webpush.Keys{P256dh: d.P256dh, Auth: d.Auth}},
		&webpush.Options{
			HTTPClient: reported{client}, Subscriber: strings.TrimPrefix(w.options.Subject, "mailto:"), Topic: topicOf(req),
			TTL: int(w.options.TTL.Seconds()), Urgency: urgencyOf(req), VAPIDPublicKey: public, VAPIDPrivateKey: d.Key,
		})
	var failed *requestError
	switch {
	case errors.As(err, &failed):
		return failed.error
	case err != nil:
		return errKeys // an error of the library may repeat them
	}
	defer resp.Body.Close()
	return client.CheckStatus(resp)
}

// publicKey returns the public key of a private one, both base64url.
func publicKey(private string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return "", errors.New("the key of the host is not base64url")
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return "", errors.New("the key of the host is not one of P-256")
	}
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), nil
}

// urgencyOf says whether to wake a device that saves its battery: RFC 8030, section 5.3.
func urgencyOf(req trigger.Request) webpush.Urgency {
	if req.Event.Urgent() {
		return webpush.UrgencyHigh
	}
	return webpush.UrgencyNormal
}
