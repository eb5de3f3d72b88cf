package webpush

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Options are what Devices need.
type Options struct {
	Store Store
	// Secrets gets what no log and no error may hold, before a trigger does.
	Secrets func(values ...string)
	Log     hclog.Logger
	Now     func() time.Time
}

// Devices are those that are subscribed. Its methods may be called concurrently.
type Devices struct {
	opt     Options
	log     hclog.Logger
	private string // the key of the installation, base64url
	public  string

	mu sync.Mutex
	// waits are until when push services asked to wait before the next message to a device.
	waits map[string]time.Time
}

// New reads the devices and the key of the installation, which is made once.
func New(ctx context.Context, opt Options) (*Devices, error) {
	fresh, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of Web Push: %w", err)
	}
	stored, err := opt.Store.WebPushKey(ctx, fresh.Bytes())
	if err != nil {
		return nil, err
	}
	key, err := ecdh.P256().NewPrivateKey(stored)
	if err != nil {
		return nil, fmt.Errorf("read the key of Web Push from the store: %w; restore a backup", err)
	}
	d := &Devices{
		opt: opt, log: opt.Log.Named("webpush"), private: encode(key.Bytes()), public: encode(key.PublicKey().Bytes()),
		waits: map[string]time.Time{},
	}
	opt.Secrets(d.private)
	known, err := d.All(ctx)
	for _, one := range known {
		opt.Secrets(d.target(one).Secrets()...)
	}
	return d, err
}

// PublicKey returns the key by which push services know this installation, base64url: the applicationServerKey of
// PushManager.subscribe.
func (d *Devices) PublicKey() string { return d.public }

// All returns the devices, the oldest first.
func (d *Devices) All(ctx context.Context) ([]Device, error) { return d.opt.Store.WebPushDevices(ctx) }

// Subscribed reports whether there are devices; it does so, too, when the store cannot say.
func (d *Devices) Subscribed(ctx context.Context) bool {
	all, err := d.All(ctx)
	return err != nil || len(all) > 0
}

// Find returns a device. It is an ErrNotFound if there is none with this ID.
func (d *Devices) Find(ctx context.Context, id string) (Device, error) {
	all, err := d.All(ctx)
	if err != nil {
		return Device{}, err
	}
	i := slices.IndexFunc(all, func(one Device) bool { return one.ID == id })
	if i < 0 {
		return Device{}, ErrNotFound
	}
	return all[i], nil
}

// Subscribe adds the browser of a user, which the User-Agent header names. One that is there already gets its new
// keys. The error is an *sdk.InvalidError for a subscription that cannot be one, and an ErrFull if there are too many.
func (d *Devices) Subscribe(ctx context.Context, user, userAgent string, s Subscription) (Device, error) {
	s, err := s.complete()
	if err != nil {
		return Device{}, err
	}
	device := Device{ID: s.id(), User: user, Name: nameOf(userAgent), Subscription: s, Created: d.opt.Now()}
	if err := d.opt.Store.AddWebPushDevice(ctx, device, MaxDevices); err != nil {
		return Device{}, err // of what is not stored, nothing is kept: not its secrets either
	}
	d.opt.Secrets(d.target(device).Secrets()...)
	return d.Find(ctx, device.ID)
}

// Remove removes a device. It is an ErrNotFound if there is none with this ID.
func (d *Devices) Remove(ctx context.Context, id string) error {
	return d.opt.Store.RemoveWebPushDevice(ctx, id)
}

// target is a device as a trigger gets it.
func (d *Devices) target(one Device) *trigger.Device {
	return &trigger.Device{Endpoint: one.Endpoint, P256dh: one.P256dh, Auth: one.Auth, Key: d.private}
}
