package store

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// webChoice is in every file that can have it.
var webChoice = policy.Choice{
	Subject: "local/web", Kind: policy.Skip, Actor: "ana", At: sdk.TimeOf(start),
	Update: update.Key{Subject: "local/web", Kind: sdk.KindTag, FromTag: "1.25.0", ToTag: "2.0.0"},
}

// TestChoicesOfOneVersion: a container has one choice for each version, the last one.
func TestChoicesOfOneVersion(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "store.db"))
	whole := policy.Choice{Subject: "local/web", Kind: policy.Snooze, Actor: "ben", At: sdk.TimeOf(start.Add(seconds(1))), Until: sdk.TimeOf(start.Add(seconds(99)))}
	approved := webChoice
	approved.Kind, approved.At = policy.Approved, sdk.TimeOf(start.Add(seconds(2)))
	approved.Update.FromTag = "1.24.0" // it ran another version by then
	other := webChoice
	other.Subject = "local/db"
	other.Update.Subject = "local/db"
	for _, c := range []policy.Choice{webChoice, whole, approved, other} {
		must(t, s.PutChoice(ctx, c, nil, event.Event{At: start, Type: event.ChoiceMade, Subject: c.Subject}))
	}
	got, err := s.Choices(ctx)
	must(t, err)
	if want := []policy.Choice{other, whole, approved}; !reflect.DeepEqual(got, want) {
		t.Errorf("choices %+v\nwant %+v", got, want)
	}
	must(t, s.DeleteChoices(ctx, "local/web", event.Event{At: start, Type: event.ChoiceUndone, Subject: "local/web"}))
	if got, err = s.Choices(ctx); err != nil || !reflect.DeepEqual(got, []policy.Choice{other}) {
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
	about := func(name string, day, until int, key update.Key) policy.Choice {
		c := policy.Choice{Subject: "local/" + name, Kind: policy.Skip, Actor: "ana", At: sdk.TimeOf(at(day)), Update: key}
		if until > 0 {
			c.Kind, c.Until = policy.Snooze, sdk.TimeOf(at(until))
		}
		if key.Kind != "" {
			c.Update.Subject = c.Subject
		}
		return c
	}
	tag := func(version string) update.Key {
		return update.Key{Kind: sdk.KindTag, FromTag: "1.25.0", ToTag: version}
	}
	digest := update.Key{Kind: sdk.KindDigest, FromTag: "1.25.0", FromDigest: "sha256:old", ToTag: "1.25.0", ToDigest: "sha256:new"}
	const today = 100 // and 90 days before is the time
	for title, c := range map[string]struct {
		choice policy.Choice
		event  event.Type // on day 50, if any
		kept   bool
	}{
		"gone, made long ago":                {about("gone", 1, 0, tag("2.0.0")), "", false},
		"gone since day 50":                  {about("gone", 1, 0, tag("2.0.0")), event.ContainerRemoved, true},
		"gone, made lately":                  {about("gone", 20, 0, tag("2.0.0")), "", true},
		"gone, snoozed until lately":         {about("gone", 1, 50, update.Key{}), "", true},
		"still found":                        {about("web", 1, 0, tag("2.0.0")), "", true},
		"the image is still found":           {about("web", 1, 0, digest), "", true},
		"reached":                            {about("web", 1, 0, tag("1.25.0")), "", false},
		"reached on day 50":                  {about("web", 1, 0, tag("1.25.0")), event.ContainerReplaced, true},
		"reached by another container":       {about("web", 1, 0, tag("1.24.0")), event.UpdateCleared, true},
		"withdrawn":                          {about("web", 1, 0, tag("1.99.0")), "", false},
		"withdrawn, and chosen lately":       {about("web", 20, 0, tag("1.99.0")), "", true},
		"a snooze of all that goes on":       {about("web", 1, 200, update.Key{}), "", true},
		"a snooze of all that ended":         {about("web", 1, 5, update.Key{}), "", false},
		"a snooze of a version that ended":   {about("web", 1, 5, tag("2.0.0")), "", false},
		"a snooze that ended lately":         {about("web", 1, 50, update.Key{}), "", true},
		"a snooze until the next, and found": {about("web", 1, 0, tag("1.26.0")), "", true},
	} {
		t.Run(title, func(t *testing.T) {
			s := fresh(t, func(o *Options) { o.Now = func() time.Time { return at(today) } })
			ctx := t.Context()
			ch := put(container("local", "web", "1"))
			ch.Candidates = map[string][]byte{"local/web": encoded(t, webFound)}
			if c.event != "" {
				ch.Events = []event.Event{{At: at(50), Type: c.event, Subject: c.choice.Subject}}
			}
			must(t, s.Commit(ctx, ch))
			must(t, s.PutChoice(ctx, c.choice, nil))
			must(t, s.Prune(ctx, at(today-90)))
			got, err := s.Choices(ctx)
			must(t, err)
			if (len(got) == 1) != c.kept || len(s.ChoicesBySubject()) != len(got) {
				t.Errorf("left are %+v, in memory %+v", got, s.ChoicesBySubject())
			}
		})
	}
}
