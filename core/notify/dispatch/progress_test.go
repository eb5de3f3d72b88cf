package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// watched are runs whose log and changes a test sees.
type watched struct {
	runs
	log     strings.Builder
	changes int
}

func watchRuns() *watched {
	w := &watched{}
	w.runs = runs{
		log:     hclog.New(&hclog.LoggerOptions{Output: &w.log, Level: hclog.Debug, DisableTime: true}),
		running: map[int64]*run{},
		redact:  func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
		changed: func() { w.changes++ },
	}
	return w
}

func (w *watched) lines() []string { return strings.Split(strings.TrimSpace(w.log.String()), "\n") }

// TestProgressIsCoalesced: of many steps those of each half second are one, and the last one is always shown.
func TestProgressIsCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchRuns()
		r := w.begin(delivered(7, "docker.local"))
		for i := range 1000 { // for ten seconds
			r.report(trigger.Progress{Phase: "pull", Current: int64(i + 1), Total: 1000})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if lines := w.lines(); len(lines) != 21 || w.changes != 21 ||
			!strings.Contains(lines[20], "current=1000 total=1000") {
			t.Errorf("%d lines and %d changes: %q", len(lines), w.changes, lines)
		}
		if text := w.log.String(); strings.Count(text, "[INFO]") != 1 || !strings.HasPrefix(text, "[INFO]") {
			t.Errorf("one phase is logged as %s", text)
		}
		before := w.changes
		time.Sleep(time.Hour)
		if w.changes != before {
			t.Error("progress goes on without a report")
		}
		r.report(trigger.Progress{Phase: "start"})
		r.report(trigger.Progress{Phase: "wait"})
		r.end()
		if text := w.log.String(); strings.Count(text, "[INFO]") != 3 || !strings.Contains(text, "phase=wait") {
			t.Errorf("the last step before the end is not in the log: %s", text)
		}
		ended := w.changes
		r.report(trigger.Progress{Phase: "late"})
		time.Sleep(time.Minute)
		synctest.Wait()
		if w.changes != ended || len(w.running) != 0 {
			t.Error("a step after the end counts")
		}
	})
}

func TestProgressIsRedactedAndBounded(t *testing.T) {
	w := watchRuns()
	r := w.begin(delivered(7, "docker.local"))
	defer r.end()
	r.report(trigger.Progress{
		Phase: strings.Repeat("é", 1000), Message: "password hunter2 " + strings.Repeat("x", 10_000),
	})
	got := r.latest
	if len([]rune(got.Phase)) != maxPhase || len([]rune(got.Message)) != maxMessage ||
		strings.Contains(got.Message, "hunter2") || strings.Contains(w.log.String(), "hunter2") {
		t.Errorf("%+v", got)
	}
}

// TestProgressOfDeliveries under way, planned and manual ones, as clients get it.
func TestProgressOfDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		act, engine := simple(t, "docker.local", action)
		engine.reply = func(ctx context.Context, n int, req trigger.Request) error {
			if n == 2 { // which reports nothing
				time.Sleep(time.Minute)
				return nil
			}
			req.Report(trigger.Progress{ContainerID: "id-web", Phase: "pull", Message: "layer 3", Current: 3, Total: 10})
			time.Sleep(time.Minute)
			return nil
		}
		b := open(t, act)
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		var manual sync.WaitGroup
		for _, name := range []string{"silent", "db"} {
			manual.Go(func() {
				if err := b.RunNow(context.Background(), "docker.local", []sdk.Container{minor(name)}, ManualRun{}); err != nil {
					t.Error(err)
				}
			})
			settle(time.Second)
		}
		text, err := json.Marshal(b.DeliveryProgress())
		if err != nil {
			t.Fatal(err)
		}
		step := `{"delivery":%d,"trigger":"docker.local",%s"subject":"local/%s","container":"id-web","phase":"pull","message":"layer 3","current":3,"total":10}`
		if want := "[" + fmt.Sprintf(step, 1, "", "web") + "," + fmt.Sprintf(step, 3, `"manual":true,`, "db") +
			"]"; string(text) != want {
			t.Errorf("got %s\nwant %s", text, want)
		}
		manual.Wait()
		settle(time.Minute)
		if left := b.DeliveryProgress(); len(left) > 0 || left == nil {
			t.Errorf("progress in the end is %#v", left)
		}
		b.stop()
	})
}

// delivered is a delivery that is under way.
func delivered(id int64, triggerID string) delivery.Delivery {
	return delivery.Delivery{ID: id, Trigger: triggerID, Subject: "local/web"}
}
