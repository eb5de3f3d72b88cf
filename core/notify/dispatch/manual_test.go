package dispatch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func TestRunNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main", func(tr *Trigger) {
			tr.Auto, tr.Threshold, tr.IncludeByDefault, tr.Batch = false, "patch", false, true
		})
		b := open(t, mail)
		made := sdk.Container{
			ID: "123456789", Name: "container_test",
			UpdateKind: sdk.UpdateKind{Kind: "tag", LocalValue: "1.2.3", RemoteValue: "4.5.6", SemverDiff: "major"},
		}
		for range 2 { // runs are not deduplicated
			if err := b.RunNow(t.Context(), "smtp.main", []sdk.Container{made}, ManualRun{Test: true}); err != nil {
				t.Fatal(err)
			}
		}
		req := inbox.got[1]
		if len(inbox.got) != 2 || !req.Test || req.Batch || req.Title != "New tag found for container container_test" ||
			!strings.HasPrefix(req.Delivery, "manual-") ||
			req.Body != "Container container_test running with tag 1.2.3 can be updated to tag 4.5.6" {
			t.Errorf("request %+v", req)
		}
		if err := b.RunNow(t.Context(), "smtp.none", []sdk.Container{made}, ManualRun{Test: true}); !errors.Is(err,
			sdk.ErrNotFound) {
			t.Errorf("error %v", err)
		}
		inbox.respond(func(context.Context, int, trigger.Request) error { return errDown })
		if err := b.RunNow(t.Context(), "smtp.main", []sdk.Container{made}, ManualRun{}); !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		equal(t, "events", b.deliveryEvents(),
			[]string{"trigger.sent smtp.main", "trigger.sent smtp.main", "trigger.failed smtp.main"})
		equal(t, "states", b.states("smtp.main"),
			[]string{"/container_test sent", "/container_test sent", "/container_test failed"})
		if a, c := inbox.got[0].Delivery, inbox.got[1].Delivery; a == c {
			t.Errorf("two runs have the idempotency key %s", a)
		}
		b.stop()
		if err := b.RunNow(t.Context(), "smtp.main", []sdk.Container{made}, ManualRun{Test: true}); !errors.Is(err,
			sdk.ErrUnavailable) {
			t.Errorf("after the stop: %v", err)
		}
	})
}

// TestRunNowRecordsBeforeTheCall: a run that a crash interrupts is in the history
// of the next start, failed, and is repeated only when its user retries it.
func TestRunNowRecordsBeforeTheCall(t *testing.T) {
	for _, change := range []func(*Trigger){action, func(*Trigger) {}, func(t *Trigger) { t.Once = false }} {
		bubble(t, func(t *testing.T) {
			act, engine := simple(t, "docker.local", change)
			b := open(t, act)
			b.checked(nil, minor("web"))
			settle(time.Second)
			b.stop()
			var process *killable
			b.start(func(s Store) Store { process = killedAfter(1<<30, s); process.lossy = true; return process })
			engine.forget()
			engine.respond(func(context.Context, int, trigger.Request) error {
				equal(t, "states during the call", b.states("docker.local")[len(b.states("docker.local"))-1:],
					[]string{"local/web sending"})
				process.kill()
				return errKilled
			})
			if err := b.RunNow(t.Context(), "docker.local", []sdk.Container{minor("web")}, ManualRun{}); !errors.Is(err,
				errKilled) {
				t.Errorf("error %v", err)
			}
			b.stop()
			engine.respond(nil)
			b.start(nil)
			settle(time.Hour)
			all := b.deliveries("docker.local")
			run := all[len(all)-1]
			if len(engine.got) != 1 || run.State != delivery.Failed || !run.Manual ||
				!strings.HasPrefix(run.Error, "outcome unknown: dogwatch stopped during the run") {
				t.Errorf("%d calls, %+v", len(engine.got), run)
			}
			if got := b.deliveryEvents(); got[len(got)-1] != "trigger.failed docker.local" {
				t.Errorf("events %v", got)
			}
			if err := b.store.Retry(t.Context(), run.ID); err != nil {
				t.Fatal(err)
			}
			settle(time.Second)
			if len(engine.got) != 2 || engine.got[0].Delivery != engine.got[1].Delivery {
				t.Errorf("%d calls after a retry", len(engine.got))
			}
			b.stop()
		})
	}
}

// TestRunNowWithoutARecord: what cannot be recorded is not run.
func TestRunNowWithoutARecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		act, engine := simple(t, "docker.local", action)
		b := open(t, act)
		b.stop()
		var full *killable
		b.start(func(s Store) Store { full = killedAfter(1<<30, s); return full })
		settle(time.Second) // it has recovered
		full.refuse.Store(true)
		if err := b.RunNow(t.Context(), "docker.local", []sdk.Container{minor("web")}, ManualRun{}); err == nil ||
			len(engine.got) > 0 {
			t.Errorf("%d calls, error %v", len(engine.got), err)
		}
		b.stop()
	})
}

// dockerAttacher gives each trigger an engine of its own name.
type dockerAttacher struct{}

func (dockerAttacher) Attach(_ context.Context, id string, req *trigger.Request) {
	req.Engines = map[string]trigger.Engine{id: {Type: "docker"}}
}

// TestRunNowContinuesWhenCallerLeaves: half an update is worse than one without a caller.
func TestRunNowContinuesWhenCallerLeaves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		act, engine := simple(t, "docker.local", action)
		engine.reply = func(ctx context.Context, _ int, _ trigger.Request) error {
			select {
			case <-time.After(5 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		b := open(t, act)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.RunNow(ctx, "docker.local", []sdk.Container{minor("web")}, ManualRun{}); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		began := time.Now()
		b.stop() // waits for it
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("stopping took %s", took)
		}
		b.start(nil)
		equal(t, "events", b.deliveryEvents(), []string{"trigger.sent docker.local"})
		b.stop()
	})
}

// TestRunNowCancelledAtShutdown: when Dogwatch stops, a call by hand is cancelled like any other.
func TestRunNowCancelledAtShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		act, engine := simple(t, "docker.local", action)
		engine.reply = func(ctx context.Context, _ int, _ trigger.Request) error {
			<-ctx.Done()
			return ctx.Err()
		}
		b := open(t, act)
		ended := make(chan error, 1)
		go func() {
			ended <- b.RunNow(context.Background(), "docker.local", []sdk.Container{minor("web")}, ManualRun{})
		}()
		settle(time.Second)
		began := time.Now()
		b.stop()
		if took := time.Since(began); took != drainTime {
			t.Errorf("stopping took %s", took)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// TestEnginesAreAttached to every request, of a delivery and of a manual run.
func TestEnginesAreAttached(t *testing.T) {
	bubble(t, func(t *testing.T) {
		act, engine := simple(t, "docker.local", action)
		b := open(t, act)
		b.deliverer.sender.opt.Attacher = dockerAttacher{}
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		if err := b.RunNow(t.Context(), "docker.local", []sdk.Container{minor("web")}, ManualRun{}); err != nil {
			t.Error(err)
		}
		for _, req := range engine.got {
			if req.Engines["docker.local"].Type != "docker" {
				t.Errorf("request %+v", req)
			}
		}
		if len(engine.got) != 2 {
			t.Errorf("%d requests", len(engine.got))
		}
		b.stop()
	})
}
