package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/webpush"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Devices are the browsers that users have subscribed; see webpush.Devices.
type Devices interface {
	PublicKey() string
	All(ctx context.Context) ([]webpush.Device, error)
	Find(ctx context.Context, id string) (webpush.Device, error)
	Subscribe(ctx context.Context, user, userAgent string, s webpush.Subscription) (webpush.Device, error)
	Remove(ctx context.Context, id string) error
	Test(ctx context.Context, id string, one trigger.Trigger) error
}

// Push is what there is to know about messages to the browsers of users.
type Push struct {
	// PublicKey is what a browser subscribes with, base64url.
	PublicKey string
	// Triggers are the ids of the triggers that notify devices.
	Triggers []string
	// Devices are those that are subscribed, of all users, without their subscriptions; the oldest first.
	Devices []webpush.Device
}

// ErrNoPush is the error of a subscription that no trigger would use.
var ErrNoPush = sdk.WithKind(sdk.ErrUnsupported,
	errors.New("no trigger of type webpush is configured, so that no device can be notified"))

// Push returns the devices, and what a browser needs to become one. The error is an ErrForbidden for actors that may
// not write: devices get links with which updates are approved.
func (s *Service) Push(ctx context.Context, actor auth.Actor) (Push, error) {
	if err := allow(actor, auth.Write, "see the devices that are notified"); err != nil || s.opt.Devices == nil {
		return Push{}, err
	}
	all, err := s.opt.Devices.All(ctx)
	for i := range all {
		all[i] = s.device(all[i])
	}
	p := Push{PublicKey: s.opt.Devices.PublicKey(), Devices: all}
	for _, t := range s.notifiers() {
		p.Triggers = append(p.Triggers, t.ID())
	}
	return p, s.safe(err)
}

// SubscribeDevice has the browser of an actor notified, which its User-Agent header names. The error is an
// ErrForbidden for actors that may not write, an *sdk.InvalidError for a subscription that cannot be one, an ErrNoPush,
// and a webpush.ErrFull.
func (s *Service) SubscribeDevice(
	ctx context.Context, actor auth.Actor, userAgent string, wanted webpush.Subscription,
) (webpush.Device, error) {
	if err := allow(actor, auth.Write, "subscribe devices"); err != nil {
		return webpush.Device{}, err
	}
	all := s.notifiers()
	if s.opt.Devices == nil || len(all) == 0 {
		return webpush.Device{}, ErrNoPush
	}
	if !slices.ContainsFunc(all, reachesPrivate) {
		if err := wanted.CheckPublic(ctx); err != nil {
			return webpush.Device{}, err
		}
	}
	d, err := s.opt.Devices.Subscribe(ctx, actor.User, userAgent, wanted)
	if err != nil {
		return webpush.Device{}, s.safe(err)
	}
	s.auditDevice(ctx, actor, d, "off", "on")
	return s.device(d), nil
}

// RemoveDevice has a browser, of any user, not notified any more. The error is an ErrForbidden for actors that may not
// write, and an ErrNotFound.
func (s *Service) RemoveDevice(ctx context.Context, actor auth.Actor, id string) error {
	d, err := s.findDevice(ctx, actor, id, "remove devices")
	if err != nil {
		return err
	}
	if err := s.opt.Devices.Remove(ctx, id); err != nil && !errors.Is(err, webpush.ErrNotFound) {
		return s.safe(err)
	}
	s.auditDevice(ctx, actor, d, "on", "off")
	return nil
}

// TestDevice sends a sample message to a browser. The error is an ErrForbidden for actors that may not write, an
// ErrNotFound, an ErrNoPush, and else why its push service did not take the message.
func (s *Service) TestDevice(ctx context.Context, actor auth.Actor, id string) error {
	if _, err := s.findDevice(ctx, actor, id, "send tests to devices"); err != nil {
		return err
	}
	all := s.notifiers()
	if len(all) == 0 {
		return ErrNoPush
	}
	return s.safe(s.opt.Devices.Test(ctx, id, all[0]))
}

// findDevice returns a device to an actor that may write.
func (s *Service) findDevice(ctx context.Context, actor auth.Actor, id, doing string) (webpush.Device, error) {
	if err := allow(actor, auth.Write, doing); err != nil {
		return webpush.Device{}, err
	}
	if s.opt.Devices == nil {
		return webpush.Device{}, ErrNoPush
	}
	d, err := s.opt.Devices.Find(ctx, id)
	if errors.Is(err, webpush.ErrNotFound) {
		err = fmt.Errorf("device %.20q: %w", id, ErrNotFound)
	}
	return d, err
}

// notifiers returns the triggers that notify devices and can be called.
func (s *Service) notifiers() []*component.Trigger {
	return slices.DeleteFunc(slices.Clone(s.opt.Components.Triggers()), func(t *component.Trigger) bool {
		return !t.Can(kind.CapDevices) || !t.Usable()
	})
}

// reachesPrivate reports whether a trigger of type webpush sends also into private networks.
func reachesPrivate(t *component.Trigger) bool {
	return t.View().Configuration["privatetarget"] == true
}

// device returns a device as users may see it.
func (s *Service) device(d webpush.Device) webpush.Device {
	d.Subscription, d.Error = webpush.Subscription{}, s.opt.Redact(d.Error)
	return d
}

// auditDevice records that a user turned the notifications of a device on or off.
func (s *Service) auditDevice(ctx context.Context, actor auth.Actor, d webpush.Device, from, to string) {
	changed := event.Setting{From: from, To: to, User: actor.User, Address: actor.ClientAddress()}
	s.log.Info("a user turns the notifications of a device "+to, "device", d.ID, "name", d.Name, "owner", d.User,
		"user", changed.User, "address", changed.Address)
	s.auditSetting(ctx, "notifications on "+d.Name, changed)
}
