package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func ofOperations(t *Trigger) { t.Operations = true }

// ended commits the end of an operation on the container "local/web".
func (b *bench) ended(typ event.Type, o event.Operation) {
	b.t.Helper()
	o.From, o.To = "docker.io/library/nginx:1.25.0", "docker.io/library/nginx:1.26.0"
	b.commit(nil, event.Event{Type: typ, At: time.Now(), Subject: "local/web", Payload: event.Payload{Operation: &o}})
}

func TestEndOfOperationIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", ofOperations, batch)
		other, nothing := simple(t, "http.other", always)
		acting, none := simple(t, "docker.local", ofOperations, func(t *Trigger) { t.Operates = true })
		b := open(t, phone, other, acting)
		b.ended(event.OperationQueued, event.Operation{ID: "1", Kind: "update"})
		b.ended(event.OperationStep, event.Operation{ID: "1", Kind: "update", Error: "no"})
		b.ended(event.OperationSucceeded, event.Operation{
			ID: "1", Kind: "update", Trigger: "docker.local", Downtime: "1.234s",
		})
		// as if it had been stored twice
		b.ended(event.OperationSucceeded, event.Operation{ID: "1", Kind: "update", Trigger: "docker.local"})
		b.ended(event.OperationSucceeded, event.Operation{ID: "2", Kind: "update", Code: "dryrun"})
		b.ended(event.OperationFailed, event.Operation{ID: "7", Kind: "update", DryRun: true,
			Error: "the registry is away"})
		b.ended(event.OperationCancelled, event.Operation{ID: "3", Kind: "update"})
		settle(time.Second)
		b.stop()
		b.start(nil) // over the same store
		defer b.stop()
		b.ended(event.OperationRolledBack, event.Operation{ID: "4", Kind: "update", Error: "it ended with code 1"})
		b.ended(event.OperationFailed, event.Operation{ID: "5", Kind: "rollback", Actor: "ana"})
		b.ended(event.OperationRolledBack, event.Operation{ID: "6", Kind: "update", Error: "it ended",
			Actor: event.Anonymous, Log: "starting\ncannot bind"})
		settle(time.Minute)
		type message struct {
			typ, title, body string
			urgent           bool
		}
		var messages []message
		for _, r := range got.got {
			messages = append(messages, message{r.Event.Type, r.Title, r.Body, r.Event.Urgent()})
			if r.Event.Watcher != "local" || r.Event.Container != "web" ||
				r.Event.From != "docker.io/library/nginx:1.25.0" || len(r.Containers) > 0 || !r.Batch {
				t.Errorf("%+v", r.Event)
			}
		}
		equal(t, "messages", messages, []message{
			{trigger.UpdateApplied, "Container web was updated",
				"From nginx:1.25.0 to nginx:1.26.0, by docker.local. It was down for 1.2s.", false},
			{trigger.UpdateRolledBack, "Update of container web did not work: the old one is back",
				"it ended with code 1\nFrom nginx:1.25.0 to nginx:1.26.0.", true},
			{trigger.UpdateFailed, "Rollback of container web failed",
				"No reason is known.\nFrom nginx:1.25.0 to nginx:1.26.0, by ana.", true},
			{
				trigger.UpdateRolledBack, "Update of container web did not work: the old one is back",
				"it ended\nFrom nginx:1.25.0 to nginx:1.26.0.\nThe last lines of its log:\nstarting\ncannot bind", true,
			},
		})
		if len(nothing.got)+len(none.got) > 0 {
			t.Errorf("triggers that are not to be notified: %+v, %+v", nothing.got, none.got)
		}
	})
}

// TestEndOfOperationRespectsLabels: a trigger that a container excludes is not notified of its updates.
func TestEndOfOperationRespectsLabels(t *testing.T) {
	for _, test := range []struct {
		include, exclude string
		notified         bool
	}{{"", "", true}, {"", "ntfy.phone", false}, {"smtp.main", "", false}, {"ntfy.phone:major", "", true},
		{"", "ntfy.phone:minor", true}} {
		now := stored{{Watcher: "local", Name: "web", TriggerInclude: test.include, TriggerExclude: test.exclude}}
		e := event.Event{
			Type: event.OperationFailed, Subject: "local/web", Payload: event.Payload{Operation: &event.Operation{}},
		}
		planned := ends{now}.plan(Trigger{ID: "ntfy.phone", Operations: true, IncludeByDefault: true}, e)
		if notified := len(planned) > 0; notified != test.notified {
			t.Errorf("%+v: notified %t", test, notified)
		}
	}
}

type stored []sdk.Container

func (s stored) ByID(string) (c sdk.Container, known bool) { return c, false }
func (s stored) ByName(watcher, name string) (sdk.Container, bool) {
	for _, c := range s {
		if c.Watcher == watcher && c.Name == name {
			return c, true
		}
	}
	return sdk.Container{}, false
}
