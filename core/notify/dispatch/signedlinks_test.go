package dispatch

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// fakeLinks make links that count.
type fakeLinks struct{ made atomic.Int32 }

func (f *fakeLinks) For(triggerID string, c *sdk.Container) []trigger.Action {
	if !c.UpdateAvailable {
		return nil
	}
	n := f.made.Add(1)
	var all []trigger.Action
	for _, kind := range []string{trigger.ActionApprove, trigger.ActionSkip, trigger.ActionSnooze} {
		all = append(all, trigger.Action{
			ContainerID: c.ID, Kind: kind, Label: kind,
			URL: fmt.Sprintf("https://h/decide/SECRET-%s-%s-%s-%d", triggerID, c.Name, kind, n),
		})
	}
	return all
}

func (f *fakeLinks) Sample(c *sdk.Container) []trigger.Action {
	return []trigger.Action{{
		ContainerID: c.ID, Kind: trigger.ActionApprove, Label: "Approve", URL: "https://h/decide/sample",
	}}
}

func TestMessagesCarryLinks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		withUrls := messages(t, "${name}", "${name}: ${approveUrl} ${skipUrl} ${snoozeUrl}", "")
		one, phone := simple(t, "ntfy.main", func(t *Trigger) { t.Messages = withUrls })
		all, inbox := simple(t, "smtp.main", func(t *Trigger) { t.Messages, t.Batch = withUrls, true })
		acts, engine := simple(t, "docker.local", func(t *Trigger) { t.Operates = true })
		b := open(t, one, all, acts)
		b.stop()
		b.links = &fakeLinks{}
		b.start(nil)
		b.checked([]sdk.Container{minor("web"), minor("db")})
		settle(time.Second)
		got := phone.got[0]
		if len(got.Actions) != 3 || got.Body != "web: "+got.Actions[0].URL+" "+got.Actions[1].URL+" "+got.Actions[2].URL {
			t.Errorf("body %q, actions %v", got.Body, got.Actions)
		}
		batched := inbox.got[0]
		if len(batched.Actions) != 6 || len(batched.ActionsOf("id-db")) != 3 ||
			strings.Count(batched.Body, "https://h/decide/") != 6 ||
			!strings.Contains(batched.Body, "db: "+batched.ActionsOf("id-db")[0].URL) {
			t.Errorf("batch: body %q, actions %v", batched.Body, batched.Actions)
		}
		if len(engine.got) == 0 || len(engine.got[0].Actions) > 0 {
			t.Errorf("a trigger that acts has links: %v", engine.got)
		}
		b.stop()
	})
}

// Links are for those who get the message: neither what is stored of a delivery nor
// the error of a service that repeats the message has one.
func TestLinksAreNotStored(t *testing.T) {
	bubble(t, func(t *testing.T) {
		text := messages(t, "", "${approveUrl}", "")
		one, phone := simple(t, "ntfy.main", func(t *Trigger) { t.Messages = text })
		phone.respond(func(_ context.Context, _ int, req trigger.Request) error {
			return fmt.Errorf("400 bad request: %s", req.Body)
		})
		b := open(t, one)
		b.stop()
		b.links, b.redact = &fakeLinks{}, func(text string) string { return strings.ReplaceAll(text, "SECRET", "***") }
		b.start(nil)
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		d := b.deliveries("ntfy.main")[0]
		if d.State != delivery.Failed || !strings.Contains(d.Error, "***") ||
			strings.Contains(d.Error+string(d.Payload), "SECRET") {
			t.Errorf("delivery %+v", d)
		}
		events, err := b.store.Events(t.Context(), 0, 100)
		if err != nil || len(events) == 0 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		for _, e := range events {
			if text := fmt.Sprintf("%+v %+v", e, e.Delivery); strings.Contains(text, "SECRET") {
				t.Error(text)
			}
		}
		b.stop()
	})
}

// A sample message shows where links are, and none of them decides anything.
func TestSampleMessagesCarryNoRealLinks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		text := messages(t, "", "[${approveUrl}${skipUrl}]", "")
		one, phone := simple(t, "ntfy.main", func(t *Trigger) { t.Messages = text })
		links := &fakeLinks{}
		if err := Send(t.Context(), one, []sdk.Container{minor("web")}, links, hclog.NewNullLogger()); err != nil {
			t.Fatal(err)
		}
		b := open(t, one)
		b.stop()
		b.links = links
		b.start(nil)
		if err := b.RunNow(t.Context(), "ntfy.main", []sdk.Container{minor("web")}, ManualRun{Test: true}); err != nil {
			t.Fatal(err)
		}
		for _, got := range phone.got {
			if got.Body != "[https://h/decide/sample]" || links.made.Load() > 0 {
				t.Errorf("body %q", got.Body)
			}
		}
		b.stop()
	})
}

// Without links the names that templates read are empty, and known.
func TestTemplatesWithoutLinks(t *testing.T) {
	m := messages(t, "[${approveUrl}${skipUrl}${snoozeUrl}]", "", "")
	if title, _, err := m.render([]sdk.Container{minor("web")}, false); err != nil || title != "[]" {
		t.Errorf("%q, %v", title, err)
	}
	if odd := m.Lint(); len(odd) > 0 {
		t.Errorf("%v", odd)
	}
	if odd := messages(t, "${aproveUrl}", "", "").Lint(); len(odd) != 1 || !strings.Contains(odd[0].Detail, "approveUrl") {
		t.Errorf("%v", odd)
	}
}
