package dispatch

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// now is Containers from a list.
type now []sdk.Container

func (n now) ByID(id string) (sdk.Container, bool) {
	for _, c := range n {
		if c.ID == id {
			return c, true
		}
	}
	return sdk.Container{}, false
}

func (n now) ByName(watcher, name string) (sdk.Container, bool) {
	for _, c := range n {
		if c.Watcher == watcher && c.Name == name {
			return c, true
		}
	}
	return sdk.Container{}, false
}

func foundEvent(id int64, run string, c sdk.Container) event.Event {
	return event.Event{ID: id, Type: event.UpdateFound, Run: run, Payload: event.Payload{Container: &c}}
}

func finished(id int64, run string, check event.Check) event.Event {
	check.Watcher = "local"
	return event.Event{ID: id, Type: event.CheckFinished, Run: run, Payload: event.Payload{Check: &check}}
}

func planned(list []delivery.Delivery) (text []string) {
	for _, d := range list {
		text = append(text, fmt.Sprintf("%s %s %v @%d", d.Trigger, d.Subject, d.Containers, d.Event))
	}
	return text
}

func TestPlan(t *testing.T) {
	a, b, old := minor("a"), moved("b"), minor("old")
	excluded := minor("excluded")
	excluded.TriggerExclude = "x.t"
	check := []event.Event{
		foundEvent(11, "r1", a), foundEvent(12, "r1", b), foundEvent(13, "r1", excluded),
		finished(14, "r1", event.Check{
			Found:   []string{"id-a", "id-b", "id-excluded"},
			Updates: []string{"id-a", "id-b", "id-excluded", "id-old", "id-gone"},
		}),
	}
	single := []event.Event{foundEvent(21, "r2", a), finished(22, "r2", event.Check{
		Single: true, Found: []string{"id-a"}, Updates: []string{"id-a"},
	})}
	carried := []event.Event{finished(31, "r3", event.Check{Found: []string{"id-old"}, Updates: []string{"id-old"}})}
	nothing := []event.Event{finished(41, "r4", event.Check{Updates: []string{"id-old"}})}
	stored := now{a, b, old, excluded}
	for _, c := range []struct {
		about   string
		trigger Trigger
		events  []event.Event
		want    []string
	}{
		{"simple once", Trigger{Auto: true, Once: true}, check, []string{"x.t local/a [id-a] @11", "x.t local/b [id-b] @12"}},
		{"simple always", Trigger{Auto: true}, check,
			[]string{"x.t local/a [id-a] @14", "x.t local/b [id-b] @14", "x.t local/old [id-old] @14"}},
		{"batch once", Trigger{Auto: true, Once: true, Batch: true}, check, []string{"x.t batch/local [id-a id-b] @14"}},
		{"batch always", Trigger{Auto: true, Batch: true}, check, []string{"x.t batch/local [id-a id-b id-old] @14"}},
		{"not automatic", Trigger{Once: true}, check, nil},
		{"not automatic batch", Trigger{Batch: true}, check, nil},
		{"threshold", Trigger{Auto: true, Once: true, Threshold: "patch"}, check, []string{"x.t local/b [id-b] @12"}},
		{"batch with threshold", Trigger{Auto: true, Once: true, Batch: true, Threshold: "patch"}, check,
			[]string{"x.t batch/local [id-b] @14"}},
		{"single check, simple", Trigger{Auto: true, Once: true}, single, []string{"x.t local/a [id-a] @21"}},
		{"single check, always", Trigger{Auto: true}, single, []string{"x.t local/a [id-a] @22"}},
		{"single checks do not fire batches", Trigger{Auto: true, Once: true, Batch: true}, single, nil},
		{"nor do they without once", Trigger{Auto: true, Batch: true}, single, nil},
		{"found by a single check before", Trigger{Auto: true, Once: true, Batch: true}, carried,
			[]string{"x.t batch/local [id-old] @31"}},
		{"nothing new, once", Trigger{Auto: true, Once: true, Batch: true}, nothing, nil},
		{"nothing new, always", Trigger{Auto: true, Batch: true}, nothing, []string{"x.t batch/local [id-old] @41"}},
		{"other events", Trigger{Auto: true, Once: true},
			[]event.Event{{Type: event.ContainerAdded, Payload: event.Payload{Container: &a}}, {Type: event.CheckFinished}, {
				Type: event.UpdateFound,
			}}, nil},
	} {
		c.trigger.ID, c.trigger.IncludeByDefault = "x.t", true
		equal(t, c.about, planned(planDeliveries(c.events, []Trigger{c.trigger}, stored, backlogs{})), c.want)
	}
	all := planDeliveries(check, []Trigger{{ID: "a.a", Auto: true, Once: true, IncludeByDefault: true},
		{ID: "b.b", Auto: true, Once: true, Batch: true, IncludeByDefault: true}}, stored, backlogs{})
	equal(t, "two triggers", planned(all),
		[]string{"a.a local/a [id-a] @11", "a.a local/b [id-b] @12", "a.a local/excluded [id-excluded] @13",
			"b.b batch/local [id-a id-b id-excluded] @14"})
}

// TestPlanBatchOfRecreatedContainers: a batch lists what its check found, though
// the containers have other ids by the time it is planned.
func TestPlanBatchOfRecreatedContainers(t *testing.T) {
	a := minor("a")
	recreated := a
	recreated.ID = "another"
	events := []event.Event{foundEvent(1, "r", a), finished(2, "r", event.Check{Found: []string{a.ID}})}
	got := planDeliveries(events, []Trigger{{ID: "x.t", Auto: true, Once: true, Batch: true, IncludeByDefault: true}},
		now{recreated}, backlogs{})
	if len(got) != 1 {
		t.Fatalf("planned %v", planned(got))
	}
	var payload []sdk.Container
	if err := json.Unmarshal(got[0].Payload, &payload); err != nil || len(payload) != 1 || payload[0].Name != "a" {
		t.Errorf("payload %s, %v", got[0].Payload, err)
	}
}

// TestFingerprintIdentifiesUpdate, and nothing else about a container.
func TestFingerprintIdentifiesUpdate(t *testing.T) {
	base := minor("a")
	for about, change := range map[string]func(*sdk.Container){
		"another container": func(c *sdk.Container) { c.ID, c.Name, c.Watcher = "x", "y", "z" },
		"another status":    func(c *sdk.Container) { c.Status, c.Labels = "exited", map[string]string{"a": "b"} },
		"another state": func(c *sdk.Container) {
			c.Check.State, c.Error = sdk.CheckFailed, &sdk.ContainerError{Message: "x"}
		},
		"another link":        func(c *sdk.Container) { c.Result.Link = "https://x" },
		"another measure":     func(c *sdk.Container) { c.UpdateKind.SemverDiff = "patch" },
		"another image below": func(c *sdk.Container) { c.Image.ID = "sha256:x" },
	} {
		c := base
		result := *base.Result
		c.Result = &result
		if change(&c); fingerprint(c) != fingerprint(base) {
			t.Errorf("%s: another fingerprint", about)
		}
	}
	prints := map[string]string{fingerprint(base): "base"}
	for about, c := range map[string]sdk.Container{
		"another version":      withUpdate("a", "1.0.0", "1.2.0", "minor"),
		"from another version": withUpdate("a", "1.0.1", "1.1.0", "minor"),
		"a digest":             moved("a"),
		"another digest": func() sdk.Container {
			c := moved("a")
			c.Result = &sdk.Result{Tag: "latest", Digest: "sha256:x"}
			return c
		}(),
		"from another digest": func() sdk.Container { c := moved("a"); c.UpdateKind.LocalValue = "sha256:x"; return c }(),
		"no result":           {UpdateKind: sdk.UpdateKind{Kind: "tag"}},
		"nothing":             {},
		"fields that are moved": {
			UpdateKind: sdk.UpdateKind{Kind: "tag", LocalValue: "1.0.0", RemoteValue: ""},
			Result:     &sdk.Result{Tag: "1.1.0", Digest: "1.1.0"},
		},
	} {
		print := fingerprint(c)
		if twin, taken := prints[print]; taken {
			t.Errorf("%s has the fingerprint of %s", about, twin)
		}
		prints[print] = about
	}
}

// TestBatchFingerprintIgnoresOrder: the order of the containers does not matter; without
// once, every check has its own.
func TestBatchFingerprintIgnoresOrder(t *testing.T) {
	once, always := Trigger{Once: true}, Trigger{}
	list := []sdk.Container{minor("a"), moved("b"), minor("c")}
	shuffled := []sdk.Container{list[2], list[0], list[1]}
	e1, e2 := event.Event{Run: "r1"}, event.Event{Run: "r2"}
	switch first := batchFingerprint(once, e1, list); {
	case first != batchFingerprint(once, e2, shuffled):
		t.Error("the same batch has two fingerprints")
	case first == batchFingerprint(once, e1, list[:2]):
		t.Error("a part has the fingerprint of the whole")
	case batchFingerprint(always, e1, list) == batchFingerprint(always, e2, list):
		t.Error("two checks share a fingerprint without once")
	}
}

// TestPlanIsIndependentOfPages: however the log is cut between checks, the same is pending.
func TestPlanIsIndependentOfPages(t *testing.T) {
	triggers := []Trigger{
		{ID: "a.a", Auto: true, Once: true, IncludeByDefault: true},
		{ID: "b.b", Auto: true, Once: true, Batch: true, IncludeByDefault: true},
		{ID: "c.c", Auto: true, IncludeByDefault: true}, {ID: "d.d", Auto: true, Batch: true, IncludeByDefault: true},
	}
	r := rand.New(rand.NewPCG(1, 2))
	var checks [][]event.Event
	var stored now
	var id int64
	for run := range 20 {
		var events []event.Event
		var check event.Check
		for range r.IntN(5) {
			c := minor(fmt.Sprint("c", r.IntN(8)))
			id++
			events = append(events, foundEvent(id, fmt.Sprint("r", run), c))
			check.Found, check.Updates = append(check.Found, c.ID), append(check.Updates, c.ID)
			stored = append(stored, c)
		}
		id++
		checks = append(checks, append(events, finished(id, fmt.Sprint("r", run), check)))
	}
	var whole []event.Event
	var parts []delivery.Delivery
	for _, events := range checks {
		whole = append(whole, events...)
		parts = append(parts, planDeliveries(events, triggers, stored, backlogs{})...)
	}
	equal(t, "planned in one page", planned(planDeliveries(whole, triggers, stored, backlogs{})), planned(parts))
}
