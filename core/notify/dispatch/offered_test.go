package dispatch

import (
	"context"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// leveled returns a container whose update is a major one, with newer versions of smaller steps.
func leveled(name string) sdk.Container {
	c := withUpdate(name, "8.1.0", "9.0.0", sdk.DiffMajor)
	c.Result.Levels = &sdk.Levels{
		Major: &sdk.Release{Tag: "9.0.0"}, Minor: &sdk.Release{Tag: "8.2.1", Link: "https://notes/8.2.1"},
		Patch: &sdk.Release{Tag: "8.1.4"},
	}
	return c
}

func withDecision(c sdk.Container, state string, codes ...string) sdk.Container {
	c.Decision = &sdk.Decision{State: state}
	for _, code := range codes {
		c.Decision.Reasons = append(c.Decision.Reasons, sdk.Reason{Code: code})
	}
	return c
}

func TestOfferedTo(t *testing.T) {
	included := leveled("a")
	included.TriggerInclude = "x.t:patch"
	excluded := leveled("a")
	excluded.TriggerExclude = "x.t:minor" // minor and smaller steps
	noMinor := leveled("a")
	noMinor.Result.Levels.Minor = nil
	for about, c := range map[string]struct {
		trigger   Trigger
		container sdk.Container
		want      string // the version; "" for none
	}{
		"no threshold":                             {Trigger{}, leveled("a"), "9.0.0"},
		"threshold minor":                          {Trigger{Threshold: "minor"}, leveled("a"), "8.2.1"},
		"threshold patch":                          {Trigger{Threshold: "patch"}, leveled("a"), "8.1.4"},
		"threshold minor-only":                     {Trigger{Threshold: "minor-only"}, leveled("a"), "8.2.1"},
		"threshold minor without a newer minor":    {Trigger{Threshold: "minor"}, noMinor, "8.1.4"},
		"threshold without levels":                 {Trigger{Threshold: "patch"}, minor("a"), ""},
		"label with a threshold":                   {Trigger{}, included, "8.1.4"},
		"excluded by label":                        {Trigger{Threshold: "minor"}, excluded, ""},
		"a base image":                             {Trigger{}, onBase(leveled("a")), "9.0.0"},
		"a base image, for a trigger that updates": {Trigger{Operates: true}, onBase(leveled("a")), ""},
		"offered":                                  {Trigger{}, withDecision(leveled("a"), sdk.StateOffered), "9.0.0"},
		"held": {Trigger{},
			withDecision(leveled("a"), sdk.StateHeld, policy.ReasonMinAge), ""},
		"held, for a smaller step": {Trigger{Threshold: "minor"},
			withDecision(leveled("a"), sdk.StateHeld, policy.ReasonSnoozed), ""},
		"automatic": {Trigger{}, withDecision(leveled("a"), sdk.StateAutomatic), "9.0.0"},
		"automatic, for a trigger that updates": {Trigger{Operates: true},
			withDecision(leveled("a"), sdk.StateAutomatic), ""},
		"approval, for a trigger that updates": {Trigger{Operates: true},
			withDecision(leveled("a"), sdk.StateOffered, policy.ReasonApproval), ""},
		"approval, for a trigger that notifies": {Trigger{},
			withDecision(leveled("a"), sdk.StateOffered, policy.ReasonApproval), "9.0.0"},
		"offered, for a trigger that updates": {Trigger{Operates: true},
			withDecision(leveled("a"), sdk.StateOffered), "9.0.0"},
		"a digest has no other steps":              {Trigger{Threshold: "major-only"}, moved("a"), "latest"},
		"smaller step, for a trigger that updates": {Trigger{Operates: true, Threshold: "minor"}, leveled("a"), "8.2.1"},
		"threshold major-only with a minor update": {Trigger{Threshold: "major-only"}, minor("a"), ""},
		"threshold major-only, major not the target": {Trigger{Threshold: "major-only"},
			target(leveled("a"), "8.2.1", sdk.DiffMinor), "9.0.0"},
	} {
		c.trigger.ID, c.trigger.IncludeByDefault = "x.t", true
		got, accepted := offeredTo(c.trigger, c.container)
		switch {
		case accepted != (c.want != ""):
			t.Errorf("%s: accepted %v", about, accepted)
		case accepted &&
			(got.Result.Tag != c.want || got.UpdateKind.Kind == sdk.KindTag && got.UpdateKind.RemoteValue != c.want):
			t.Errorf("%s: %s (%s), want %s", about, got.Result.Tag, got.UpdateKind.RemoteValue, c.want)
		}
	}
	if got, _ := offeredTo(Trigger{ID: "x.t", IncludeByDefault: true, Threshold: "minor"},
		leveled("a")); got.Result.Link != "https://notes/8.2.1" || got.UpdateKind.SemverDiff != sdk.DiffMinor {
		t.Errorf("the smaller step has link %q and is a %s", got.Result.Link, got.UpdateKind.SemverDiff)
	}
}

// target returns a container whose rules choose another version than the newest.
func target(c sdk.Container, tag, diff string) sdk.Container {
	result := *c.Result
	result.Tag = tag
	c.Result, c.UpdateKind.RemoteValue, c.UpdateKind.SemverDiff = &result, tag, diff
	return c
}

// TestPlanOfLevels: a trigger whose threshold excludes the update is notified of each new
// version of a smaller step, once, and others are not.
func TestPlanOfLevels(t *testing.T) {
	a := leveled("a")
	changed := event.Event{
		ID: 2, Run: "r", Type: event.ContainerChanged,
		Payload: event.Payload{Container: &a, Aspect: event.Leveled, Levels: []string{sdk.DiffMinor}},
	}
	found := foundEvent(2, "r", a)
	found.Levels = []string{sdk.DiffMajor}
	for _, c := range []struct {
		about   string
		trigger Trigger
		events  []event.Event
		want    []string
	}{
		{"simple", Trigger{Once: true, Threshold: "minor"}, []event.Event{changed}, []string{"x.t local/a [id-a] @2"}},
		{"simple, only the major one is new", Trigger{Once: true, Threshold: "minor"}, []event.Event{found}, nil},
		{"simple, without threshold", Trigger{Once: true}, []event.Event{changed}, nil},
		{"batch", Trigger{Once: true, Batch: true, Threshold: "minor"},
			[]event.Event{changed, finished(3, "r", event.Check{Updates: []string{"id-a"}})},
			[]string{"x.t batch/local [id-a] @3"}},
		{"batch of another step", Trigger{Once: true, Batch: true, Threshold: "patch"},
			[]event.Event{changed, finished(3, "r", event.Check{Updates: []string{"id-a"}})}, nil},
		{"batch, without threshold", Trigger{Once: true, Batch: true},
			[]event.Event{changed, finished(3, "r", event.Check{Updates: []string{"id-a"}})}, nil},
		{"batch, only the major one is new", Trigger{Once: true, Batch: true, Threshold: "minor"},
			[]event.Event{found, finished(3, "r", event.Check{Found: []string{"id-a"}, Updates: []string{"id-a"}})}, nil},
		{"other changes", Trigger{Once: true, Threshold: "minor"},
			[]event.Event{{
				ID: 2, Type: event.ContainerChanged, Payload: event.Payload{Container: &a, Aspect: event.Released},
			}}, nil},
	} {
		c.trigger.ID, c.trigger.IncludeByDefault, c.trigger.Auto = "x.t", true, true
		equal(t, c.about, planned(planDeliveries(c.events, []Trigger{c.trigger}, now{a}, backlogs{})), c.want)
	}
}

// TestHeldDeliveryIsSentOnceOffered: what is held while its delivery waits is not sent,
// and is sent once when it is offered again.
func TestHeldDeliveryIsSentOnceOffered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, calls := simple(t, "x.t")
		down := true
		calls.reply = func(context.Context, int, trigger.Request) error {
			if down {
				return errDown
			}
			return nil
		}
		b := open(t, tr)
		c := minor("web")
		b.checked([]sdk.Container{c})
		settle(time.Second)
		b.decide(withDecision(c, sdk.StateHeld, policy.ReasonSnoozed))
		down = false
		settle(time.Hour)
		equal(t, "while it is held", b.states("x.t"), []string{"local/web skipped"})
		if why := b.deliveries("x.t")[0].Error; why != "the update is held: snoozed until the next version" {
			t.Errorf("it was not sent as %q", why)
		}
		for range 2 { // a window opens twice
			b.decide(withDecision(c, sdk.StateOffered))
			settle(time.Hour)
			b.decide(withDecision(c, sdk.StateHeld, policy.ReasonWindow))
			settle(time.Hour)
		}
		equal(t, "after it was offered", b.states("x.t"), []string{"local/web sent"})
		sent := 0
		for _, d := range b.deliveries("x.t") {
			if d.State == delivery.Sent {
				sent += d.Attempts
			}
		}
		if sent != 1 {
			t.Errorf("sent in %d attempts", sent)
		}
		b.stop()
	})
}

func onBase(c sdk.Container) sdk.Container {
	c.Base = &sdk.Image{Name: "library/node", Tag: c.Image.Tag}
	return c
}
