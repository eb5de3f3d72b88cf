package dispatch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// TestBackoffAfterPluginExit: a call during which the plugin exits is
// repeated soon at first, and then as rarely as any other that fails.
func TestBackoffAfterPluginExit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		inbox.reply = func(context.Context, int, trigger.Request) error { return errExited }
		b := open(t, mail)
		b.checked([]sdk.Container{minor("web")})
		settle(24 * time.Hour)
		equal(t, "pauses", pauses(inbox.at), []time.Duration{
			1500 * time.Millisecond, 5 * time.Second, 20 * time.Second, 10 * time.Minute, time.Hour, 3 * time.Hour,
			6 * time.Hour,
		})
		equal(t, "states", b.states("smtp.main"), []string{"local/web failed"})
		b.stop()
	})
}

// pauses returns the times between calls; the store keeps milliseconds.
func pauses(calls []time.Time) (list []time.Duration) {
	for i := 1; i < len(calls); i++ {
		list = append(list, calls[i].Sub(calls[i-1]).Round(10*time.Millisecond))
	}
	return list
}

// killedInCall starts a host that is killed during its first call, which it makes within wait.
func killedInCall(b *bench, inbox *sink, wait time.Duration) {
	b.t.Helper()
	var dying *killable
	inbox.respond(func(context.Context, int, trigger.Request) error { // before it starts, as it may send at once
		dying.kill()
		return errKilled
	})
	b.start(func(s Store) Store {
		dying = killedAfter(1<<30, s)
		dying.lossy = true
		return dying
	})
	settle(wait)
	b.stop()
}

// TestRecoverBacksOff: a message that was under way when the host was killed is not
// sent at once by the next host, which may be killed as soon.
func TestRecoverBacksOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		b := open(t, mail)
		b.stop()
		b.start(func(Store) Store { return killedAfter(0, nil) })
		b.checked([]sdk.Container{minor("web")})
		b.stop()
		killedInCall(b, inbox, time.Second)
		equal(t, "mail of the first host", inbox.names(), []string{"web"})
		killedInCall(b, inbox, time.Second)
		equal(t, "mail of a host that runs for a second", inbox.names(), []string{"web"})
		inbox.respond(nil)
		b.start(nil)
		settle(2 * time.Second)
		equal(t, "mail", inbox.names(), []string{"web", "web"})
		if first, second := inbox.got[0].Delivery, inbox.got[1].Delivery; first != second {
			t.Errorf("idempotency keys %s and %s of one message", first, second)
		}
		b.stop()
	})
}

// TestRecoverGivesUpAfterMaxAttempts is given up after as many attempts as any other.
func TestRecoverGivesUpAfterMaxAttempts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		b := open(t, mail)
		b.stop()
		b.start(func(Store) Store { return killedAfter(0, nil) })
		b.checked([]sdk.Container{minor("web")})
		b.stop()
		for range maxAttempts + 3 {
			killedInCall(b, inbox, 7*time.Hour)
		}
		if len(inbox.got) != maxAttempts {
			t.Errorf("sent %d times", len(inbox.got))
		}
		inbox.respond(nil)
		b.start(nil)
		settle(time.Minute)
		d := b.deliveries("smtp.main")[0]
		if want := fmt.Sprintf("the last of %d attempts", maxAttempts); d.State != delivery.Failed ||
			!strings.Contains(d.Error, want) {
			t.Errorf("%s: %s", d.State, d.Error)
		}
		equal(t, "events", b.deliveryEvents(), []string{"trigger.failed smtp.main"})
		b.stop()
	})
}

// TestIdempotencyKeyIsUnique: it is the same for all attempts of one delivery, and for no other.
func TestIdempotencyKeyIsUnique(t *testing.T) {
	d := delivery.Delivery{
		ID: 1, Trigger: "smtp.main", Subject: "local/web", Fingerprint: "f", Event: 7, CreatedAt: time.UnixMilli(1_000_000),
		State: delivery.Sending, Attempts: 1,
	}
	again := d
	again.Attempts, again.State, again.Error, again.NextAt, again.UpdatedAt = 2, delivery.Pending, "x",
		time.UnixMilli(2), time.UnixMilli(3)
	if a, b := idempotencyKey(d), idempotencyKey(again); a != b {
		t.Errorf("a second attempt has %s instead of %s", b, a)
	}
	seen := map[string]string{idempotencyKey(d): "the delivery"}
	for about, change := range map[string]func(*delivery.Delivery){
		"another id":                    func(d *delivery.Delivery) { d.ID = 2 },
		"another trigger":               func(d *delivery.Delivery) { d.Trigger = "smtp.b" },
		"planned again":                 func(d *delivery.Delivery) { d.Event = 8 },
		"in a new store, or in another": func(d *delivery.Delivery) { d.CreatedAt = time.UnixMilli(1_000_001) },
	} {
		other := d
		change(&other)
		key := idempotencyKey(other)
		if taken := seen[key]; taken != "" || len(key) > 64 {
			t.Errorf("%s has the key %s of %s", about, key, taken)
		}
		seen[key] = about
	}
}

func withResult(c sdk.Container, r sdk.Result) sdk.Container {
	c.Result = &r
	return c
}

// TestFingerprintStaysAsStored: fingerprints are stored. Another value after an
// upgrade would send every message again that a user had before it.
func TestFingerprintStaysAsStored(t *testing.T) {
	for about, c := range map[string]struct {
		got, want string
	}{
		"a tag":    {fingerprint(minor("web")), "a51d5ce38693c27a5fed266f2b4e39b1"},
		"a digest": {fingerprint(moved("web")), "d4988a815ec8fe3503f67b0a2eb4adc7"},
		"a tag of which the digest is known": {fingerprint(withResult(minor("web"), sdk.Result{
			Tag: "1.1.0", Digest: "sha256:new",
		})), "70a3c127d9953a5e83161aebcd0f0ba7"},
		"a digest behind an unknown tag": {fingerprint(withResult(moved("web"), sdk.Result{Digest: "sha256:new"})),
			"2d71470fcede5fcd64ac14dd29f67fce"},
		"no result": {fingerprint(sdk.Container{
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1", RemoteValue: "2"},
		}), "1e33d150b24411d92909f0b55162a1a3"},
	} {
		if c.got != c.want {
			t.Errorf("%s has %s, and had %s", about, c.got, c.want)
		}
	}
	check := []sdk.Container{minor("b"), moved("a")}
	e := finished(9, "run1", event.Check{})
	for about, c := range map[string]struct {
		trigger Trigger
		want    string
	}{
		"a batch":          {Trigger{ID: "smtp.main", Batch: true, Once: true}, "09952a2372a864eee08991c7b8228dc1"},
		"a batch each run": {Trigger{ID: "smtp.main", Batch: true}, "b8d5445645518016546904f485e93486"},
	} {
		if got := batchFingerprint(c.trigger, e, check); got != c.want {
			t.Errorf("%s has %s, and had %s", about, got, c.want)
		}
	}
}
