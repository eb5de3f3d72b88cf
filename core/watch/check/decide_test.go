package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// ruled is a fixture whose rules and choices a test sets, and changes.
type ruled struct {
	*fixture
	rules   policy.Rules
	facts   policy.Facts
	choices []choice.Choice
	last    int64
}

func openRules(t *testing.T, image string, tags ...string) *ruled {
	d := &ruled{}
	d.fixture = open(t, func(w *fixture, o *options) {
		o.Decide.Candidates = w.store.Candidates
		o.Decide.Rules = func(sdk.Container) policy.Rules { return d.rules }
		o.Decide.Facts = func(sdk.Container) policy.Facts { return d.facts }
		o.Decide.Choices = func(string) []choice.Choice { return d.choices }
	})
	c := container("web", image)
	d.engine.has(c)
	d.hub.tags[c.Image.Name] = tags
	return d
}

func (d *ruled) publish(tags ...string) {
	d.hub.tags["team/app"] = append(d.hub.tags["team/app"], tags...)
}

func (d *ruled) redecide() {
	d.t.Helper()
	if err := d.decisions.Redecide(context.Background()); err != nil {
		d.t.Fatal(err)
	}
}

// candidates returns what is known of the updates of the only container.
func (d *ruled) candidates() []candidate.Candidate {
	d.t.Helper()
	found, err := d.decisions.Known(context.Background(), "local/web")
	if err != nil {
		d.t.Fatal(err)
	}
	return found.Candidates
}

// said returns the events about containers since it was called last: their type, aspect and levels.
func (d *ruled) said() (list []string) {
	d.t.Helper()
	events, err := d.store.Events(context.Background(), d.last, 1000)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range events {
		if d.last = e.ID; e.Container != nil {
			list = append(list,
				strings.Join(strings.Fields(fmt.Sprint(e.Type, " ", e.Aspect, " ", strings.Join(e.Levels, ","))), " "))
		}
	}
	return list
}

// state writes what became of the update of the only container: "held 9.0.0 age.min".
func (d *ruled) state() string {
	c := d.get("id-web")
	if c.Decision == nil {
		return "none"
	}
	text := c.Decision.State + " " + c.Result.Tag
	if got := c.UpdateKind.RemoteValue; got != c.Result.Tag && got != c.Result.Digest {
		d.t.Errorf("the result is %+v, the update %+v", c.Result, c.UpdateKind)
	}
	for _, r := range c.Decision.Reasons {
		text += " " + r.Code
	}
	return text
}

func (d *ruled) expect(title, state string, events ...string) {
	d.t.Helper()
	if got := d.state(); got != state {
		d.t.Errorf("%s: %s, want %s", title, got, state)
	}
	if got := d.said(); !slices.Equal(got, events) {
		d.t.Errorf("%s: events\n got  %q\n want %q", title, got, events)
	}
}

func setting[T any](v T) policy.Setting[T] { return policy.Setting[T]{Value: v, Source: "policy"} }

func TestThresholdOffersTheNewestWithin(t *testing.T) {
	d := openRules(t, "team/app:8.1.0", "8.1.0", "8.1.3", "8.2.1", "9.0.0")
	d.rules.Threshold = setting("minor")
	report := d.run()
	d.expect("threshold minor", "offered 8.2.1", "container.added", "update.found major,minor,patch")
	if len(report.Found) != 1 || len(report.Updates) != 1 {
		t.Errorf("report %+v", report)
	}
	c := d.get("id-web")
	if l := c.Result.Levels; l.Major.Tag != "9.0.0" || l.Minor.Tag != "8.2.1" || l.Patch.Tag != "8.1.3" ||
		c.UpdateKind.SemverDiff != sdk.DiffMinor {
		t.Errorf("levels %+v of %+v", l, c.UpdateKind)
	}
	d.publish("9.0.1")
	d.run()
	d.expect("a newer major one", "offered 8.2.1", "container.changed levels major")
	d.publish("8.2.2")
	d.run()
	d.expect("a newer minor one", "offered 8.2.2", "update.found minor")
	d.rules.Threshold = setting("digest")
	d.run()
	d.expect("nothing passes", "held 9.0.1 threshold", "container.changed decision")
	if report := d.run(); len(report.Updates)+len(report.Found) != 0 {
		t.Errorf("a held update is reported: %+v", report)
	}
	d.expect("nothing new", "held 9.0.1 threshold")
	d.rules.Threshold = setting("all")
	d.redecide()
	d.expect("another rule", "offered 9.0.1", "update.found")
	d.redecide()
	d.run()
	d.expect("nothing new", "offered 9.0.1")
	d.hub.tags["team/app"] = []string{"8.1.0"}
	d.run()
	d.expect("withdrawn", "none", "update.cleared")
	if found, err := d.store.Candidates(t.Context()); err != nil || len(found["local/web"].Candidates) != 0 {
		t.Errorf("candidates %+v, %v", found, err)
	}
}

// TestMinimumAgeDoesNotStarve publishes a version every day: the newest that is old
// enough is offered, and each is notified once.
func TestMinimumAgeDoesNotStarve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openRules(t, "team/app:1.0.0", "1.0.0")
		defer d.store.Close()
		d.rules.MinAge = setting(30 * 24 * time.Hour)
		offered := map[string]int{}
		for day := 1; day <= 120; day++ {
			time.Sleep(24 * time.Hour)
			d.publish(fmt.Sprintf("1.0.%d", day))
			d.run()
			d.redecide()
			for _, e := range d.said() {
				if strings.HasPrefix(e, "update.found") {
					offered[d.get("id-web").Result.Tag]++
				}
			}
			var age int
			c := d.get("id-web")
			fmt.Sscanf(c.Result.Tag, "1.0.%d", &age)
			switch age = day - age; {
			case day <= 30 &&
				(c.Decision.State != sdk.StateHeld || !c.IsCoolingDown || c.Delay != "30d" ||
					!c.CoolingDownUntil.After(time.Now())):
				t.Fatalf("day %d: %s", day, d.state())
			case day > 30 && (c.Decision.State != sdk.StateOffered || age < 30 || age > 36):
				t.Fatalf("day %d: %s, which is %d days old: %v", day, d.state(), age, d.candidates())
			}
		}
		for tag, times := range offered {
			if times != 1 {
				t.Errorf("%s was found %d times", tag, times)
			}
		}
		if n := len(offered); n < 5 {
			t.Errorf("%d versions were offered", n)
		}
		if found, err := d.store.Candidates(t.Context()); err != nil || len(found["local/web"].Candidates) > 3*maxPerLevel {
			t.Errorf("%d candidates are stored, %v", len(found["local/web"].Candidates), err)
		}
	})
}

// TestMinimumAgeOfARebuiltTag rebuilds a tag every day: the newest of its images that is old enough is offered.
func TestMinimumAgeOfARebuiltTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openRules(t, "team/app:latest")
		defer d.store.Close()
		d.rules.MinAge = setting(3 * 24 * time.Hour)
		build := func(letter string) {
			time.Sleep(24 * time.Hour)
			d.hub.digests["team/app:latest"] = digest(letter)
			m := manifest(letter, letter)
			m.Created = sdk.TimeOf(time.Now())
			d.hub.manifests[digest(letter)] = m
			d.run()
		}
		build("1")
		d.expect("what runs", "none", "container.added")
		build("2")
		d.expect("the first", "held latest age.min", "container.changed decision")
		build("3")
		build("4")
		d.expect("later ones", "held latest age.min")
		runs := func(letter string) {
			updated := container("web", "team/app:latest")
			updated.ID, updated.Image.ID, updated.Image.Digest.Repos = "id-web", digest("d"),
				[]string{"team/app@" + digest(letter)}
			d.engine.has(updated)
		}
		offers := func(letter string) {
			t.Helper()
			c := d.get("id-web")
			made := sdk.TimeOf(d.hub.manifests[digest(letter)].Created.Time)
			if c.Result.Digest != digest(letter) || c.UpdateKind.RemoteValue != digest(letter) ||
				!c.Result.Created.Equal(made.Time) {
				t.Errorf("result %+v, want %s of %s", c.Result, letter, made)
			}
			if aged, err := d.decisions.AgedDigest(t.Context(), &c); err != nil || aged != digest(letter) {
				t.Errorf("the digest whose age counts: %s, %v", aged, err)
			}
		}
		build("5")
		d.expect("old enough", "offered latest", "update.found")
		offers("2")
		build("6")
		d.expect("a day later", "offered latest", "update.found")
		offers("3")
		runs("2")
		d.run()
		d.expect("after an update to the one before", "offered latest", "container.changed", "update.found")
		offers("3")
		runs("3")
		build("7")
		d.expect("after its update", "offered latest", "container.changed", "update.found")
		offers("4")
		runs("7")
		build("8")
		d.expect("after an update to the newest", "held latest age.min", "container.changed", "container.changed decision")
		offers("8")
		known := func(letters ...string) {
			t.Helper()
			var digests []string
			for _, c := range d.candidates() {
				digests = append(digests, c.Digest[len(c.Digest)-1:])
			}
			if !slices.Equal(digests, letters) {
				t.Errorf("%q are known, want %q", digests, letters)
			}
		}
		d.run()
		known("8")
		build("9")
		known("9", "8")
		build("8")
		known("8") // what was behind the tag in between is not published any more
	})
}

// TestRedecide offers by itself what time alone held, once, without a request.
func TestRedecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openRules(t, "team/app:1.0.0", "1.0.0", "1.1.0")
		defer d.store.Close()
		d.rules.MinAge = setting(7 * 24 * time.Hour)
		d.run()
		d.expect("too young", "held 1.1.0 age.min", "container.added", "container.changed decision minor")
		d.hub.requests()
		until := d.get("id-web").Decision.Until
		if want := time.Now().Add(7 * 24 * time.Hour).Truncate(time.Millisecond); !until.Equal(want) {
			t.Fatalf("until %s, want %s", until, want)
		}
		time.Sleep(time.Until(until.Time) - time.Minute)
		d.redecide()
		d.expect("a minute before", "held 1.1.0 age.min")
		time.Sleep(time.Minute)
		d.redecide()
		d.expect("old enough", "offered 1.1.0", "update.found")
		if requests := d.hub.requests(); len(requests) != 0 {
			t.Errorf("requests %q", requests)
		}
		if report := d.run(); len(report.Found) != 1 {
			t.Errorf("the next check does not report it: %+v", report)
		}

		d.choices = []choice.Choice{{
			Subject: "local/web", Kind: choice.Snooze, Update: keyOf(d), Until: sdk.TimeOf(time.Now().Add(time.Hour)),
			Actor: "user ana", At: sdk.TimeOf(time.Now()),
		}}
		d.redecide()
		d.expect("snoozed", "held 1.1.0 choice.snooze", "container.changed decision")
		if c := d.get("id-web"); !c.IsSnoozed || c.SnoozedUntil.IsZero() || c.Decision.Reasons[0].Source != "user ana" {
			t.Errorf("%+v", c.Decision)
		}
		time.Sleep(time.Hour)
		d.redecide()
		d.expect("and over", "offered 1.1.0", "container.changed decision")
		if d.get("id-web").IsSnoozed {
			t.Error("still snoozed")
		}
		d.choices = []choice.Choice{{
			Subject: "local/web", Kind: choice.Skip, Update: keyOf(d), Actor: "user ana", At: sdk.TimeOf(time.Now()),
		}}
		d.redecide()
		d.expect("skipped", "held 1.1.0 choice.skip", "container.changed decision")
		time.Sleep(time.Hour)
		d.publish("1.2.0")
		d.run()
		d.expect("the next is too young", "held 1.2.0 age.min", "container.changed decision minor")
		time.Sleep(8 * 24 * time.Hour)
		d.redecide()
		d.expect("the next is offered", "offered 1.2.0", "update.found")
	})
}

// TestOfferedOnce: an update that gives way to a smaller one while it is snoozed or skipped
// was offered already when it is back.
func TestOfferedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openRules(t, "team/app:1.0.0", "1.0.0", "1.1.0", "2.0.0")
		defer d.store.Close()
		d.run()
		d.expect("found", "offered 2.0.0", "container.added", "update.found major,minor")
		since := d.get("id-web").Decision.OfferedAt
		chosen := choice.Choice{
			Subject: "local/web", Kind: choice.Snooze, Update: keyOf(d), Until: sdk.TimeOf(time.Now().Add(time.Hour)),
			Actor: "user ana", At: sdk.TimeOf(time.Now()),
		}
		d.choices = []choice.Choice{chosen}
		time.Sleep(time.Minute)
		d.redecide()
		d.expect("snoozed", "offered 1.1.0", "update.found")
		time.Sleep(time.Hour)
		d.redecide()
		d.expect("and over", "offered 2.0.0", "container.changed decision")
		if got := d.get("id-web").Decision.OfferedAt; !got.Equal(since.Time) {
			t.Errorf("offered at %s, want %s", got, since)
		}
		chosen.Kind, chosen.Until = choice.Skip, sdk.Time{}
		d.choices = []choice.Choice{chosen}
		d.run()
		d.expect("skipped", "offered 1.1.0", "container.changed decision")
		d.choices = nil
		d.run()
		d.expect("undone", "offered 2.0.0", "container.changed decision")

		recreated := container("web", "team/app:1.1.0")
		recreated.ID = "id-web"
		d.engine.has(recreated)
		d.run()
		d.expect("from another version", "offered 2.0.0", "container.changed", "update.found major")
	})
}

func keyOf(d *ruled) update.Key {
	c := d.get("id-web")
	return update.KeyOf(&c)
}

// TestDecisionDuringCheck: a choice that comes while registries are asked is not undone by the check.
func TestDecisionDuringCheck(t *testing.T) {
	d := openRules(t, "team/app:1.0.0", "1.0.0", "1.1.0")
	d.run()
	d.expect("found", "offered 1.1.0", "container.added", "update.found minor")
	d.hub.before = func(context.Context, string) error {
		d.choices = []choice.Choice{{
			Subject: "local/web", Kind: choice.Snooze, Update: keyOf(d), Actor: "user ana", At: noon,
		}}
		return d.decisions.Redecide(context.Background())
	}
	d.run()
	d.expect("chosen meanwhile", "held 1.1.0 choice.snooze", "container.changed decision")
}

// TestDecisionIsInherited: what was decided stays with a container that is recreated or renamed,
// and with one whose check fails.
func TestDecisionIsInherited(t *testing.T) {
	d := openRules(t, "team/app:1.0.0", "1.0.0", "1.1.0")
	d.rules.MinAge = setting(time.Hour)
	d.run()
	first, err := d.store.Candidates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.expect("young", "held 1.1.0 age.min", "container.added", "container.changed decision minor")
	d.hub.errs["tags team/app "] = errText("registry is down")
	d.run()
	d.said()
	recreated := container("web", "team/app:1.0.0")
	recreated.ID = "id-other"
	d.engine.has(recreated)
	d.run()
	if c := d.get("id-other"); c.Decision == nil || c.Decision.State != sdk.StateHeld || !c.IsCoolingDown {
		t.Errorf("recreated: %+v", c.Decision)
	}
	renamed := recreated
	renamed.Name = "site"
	d.engine.has(renamed)
	d.run()
	if c := d.get("id-other"); c.Decision == nil || c.Decision.State != sdk.StateHeld {
		t.Errorf("renamed: %+v", c.Decision)
	}
	delete(d.hub.errs, "tags team/app ")
	d.run()
	after, err := d.store.Candidates(t.Context())
	if err != nil || !after["local/site"].Candidates[0].FirstSeen.Equal(first["local/web"].Candidates[0].FirstSeen) {
		t.Errorf("known since %+v, then %+v: %v", first, after, err)
	}
}

// TestUpgradeKeepsOffers: what an earlier version has found was notified, and is not again.
func TestUpgradeKeepsOffers(t *testing.T) {
	d := openRules(t, "team/app:1.0.0", "1.0.0", "1.1.0")
	d.run()
	old := d.get("id-web")
	old.Decision, old.Result = nil, &sdk.Result{Tag: "1.1.0"}
	if err := d.store.Commit(t.Context(), event.Change{Put: []sdk.Container{old}}); err != nil {
		t.Fatal(err)
	}
	d.said()
	d.run()
	d.expect("the same update", "offered 1.1.0")
	if c := d.get("id-web"); c.Decision.OfferedAt.IsZero() || c.Result.Levels.Minor.Tag != "1.1.0" {
		t.Errorf("%+v, %+v", c.Decision, c.Result)
	}
	d.rules.MinAge = setting(1000 * time.Hour)
	d.redecide()
	d.expect("held now", "held 1.1.0 age.min", "container.changed decision")
	d.rules.MinAge = setting(time.Duration(0))
	d.redecide()
	d.expect("and offered again", "offered 1.1.0", "container.changed decision")
}
