package webpush

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxConcurrent is how many devices are notified at a time.
const maxConcurrent = 8

// errNone is the error of a message that nobody gets.
var errNone = sdk.WithRemedy(errors.New("no device is subscribed"),
	"open Settings, Notifications on a phone or computer, and turn them on there")

// Notifier notifies every device by a trigger that notifies one. It implements trigger.Trigger.
type Notifier struct {
	devices *Devices
	one     trigger.Trigger
}

// Notifier returns what notifies every device by a trigger of type webpush.
func (d *Devices) Notifier(one trigger.Trigger) Notifier { return Notifier{d, one} }

// Run notifies those devices that do not have the message of this delivery yet. The error names each device that could
// not be notified; it is an sdk.ErrUnavailable if trying again may help any of them. Devices of which a push service
// says that they are gone are removed.
func (n Notifier) Run(ctx context.Context, req trigger.Request) error {
	all, err := n.devices.All(ctx)
	if err != nil {
		return sdk.WithKind(sdk.ErrUnavailable, err)
	}
	have, err := n.devices.opt.Store.WebPushSent(ctx, req.Delivery)
	if err != nil {
		return sdk.WithKind(sdk.ErrUnavailable, err)
	}
	results := make([]error, len(all))
	var wait sync.WaitGroup
	turns := make(chan struct{}, maxConcurrent)
	for i, device := range all {
		if slices.Contains(have, device.ID) {
			continue
		}
		turns <- struct{}{}
		wait.Go(func() {
			defer func() { <-turns }()
			results[i] = n.notify(ctx, device, req)
		})
	}
	wait.Wait()
	return summed(all, results)
}

// Test sends a sample message to one device by a trigger that notifies one. It is an ErrNotFound if there is no
// device with this ID.
func (d *Devices) Test(ctx context.Context, id string, one trigger.Trigger) error {
	device, err := d.Find(ctx, id)
	if err != nil {
		return err
	}
	return d.Notifier(one).notify(ctx, device, trigger.Request{
		Delivery: "test-" + rand.Text(), Title: "Dogwatch", Body: "Notifications work on this device.", Test: true,
	})
}

// errGone is the error of a device that was removed.
var errGone = errors.New("its browser has ended the subscription; it is removed")

// notify notifies a device and stores the outcome.
func (n Notifier) notify(ctx context.Context, device Device, req trigger.Request) error {
	d := n.devices
	if err := d.waiting(device.ID); err != nil {
		return err
	}
	req.Device = d.target(device)
	err := n.one.Run(ctx, req)
	d.wait(device.ID, err)
	stored := context.WithoutCancel(ctx) // the outcome is known here only
	var failed error
	switch {
	case err == nil:
		failed = d.opt.Store.RecordWebPush(stored, device.ID, req.Delivery, d.opt.Now())
	case errors.Is(err, sdk.ErrNotFound):
		if failed = d.Remove(stored, device.ID); errors.Is(failed, ErrNotFound) {
			failed = nil // by a user, meanwhile
		}
		d.log.Info("a device is removed, as its push service says that the subscription has ended", "device", device.ID,
			"name", device.Name, "user", device.User)
		err = errGone
	case ctx.Err() == nil:
		text := err.Error()
		failed = d.opt.Store.RecordWebPushError(stored, device.ID, strings.ToValidUTF8(text[:min(len(text), maxError)], ""))
	}
	if failed != nil {
		d.log.Error("record what became of a message to a device", "device", device.ID, "error", failed)
	}
	return err
}

// maxWait bounds the wait that a push service can ask for.
const maxWait = 24 * time.Hour

// wait notes how long the push service of a device asks to wait.
func (d *Devices) wait(id string, err error) {
	var limited *sdk.RateLimitedError
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waits, id)
	if errors.As(err, &limited) && limited.After > 0 {
		d.waits[id] = d.opt.Now().Add(min(limited.After, maxWait))
	}
}

// waiting returns an sdk.ErrUnavailable while the push service of a device asks to wait.
func (d *Devices) waiting(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	until := d.waits[id]
	if !d.opt.Now().Before(until) {
		return nil
	}
	return sdk.WithKind(sdk.ErrUnavailable,
		fmt.Errorf("its push service asked to wait until %s", until.UTC().Format(time.RFC3339)))
}

// summed returns what follows for a delivery from the results of its devices.
func summed(all []Device, results []error) error {
	var texts []string
	left, retryable := 0, false
	for i, err := range results {
		if !errors.Is(err, errGone) {
			left++
		}
		if err == nil || errors.Is(err, errGone) {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s of %s: %v", all[i].Name, all[i].User, err))
		retryable = retryable || sdk.Retryable(err)
	}
	switch {
	case left == 0:
		return errNone
	case len(texts) == 0:
		return nil
	}
	// The push service of one device that limits the rate does not hold up the messages to others, so its
	// sdk.RateLimitedError, which would, goes no further.
	err := errors.New(strings.Join(texts, "; "))
	if retryable {
		return sdk.WithKind(sdk.ErrUnavailable, err)
	}
	return err
}
