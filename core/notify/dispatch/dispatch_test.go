package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// bubble runs a test of a Dispatcher, with time that passes by itself.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func TestDispatcherNotifiesEachUpdateOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		chat, room := simple(t, "ntfy.ops", batch)
		b := open(t, mail, chat)
		defer func() { b.stop() }()
		b.checked([]sdk.Container{minor("web"), moved("db")})
		settle(time.Second)
		equal(t, "mail", inbox.names(), []string{"web", "db"})
		equal(t, "chat", room.names(), []string{"web db"})
		if req := inbox.got[0]; req.Title != "New tag found for container web" || req.Batch || req.Test ||
			req.Delivery == "" || len(req.Containers) != 1 {
			t.Errorf("request %+v", req)
		}
		if req := room.got[0]; req.Title != "2 updates available" || !req.Batch {
			t.Errorf("request %+v", req)
		}
		// Found again, by the same and by another check: it was notified already.
		b.checked([]sdk.Container{minor("web")}, moved("db"))
		b.checked(nil, minor("web"), moved("db"))
		settle(time.Hour)
		equal(t, "mail later", inbox.names(), []string{"web", "db"})
		// Another update of the same container is sent.
		b.checked([]sdk.Container{withUpdate("web", "1.0.0", "1.2.0", "minor")})
		settle(time.Second)
		equal(t, "mail in the end", inbox.names(), []string{"web", "db", "web"})
		equal(t, "states", b.states("smtp.main"), []string{"local/web sent", "local/db sent", "local/web sent"})
	})
}

// TestRetryWithBackoff: a delivery that failed is due again by itself, its key is the same, and meanwhile others go on.
func TestRetryWithBackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		inbox.reply = func(_ context.Context, n int, req trigger.Request) error {
			if req.Containers[0].Name == "web" && n <= 4 {
				return errDown
			}
			return nil
		}
		b := open(t, mail)
		defer func() { b.stop() }()
		start := time.Now()
		b.checked([]sdk.Container{minor("web"), minor("db")})
		settle(time.Hour)
		equal(t, "mail", inbox.names(), []string{"web", "db", "web", "web", "web"})
		var at []time.Duration
		for i, when := range inbox.at {
			if inbox.got[i].Containers[0].Name == "web" {
				at = append(at, when.Sub(start).Round(time.Second))
				if inbox.got[i].Delivery != inbox.got[0].Delivery {
					t.Error("another try has another key")
				}
			}
		}
		equal(t, "tries", at, []time.Duration{0, 10 * time.Second, 40 * time.Second, 160 * time.Second})
		equal(t, "states", b.states("smtp.main"), []string{"local/web sent", "local/db sent"})
		equal(t, "events", b.deliveryEvents(), []string{"trigger.sent smtp.main", "trigger.sent smtp.main"})
	})
}

func TestDeliveryGivenUpAfterMaxAttempts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		inbox.reply = func(context.Context, int, trigger.Request) error { return errDown }
		b := open(t, mail)
		defer func() { b.stop() }()
		b.checked([]sdk.Container{minor("web")})
		settle(12 * time.Hour)
		if n := len(inbox.got); n != maxAttempts {
			t.Errorf("%d attempts", n)
		}
		d := b.deliveries("smtp.main")[0]
		if d.State != delivery.Failed || d.Error != "server is down" || d.Attempts != maxAttempts {
			t.Errorf("delivery %+v", d)
		}
		equal(t, "events", b.deliveryEvents(), []string{"trigger.failed smtp.main"})
		// A user retries it.
		inbox.respond(nil)
		if err := b.store.Retry(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
		settle(time.Second)
		equal(t, "states", b.states("smtp.main"), []string{"local/web sent"})
	})
}

// TestRateLimitPausesTrigger: it is not called before the limit ends, and what
// else is due for it does not use up its attempts against it.
func TestRateLimitPausesTrigger(t *testing.T) {
	bubble(t, func(t *testing.T) {
		chat, room := simple(t, "telegram.ops")
		var quota int
		window := time.Now()
		room.reply = func(context.Context, int, trigger.Request) error { // 5 a minute
			if time.Since(window) >= time.Minute {
				window, quota = time.Now(), 0
			}
			if quota++; quota > 5 {
				return sdk.RateLimited(time.Minute-time.Since(window), errors.New("too many requests"))
			}
			return nil
		}
		b := open(t, chat)
		defer func() { b.stop() }()
		var found []sdk.Container
		for i := range 60 {
			found = append(found, minor(fmt.Sprintf("c%02d", i)))
		}
		b.checked(found)
		settle(15 * time.Minute)
		for _, d := range b.deliveries("telegram.ops") {
			if d.State != delivery.Sent || d.Attempts > 3 {
				t.Errorf("%s is %s after %d attempts", d.Subject, d.State, d.Attempts)
			}
		}
		if n := len(room.got); n > 60+15 {
			t.Errorf("%d calls for 60 messages", n)
		}
	})
}

// TestWorkerPerTrigger: each trigger gets one call at a time, and a slow one holds up no other.
func TestWorkerPerTrigger(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow, there := simple(t, "command.slow")
		quick, here := simple(t, "smtp.main")
		underWay := 0
		there.reply = func(context.Context, int, trigger.Request) error {
			if underWay++; underWay > 1 {
				t.Error("two calls at once")
			}
			time.Sleep(time.Minute)
			underWay--
			return nil
		}
		b := open(t, slow, quick)
		defer func() { b.stop() }()
		b.checked([]sdk.Container{minor("a"), minor("b"), minor("c")})
		settle(time.Second)
		equal(t, "quick", here.names(), []string{"a", "b", "c"})
		equal(t, "slow", there.names(), []string{"a"})
		b.checked([]sdk.Container{minor("d")}) // while a worker is at it
		settle(5 * time.Minute)
		equal(t, "quick", here.names(), []string{"a", "b", "c", "d"})
		equal(t, "slow", there.names(), []string{"a", "b", "c", "d"})
	})
}

func TestDeliverySkippedWhenUpdateChanged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		chat, room := simple(t, "ntfy.ops", batch)
		down := func(context.Context, int, trigger.Request) error { return errDown }
		inbox.reply, room.reply = down, down
		b := open(t, mail, chat)
		defer func() { b.stop() }()
		b.checked([]sdk.Container{minor("moved-on"), minor("updated"), minor("gone"), minor("renamed"), minor("recreated")})
		settle(time.Second)
		for _, s := range []*sink{inbox, room} {
			s.respond(nil)
			s.forget()
		}
		newer, updated, renamed, recreated := withUpdate("moved-on", "1.0.0", "1.2.0", "minor"), minor("updated"),
			minor("renamed"), minor("recreated")
		updated.UpdateAvailable = false
		renamed.Name = "with-another-name"
		recreated.ID = "another-id"
		if err := b.store.Commit(t.Context(), event.Change{Remove: []string{"id-gone"}}); err != nil {
			t.Fatal(err)
		}
		b.checked([]sdk.Container{newer}, updated, renamed, recreated)
		settle(time.Hour)
		got := inbox.names()
		slices.Sort(got)
		equal(t, "mail", got, []string{"moved-on", "recreated", "with-another-name"})
		for _, req := range inbox.got {
			if c := req.Containers[0]; c.Name == "moved-on" && c.Result.Tag != "1.2.0" {
				t.Errorf("sent the old offer %+v", c.Result)
			}
		}
		equal(t, "states", b.states("smtp.main"), []string{
			"local/moved-on skipped", "local/updated skipped", "local/gone skipped", "local/renamed sent",
			"local/recreated sent", "local/moved-on sent",
		})
		equal(t, "batches", room.names(), []string{"moved-on", "with-another-name recreated"})
		if n := strings.Count(strings.Join(b.deliveryEvents(), " "), "trigger.skipped"); n != 3 {
			t.Errorf("%d skipped", n)
		}
		// What was skipped is pending again when it is offered again.
		b.checked([]sdk.Container{minor("gone")})
		settle(time.Second)
		if got := inbox.names(); got[len(got)-1] != "gone" {
			t.Errorf("mail %q", got)
		}
	})
}

// TestReminderAtEachCheckWithoutOnce: without "once" every check notifies again; what waited is sent once.
func TestReminderAtEachCheckWithoutOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main", always)
		chat, room := simple(t, "ntfy.ops", always, batch)
		b := open(t, mail, chat)
		defer func() { b.stop() }()
		b.checked([]sdk.Container{minor("web")})
		settle(time.Minute)
		b.checked(nil, minor("web"))
		settle(time.Minute)
		equal(t, "mail", inbox.names(), []string{"web", "web"})
		equal(t, "chat", room.names(), []string{"web", "web"})
		inbox.respond(func(context.Context, int, trigger.Request) error { return errDown })
		for range 5 {
			b.checked(nil, minor("web"))
			settle(10 * time.Minute)
		}
		inbox.forget()
		inbox.respond(nil)
		settle(3 * time.Hour)
		equal(t, "mail after the server came back", inbox.names(), []string{"web"})
	})
}

// TestBatchIncludesRecreatedContainers lists what the check found when it began, too, though
// the containers were recreated before its end was read.
func TestBatchIncludesRecreatedContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chat, room := simple(t, "ntfy.ops", batch)
		b := open(t, chat)
		first, last := minor("first"), minor("last")
		found := func(c sdk.Container) event.Event {
			return event.Event{
				Type: event.UpdateFound, Subject: event.Subject(c), Run: "run", Payload: event.Payload{Container: &c},
			}
		}
		b.commit([]sdk.Container{first}, found(first))
		settle(time.Second)
		b.commit([]sdk.Container{last}, found(last))
		settle(time.Second)
		equal(t, "batches before the end", room.names(), nil)
		b.stop()
		ended := event.Event{Type: event.CheckFinished, Subject: "local", Run: "run", Payload: event.Payload{
			Check: &event.Check{Watcher: "local", Found: []string{first.ID, last.ID}, Updates: []string{first.ID, last.ID}},
		}}
		opened, err := store.Open(context.Background(), b.path, store.Options{Log: hclog.NewNullLogger()})
		if err != nil {
			t.Fatal(err)
		}
		first.ID = "recreated"
		if err := opened.Commit(context.Background(), event.Change{
			Put: []sdk.Container{first}, Events: []event.Event{ended},
		}); err != nil {
			t.Fatal(err)
		}
		if err := opened.Close(); err != nil {
			t.Fatal(err)
		}
		b.start(nil)
		settle(time.Second)
		equal(t, "batches", room.names(), []string{"first last"})
		b.stop()
	})
}

// TestBatchLargerThanAPage: a batch is whole, however the log is read.
func TestBatchLargerThanAPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		chat, room := simple(t, "ntfy.ops", batch)
		b := open(t, chat)
		b.stop()
		b.start(func(Store) Store { return killedAfter(0, nil) })
		settle(time.Second)
		var found []sdk.Container
		for i := range 2*backfillPage + 50 {
			found = append(found, minor(fmt.Sprintf("c%03d", i)))
		}
		b.checked(found)
		for i := range found { // recreated before the dispatcher sees what was found
			found[i].ID = fmt.Sprintf("another-%03d", i)
		}
		b.commit(found)
		b.stop()
		b.start(nil)
		settle(time.Second)
		if len(room.got) != 1 || len(room.got[0].Containers) != len(found) {
			t.Errorf("%d batches: %q", len(room.got), room.names())
		}
		b.stop()
	})
}

// TestIdleDispatcherClaimsNothing: without anything due, nothing is claimed and the store is left alone.
func TestIdleDispatcherClaimsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, _ := simple(t, "smtp.main")
		b := open(t, mail)
		b.stop()
		var counted *killable
		b.start(func(s Store) Store { counted = killedAfter(1<<30, s); return counted })
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		before := counted.claims.Load()
		if before > 3 {
			t.Errorf("%d claims for one delivery", before)
		}
		settle(3 * time.Hour)
		if n := counted.claims.Load() - before; n != 0 {
			t.Errorf("%d claims while nothing was due", n)
		}
		b.stop()
	})
}

// TestMessageSentWhenTemplateFails.
func TestMessageSentWhenTemplateFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main")
		mail.Messages = messages(t, "${nosuch}update of ${container.name}", "", "")
		b := open(t, mail)
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		if len(inbox.got) != 1 || inbox.got[0].Title != "update of web" {
			t.Errorf("requests %+v", inbox.got)
		}
		b.stop()
	})
}
