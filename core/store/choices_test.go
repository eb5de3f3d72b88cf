package store

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// webChoice is in every file that can have it.
var webChoice = choice.Choice{
	Subject: "local/web", Kind: choice.Skip, Actor: "ana", At: sdk.TimeOf(start),
	Update: update.Key{Subject: "local/web", Kind: sdk.KindTag, FromTag: "1.25.0", ToTag: "2.0.0"},
}

// TestChoicesOfOneVersion: a container has one choice for each version, the last one.
func TestChoicesOfOneVersion(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "store.db"))
	whole := choice.Choice{
		Subject: "local/web", Kind: choice.Snooze, Actor: "ben", At: sdk.TimeOf(start.Add(seconds(1))),
		Until: sdk.TimeOf(start.Add(seconds(99))),
	}
	approved := webChoice
	approved.Kind, approved.At = choice.Approved, sdk.TimeOf(start.Add(seconds(2)))
	approved.Update.FromTag = "1.24.0" // it ran another version by then
	other := webChoice
	other.Subject = "local/db"
	other.Update.Subject = "local/db"
	for _, c := range []choice.Choice{webChoice, whole, approved, other} {
		must(t, s.PutChoice(ctx, c, nil, event.Event{At: start, Type: event.ChoiceMade, Subject: c.Subject}))
	}
	got, err := s.Choices(ctx)
	must(t, err)
	if want := []choice.Choice{other, whole, approved}; !reflect.DeepEqual(got, want) {
		t.Errorf("choices %+v\nwant %+v", got, want)
	}
	must(t, s.DeleteChoices(ctx, "local/web", event.Event{At: start, Type: event.ChoiceUndone, Subject: "local/web"}))
	if got, err = s.Choices(ctx); err != nil || !reflect.DeepEqual(got, []choice.Choice{other}) {
		t.Errorf("choices %+v, %v", got, err)
	}
	if events, err := s.Events(ctx, 0, 100); err != nil || len(events) != 5 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestPruneChoices deletes those that have ended long ago, those of containers that are
// gone for long, and those about versions that were reached, or withdrawn, long ago.
func TestPruneChoices(t *testing.T) {
	at := func(days int) time.Time { return start.AddDate(0, 0, days) }
	made := func(name string, day, until int, key update.Key) choice.Choice {
		c := choice.Choice{Subject: "local/" + name, Kind: choice.Skip, Actor: "ana", At: sdk.TimeOf(at(day)), Update: key}
		if until > 0 {
			c.Kind, c.Until = choice.Snooze, sdk.TimeOf(at(until))
		}
		if key.Kind != "" {
			c.Update.Subject = c.Subject
		}
		return c
	}
	tag := func(version string) update.Key {
		return update.Key{Kind: sdk.KindTag, FromTag: "1.25.0", ToTag: version}
	}
	digest := update.Key{
		Kind: sdk.KindDigest, FromTag: "1.25.0", FromDigest: "sha256:old", ToTag: "1.25.0", ToDigest: "sha256:new",
	}
	const today = 100 // and 90 days before is the time
	cases := map[string]struct {
		choice choice.Choice
		event  event.Type // on day 50, if any
		kept   bool
	}{
		"gone, made long ago":                {made("gone", 1, 0, tag("2.0.0")), "", false},
		"gone since day 50":                  {made("gone", 1, 0, tag("2.0.0")), event.ContainerRemoved, true},
		"gone, made lately":                  {made("gone", 20, 0, tag("2.0.0")), "", true},
		"gone, snoozed until lately":         {made("gone", 1, 50, update.Key{}), "", true},
		"still found":                        {made("web", 1, 0, tag("2.0.0")), "", true},
		"the image is still found":           {made("web", 1, 0, digest), "", true},
		"reached":                            {made("web", 1, 0, tag("1.25.0")), "", false},
		"reached on day 50":                  {made("web", 1, 0, tag("1.25.0")), event.ContainerReplaced, true},
		"reached by another container":       {made("web", 1, 0, tag("1.24.0")), event.UpdateCleared, true},
		"withdrawn":                          {made("web", 1, 0, tag("1.99.0")), "", false},
		"withdrawn, and chosen lately":       {made("web", 20, 0, tag("1.99.0")), "", true},
		"a snooze of all that goes on":       {made("web", 1, 200, update.Key{}), "", true},
		"a snooze of all that ended":         {made("web", 1, 5, update.Key{}), "", false},
		"a snooze of a version that ended":   {made("web", 1, 5, tag("2.0.0")), "", false},
		"a snooze that ended lately":         {made("web", 1, 50, update.Key{}), "", true},
		"a snooze until the next, and found": {made("web", 1, 0, tag("1.26.0")), "", true},
	}
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return at(today) } })
	ctx := t.Context()
	change := event.Change{Candidates: map[string][]byte{}}
	subjects := map[string]string{} // by title: each case has a container of its own, or none
	for title, c := range cases {
		name := fmt.Sprint("c", len(subjects))
		subject := "local/" + name
		if c.choice.Subject == "local/web" {
			change.Put = append(change.Put, container("local", name, name))
			change.Candidates[subject] = encoded(t, webFound)
		}
		if c.event != "" {
			change.Events = append(change.Events, event.Event{At: at(50), Type: c.event, Subject: subject})
		}
		must(t, s.PutChoice(ctx, about(c.choice, subject), nil))
		subjects[title] = subject
	}
	must(t, s.Commit(ctx, change))
	must(t, s.Prune(ctx, at(today-90)))
	stored, err := s.Choices(ctx)
	must(t, err)
	for title, c := range cases {
		kept := slices.ContainsFunc(stored, func(of choice.Choice) bool { return of.Subject == subjects[title] })
		if inMemory := len(s.ChoicesBySubject()[subjects[title]]) > 0; kept != c.kept || inMemory != kept {
			t.Errorf("%s: kept %t, in memory %t, want %t", title, kept, inMemory, c.kept)
		}
	}
}
