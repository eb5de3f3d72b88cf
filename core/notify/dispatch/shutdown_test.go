package dispatch

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func TestRestartRepeatsNoDelivery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		b := open(t, mail)
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		b.stop()
		for range 3 {
			b.start(nil)
			settle(time.Minute)
			b.stop()
		}
		equal(t, "mail", inbox.names(), []string{"web"})
	})
}

// TestUpdatesFoundWhileStoppedAreDelivered is delivered at the next start.
func TestUpdatesFoundWhileStoppedAreDelivered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		b := open(t, mail)
		settle(time.Second)
		b.stop()
		b.start(func(Store) Store { return killedAfter(0, nil) }) // killed before it plans
		b.checked([]sdk.Container{minor("web")})
		settle(time.Minute)
		equal(t, "mail", inbox.names(), nil)
		b.stop()
		b.start(nil)
		settle(time.Second)
		equal(t, "mail", inbox.names(), []string{"web"})
		b.stop()
	})
}

// TestGracefulShutdownWaitsForCalls: on stop a call under way may end; what is not begun stays pending.
func TestGracefulShutdownWaitsForCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		inbox.reply = func(context.Context, int, trigger.Request) error {
			time.Sleep(5 * time.Second)
			return nil
		}
		b := open(t, mail)
		b.checked([]sdk.Container{minor("a"), minor("b")})
		settle(time.Second)
		began := time.Now()
		b.stop()
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("stopping took %s", took)
		}
		equal(t, "mail", inbox.names(), []string{"a"})
		b.start(nil)
		settle(10 * time.Second)
		equal(t, "mail", inbox.names(), []string{"a", "b"})
		equal(t, "states", b.states("smtp.main"), []string{"local/a sent", "local/b sent"})
		b.stop()
	})
}

// TestGracefulShutdownTimeout: a call that does not end is cancelled; a message is sent
// again at the next start, an action is not.
func TestGracefulShutdownTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hangs := func(ctx context.Context, n int, _ trigger.Request) error {
			if n > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		mail, inbox := simple(t, "smtp.main")
		act, engine := simple(t, "docker.local", action)
		inbox.reply, engine.reply = hangs, hangs
		b := open(t, mail, act)
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		began := time.Now()
		b.stop()
		if took := time.Since(began); took != drainTime {
			t.Errorf("stopping took %s", took)
		}
		b.start(nil)
		settle(time.Second)
		equal(t, "mail", inbox.names(), []string{"web", "web"})
		equal(t, "actions", engine.names(), []string{"web"})
		if d := b.deliveries("docker.local")[0]; d.State != delivery.Failed ||
			!strings.HasPrefix(d.Error, "outcome unknown, not repeated: ") {
			t.Errorf("action %+v", d)
		}
		b.stop()
	})
}

// TestRecoverInterruptedDeliveries: what a killed process left half done.
func TestRecoverInterruptedDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		act, engine := simple(t, "docker.local", action)
		removed, gone := simple(t, "http.removed")
		b := open(t, mail, act, removed)
		hangs := func(context.Context, int, trigger.Request) error { time.Sleep(time.Minute); return nil }
		inbox.reply, engine.reply, gone.reply = hangs, hangs, hangs
		b.stop()
		b.start(func(s Store) Store {
			m := killedAfter(1000, s)
			m.lossy = true
			return m
		})
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second) // the three calls are under way
		b.opt.Store.(*killable).kill()
		b.stop()
		inbox.respond(nil)
		engine.respond(nil)
		b.triggers = []Trigger{mail, act}
		b.start(nil)
		settle(time.Minute)
		equal(t, "mail", inbox.names(), []string{"web", "web"})
		equal(t, "actions", engine.names(), []string{"web"})
		for id, want := range map[string]string{
			"smtp.main":    "sent ",
			"docker.local": "failed outcome unknown: dogwatch stopped during the call, which may not be repeated",
			"http.removed": "failed outcome unknown: dogwatch stopped during the call, and the trigger cannot be used now",
		} {
			if d := b.deliveries(id)[0]; d.State+" "+d.Error != want {
				t.Errorf("%s is %s %s", id, d.State, d.Error)
			}
		}
		b.stop()
	})
}

// TestOutcomeRecordedWhenStoreRecovers, as when the disk is full: the outcome is recorded
// once there is room, and nothing is sent twice.
func TestOutcomeRecordedWhenStoreRecovers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		b := open(t, mail)
		b.stop()
		var full *killable
		b.start(func(s Store) Store { full = killedAfter(1<<30, s); return full })
		inbox.respond(func(context.Context, int, trigger.Request) error { // while the call is under way
			full.refuse.Store(true)
			return nil
		})
		b.checked([]sdk.Container{minor("web"), minor("db")})
		settle(time.Hour)
		equal(t, "mail while full", inbox.names(), []string{"web"})
		inbox.respond(nil)
		full.refuse.Store(false)
		settle(time.Minute)
		equal(t, "mail", inbox.names(), []string{"web", "db"})
		equal(t, "states", b.states("smtp.main"), []string{"local/web sent", "local/db sent"})
		b.stop()
	})
}
