package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// made publishes a version whose image is so old.
func (d *ruled) made(tag string, age time.Duration) {
	digest := digest(fmt.Sprintf("%x", len(d.hub.digests)+2))
	d.publish(tag)
	d.hub.digests["team/app:"+tag] = digest
	d.hub.manifests[digest] = registry.Manifest{Digest: digest, Created: sdk.TimeOf(time.Now().Add(-age))}
}

// TestAgesComeFromTheRegistry: the newest version that is old enough is offered at once, and its
// date costs as few requests as possible, once.
func TestAgesComeFromTheRegistry(t *testing.T) {
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		d := openRules(t, "team/app:1.0.0", "1.0.0")
		defer d.store.Close()
		var limits []registry.Limit
		d.spares(func() []registry.Limit { return limits })
		time.Sleep(1000 * day)
		for tag, age := range map[string]time.Duration{
			"1.1.0": 40 * day, "1.2.0": 9 * day, "1.3.0": 3 * day, "2.0.0": 20 * day,
		} {
			d.made(tag, age)
		}
		d.rules.Threshold = setting("minor")
		d.run()
		if got := d.hub.requests(); len(got) != 1 {
			t.Errorf("requests without a rule about ages: %q", got)
		}
		d.rules.MinAge = setting(7 * day)
		d.run()
		if state := d.state(); state != "offered 1.2.0" {
			t.Errorf("state %s", state)
		}
		got := d.hub.requests()
		for _, want := range []string{"1.2.0", "1.3.0"} {
			if !slices.Contains(got, "resolve team/app:"+want) {
				t.Errorf("requests %q have not the date of %s", got, want)
			}
		}
		if len(got) != 5 { // the tags, and two for each date
			t.Errorf("requests %q", got)
		}
		time.Sleep(time.Hour)
		d.run()
		if got := d.hub.requests(); !slices.Equal(got, []string{"resolve team/app:1.2.0", "tags team/app"}) {
			t.Errorf("requests of the next check: %q", got)
		}
		time.Sleep(4 * day)
		d.redecide()
		if state := d.state(); state != "offered 1.3.0" {
			t.Errorf("4 days later: %s", state)
		}

	})
}

// TestAgesNeedRequestsToSpare: dates are not asked of a host that has few requests left, but later.
func TestAgesNeedRequestsToSpare(t *testing.T) {
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		d := openRules(t, "team/app:1.0.0", "1.0.0")
		defer d.store.Close()
		limits := []registry.Limit{{Host: "registry-1.docker.io", Limit: 100, Remaining: 10, Window: time.Hour,
			At: sdk.TimeOf(time.Now())}}
		d.spares(func() []registry.Limit { return limits })
		d.rules.MinAge = setting(7 * day)
		d.made("1.4.0", 30*day)
		d.run()
		if got := d.hub.requests(); !slices.Equal(got, []string{"resolve team/app:1.4.0", "tags team/app"}) {
			t.Errorf("requests to a host with little to spare: %q", got)
		}
		c := d.get("id-web")
		if state := d.state(); state != "held 1.4.0 age.min" || c.Result.Levels.Minor.Tag != "1.4.0" ||
			!c.Result.Levels.Minor.Created.IsZero() {
			t.Errorf("%s, levels %+v", state, c.Result.Levels)
		}
		limits = nil
		d.run()
		if state := d.state(); state != "offered 1.4.0" {
			t.Errorf("with requests to spare: %s", state)
		}
	})
}

// TestAgeOfWhatAppears: what is published while Dogwatch watches counts from when it was first seen, however old
// its image says that it is, and nobody is asked for its date. What was there before is as old as its image says.
func TestAgeOfWhatAppears(t *testing.T) {
	const day = 24 * time.Hour
	old := "team/app:1.0.0"
	for _, test := range []struct {
		name   string
		image  string
		change func(*ruled, *sdk.Container)
		want   string
	}{
		{"a tag", old, func(d *ruled, _ *sdk.Container) { d.made("1.1.0", 400*day) }, "held 1.1.0 age.min"},
		{"a tag when the checker begins again", old, func(d *ruled, _ *sdk.Container) {
			d.made("1.1.0", 400*day)
			d.restart()
		}, "held 1.1.0 age.min"},
		{"a tag as the container is updated", old, func(d *ruled, c *sdk.Container) {
			d.made("1.2.0", 400*day)
			c.Image.Tag.Value = "1.1.0"
		}, "held 1.2.0 age.min"},
		{"labels of the image", old, func(d *ruled, c *sdk.Container) {
			d.made("1.1.0", 400*day)
			c.Labels = map[string]string{"dogwatch.tag.include": `^1\.`}
			c.ImageLabels = []string{"dogwatch.tag.include"}
		}, "held 1.1.0 age.min"},
		{"labels of the operator", old, func(d *ruled, c *sdk.Container) {
			d.made("1.1.0", 400*day)
			c.Labels = map[string]string{"dogwatch.tag.include": `^1\.`}
		}, "offered 1.1.0"},
		{"labels of the operator that the image has by now, too", old, func(d *ruled, c *sdk.Container) {
			c.Labels = map[string]string{"dogwatch.tag.include": `^1\.`}
			d.run()
			d.made("1.1.0", 400*day)
			c.ImageLabels = []string{"dogwatch.tag.include"}
		}, "held 1.1.0 age.min"},
		{"another family of tags", "team/app:1.0.0-alpine", func(d *ruled, c *sdk.Container) {
			d.made("1.1.0", 400*day)
			c.Image.Tag.Value = "1.0.0"
		}, "offered 1.1.0"},
		{"another repository", "team/other:1.0.0", func(d *ruled, c *sdk.Container) {
			d.made("1.1.0", 400*day)
			c.Image.Name = "team/app"
		}, "offered 1.1.0"},
		{"an image behind the tag", "team/app:latest", func(d *ruled, _ *sdk.Container) {
			d.made("latest", 400*day)
		}, "held latest age.min"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := openRules(t, test.image, "1.0.0", "1.0.0-alpine")
				defer d.store.Close()
				d.hub.tags["team/app"] = []string{"1.0.0", "1.0.0-alpine"}
				d.hub.digests["team/app:latest"] = digest("1")
				d.spares(func() []registry.Limit { return nil })
				time.Sleep(1000 * day)
				d.rules.MinAge = setting(7 * day)
				d.run()
				if state := d.state(); state != "none" {
					t.Fatalf("before: %s", state)
				}
				time.Sleep(time.Hour)
				d.hub.requests()
				test.change(d, &d.engine.list[0])
				d.run()
				if state := d.state(); state != test.want {
					t.Errorf("%s, want %s", state, test.want)
				}
				if got := strings.Join(d.hub.requests(), "\n"); test.want == "held 1.1.0 age.min" &&
					strings.Contains(got, "manifest") {
					t.Errorf("requests for a date that does not count:\n%s", got)
				}
				time.Sleep(7 * day)
				d.run()
				if state := d.state(); !strings.HasPrefix(state, "offered ") {
					t.Errorf("a week later: %s", state)
				}
			})
		})
	}
}

// TestAgeOfMovedTags: whoever publishes a version can move its tag to another image once its age has passed. The age
// is that of the image behind the tag, which begins anew, and what is carried out is the image that has the age.
func TestAgeOfMovedTags(t *testing.T) {
	const day = 24 * time.Hour
	type step struct {
		after  time.Duration
		tag    string // is moved to letter
		letter string
		want   string
		aged   string // of what is offered or held
	}
	const waits, offered = "held 1.2.0 age.min", "offered 1.2.0"
	for _, test := range []struct {
		name   string
		before bool // whether 1.2.0 was there before the first check, and 90 days old
		rule   time.Duration
		steps  []step
	}{
		{"it is not moved", false, 0,
			[]step{{0, "", "", waits, "a"}, {6 * day, "", "", waits, "a"}, {day, "", "", offered, "a"}}},
		{"as it waits", false, 0,
			[]step{{0, "", "", waits, "a"}, {6 * day, "1.2.0", "b", waits, "b"}, {day, "", "", waits, "b"},
				{6 * day, "", "", offered, "b"}}},
		{"when its age has passed", false, 0, []step{{0, "", "", waits, "a"}, {7 * day, "1.2.0", "b", waits, "b"},
			{7 * day, "", "", offered, "b"}}},
		{"after it was offered", false, 0, []step{{0, "", "", waits, "a"}, {7 * day, "", "", offered, "a"},
			{day, "1.2.0", "b", waits, "b"}, {6 * day, "1.2.0", "a", waits, "a"}, {7 * day, "", "", offered, "a"}}},
		{"one that was there before", true, 0, []step{{0, "", "", offered, "a"}, {day, "1.2.0", "b", waits, "b"},
			{7 * day, "", "", offered, "b"}}},
		{"before a rule asks for an age", false, 3 * day, []step{{0, "", "", offered, ""}, {day, "1.2.0", "b", offered, ""},
			{2 * day, "", "", waits, "b"}, {7 * day, "", "", offered, "b"}}},
		{"to a version that is older", false, 0, []step{{0, "", "", waits, "a"}, {7 * day, "", "", offered, "a"},
			{day, "1.1.5", "c", offered, "a"}, {8 * day, "1.2.0", "b", "offered 1.1.5", "c"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := openRules(t, "team/app:1.0.0", "1.0.0")
				defer d.store.Close()
				d.spares(func() []registry.Limit { return nil })
				time.Sleep(1000 * day)
				d.facts.AgesByDigest = true
				move := func(tag, letter string) {
					if !slices.Contains(d.hub.tags["team/app"], tag) {
						d.publish(tag)
					}
					d.hub.digests["team/app:"+tag] = digest(letter)
					m := registry.Manifest{Digest: digest(letter), Created: sdk.TimeOf(time.Now().Add(-90 * day))}
					d.hub.manifests[digest(letter)] = m
				}
				if test.before {
					move("1.2.0", "a")
				} else {
					d.run()
					move("1.2.0", "a")
				}
				began, moved := time.Now(), false
				for i, s := range test.steps {
					time.Sleep(s.after)
					if s.tag != "" {
						move(s.tag, s.letter)
					}
					if time.Since(began) >= test.rule {
						d.rules.MinAge = setting(7 * day)
					}
					d.run()
					c := d.get("id-web")
					aged, err := d.decisions.AgedDigest(t.Context(), &c)
					want := ""
					if s.aged != "" {
						want = digest(s.aged)
					}
					if state := d.state(); state != s.want || aged != want || err != nil {
						t.Fatalf("step %d: %s of %s (%v), want %s of %s", i, state, aged, err, s.want, want)
					}
					moved = s.want == waits && (moved || s.letter != "")
					if s.want == waits && strings.Contains(c.Decision.Reasons[0].Text, "moved to another") != moved {
						t.Errorf("step %d: %+v", i, c.Decision.Reasons)
					}
				}
				d.rules.MinAge = setting[time.Duration](0)
				d.redecide()
				c := d.get("id-web")
				if aged, err := d.decisions.AgedDigest(t.Context(), &c); aged != "" || err != nil {
					t.Errorf("without a rule: %s (%v)", aged, err)
				}
			})
		})
	}
}

// TestAgeBehindASkippedVersion: what comes behind a version that is skipped has the age of the image that was read.
func TestAgeBehindASkippedVersion(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		name  string
		moved bool
		want  string
	}{{"the same image", false, sdk.StateOffered}, {"another image", true, sdk.StateHeld}} {
		t.Run(test.name, func(t *testing.T) {
			r := openReading(t, func(_ *fixture, o *options) {
				o.Decide.Facts = func(sdk.Container) policy.Facts { return policy.Facts{AgesByDigest: true} }
			})
			r.rules.MinAge = setting(7 * day)
			r.at = r.at.Add(-30 * day)
			r.publish("", "1.0.0", "1.0.1", "1.2.0")
			r.at = r.at.Add(30 * day)
			if tag, _ := r.offered(); tag != "1.2.0" || r.get("id-web").Decision.State != sdk.StateOffered {
				t.Fatalf("%s is found", tag)
			}
			if test.moved {
				r.publish("", "1.0.1")
			}
			r.rules.Skip.Value = exactly("1.2.0")
			r.at = r.at.Add(time.Hour)
			tag, requests := r.offered()
			if got := r.get("id-web").Decision; tag != "1.0.1" || got.State != test.want ||
				!slices.Equal(requests, []string{"resolve team/app:1.0.1"}) {
				t.Errorf("%s is %+v after %q", tag, got, requests)
			}
		})
	}
}

// TestAgeOfWhatWasNotRead: versions of which only the newest was read, or the one that was offered. Is that withdrawn,
// the next is read for the first time, and may have been moved since to an image that says it is old.
func TestAgeOfWhatWasNotRead(t *testing.T) {
	const day = 24 * time.Hour
	const held, offered = "held 1.2.0 age.min", "offered 1.2.0"
	for _, test := range []struct {
		name     string
		appears  bool          // after the first check
		rule     time.Duration // when it is set
		withdraw time.Duration // when 1.3.0 is withdrawn
		above    time.Duration // when 2.0.0 is withdrawn, which is offered before
		moves    bool          // whether another container notices that 1.2.0 is moved, a day before
		age      time.Duration // as the image says to which it is moved
		want     string
		until    time.Duration // when 1.2.0 is offered
	}{
		{"after the first check", false, 0, time.Hour, 0, false, 100 * day, held, 7*day + time.Hour},
		{"after the rule is set", false, day, day + time.Hour, 0, false, 100 * day, held, 8*day + time.Hour},
		{"as the rule is set", false, day, day, 0, false, 100 * day, offered, day},
		{"as the rule is set, and it appeared", true, day, day, 0, false, 100 * day, held, 8 * day},
		{"as the rule is set, without a date", false, day, day, 0, false, 5000 * day, held, 8 * day},
		{"long after the rule is set", false, day, 30 * day, 0, false, 100 * day, held, 37 * day},
		{"behind another version", false, day, 30 * day, 33 * day, false, 100 * day, held, 37 * day},
		{"another container noticed", false, 0, 3 * day, 0, true, 100 * day, held, 9 * day},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := openRules(t, "team/app:1.0.0", "1.0.0")
				defer d.store.Close()
				d.opt.Queries.ReadCandidates = true
				d.spares(func() []registry.Limit { return nil })
				time.Sleep(1000 * day)
				d.facts.AgesByDigest = true
				if test.moves {
					other := container("other", "team/app:1.0.0")
					other.Labels = map[string]string{"dogwatch.tag.exclude": `^1\.3\.`}
					d.engine.has(d.engine.list[0], other)
				}
				if test.appears {
					d.run()
					time.Sleep(time.Hour)
				}
				d.made("1.2.0", 90*day)
				d.made("1.3.0", 80*day)
				if test.above > 0 {
					d.made("2.0.0", 70*day)
				}
				withdraw := func(tag string) {
					d.hub.tags["team/app"] = slices.DeleteFunc(d.hub.tags["team/app"], func(t string) bool { return t == tag })
				}
				for at := time.Duration(0); at <= test.until; at += time.Hour {
					if at == test.rule {
						d.rules.MinAge = setting(7 * day)
					}
					if test.moves && at == test.withdraw-day || !test.moves && at == test.withdraw {
						withdraw("1.2.0")
						d.made("1.2.0", test.age)
					}
					if at == test.withdraw {
						withdraw("1.3.0")
					}
					if at == test.above {
						withdraw("2.0.0")
					}
					d.run()
					want := test.want
					if at == test.until {
						want = offered
					}
					if state := d.state(); at >= max(test.withdraw, test.above) && state != want {
						t.Fatalf("after %s: %s, want %s", at, state, want)
					}
					time.Sleep(time.Hour)
				}
				d.opt.Queries.Cache = forgetful{}
				d.restart()
				d.run()
				if state := d.state(); state != offered {
					t.Errorf("when nothing of the registry is remembered: %s", state)
				}
			})
		})
	}
}

// exactly is a pattern of one text.
type exactly string

func (e exactly) Match(text string) bool { return text == string(e) }
func (e exactly) String() string         { return string(e) }

// TestMovedTagIsReadAgain: a version that is moved to what is no image is offered no longer.
func TestMovedTagIsReadAgain(t *testing.T) {
	r := openReading(t)
	r.rules.MinAge = setting(24 * time.Hour)
	r.publish("", "1.0.0")
	r.offered()
	r.publish("", "1.1.0")
	if tag, _ := r.offered(); tag != "1.1.0" {
		t.Fatalf("%q is found", tag)
	}
	r.publish(chart, "1.1.0")
	for range 2 {
		r.at = r.at.Add(time.Hour)
		r.offered()
	}
	if tag, _ := r.offered(); tag != "" {
		t.Errorf("%s is found, which is a chart by now", tag)
	}
}

func TestExplainNamesRulesAndDecision(t *testing.T) {
	d := openRules(t, "team/app:8.1.0", "8.1.0", "8.2.1", "9.0.0")
	d.rules.Threshold = policy.Setting[string]{Value: "minor", Source: "label dogwatch.update.threshold"}
	d.rules.MinAge = policy.Setting[time.Duration]{Value: 72 * time.Hour, Source: "policies.careful.minage"}
	d.run()
	why := d.Explain(t.Context(), d.get("id-web"))
	for _, want := range []labels.Rule{
		{Name: "update.threshold", Value: "minor", Source: "label dogwatch.update.threshold"},
		{Name: "update.minage", Value: "3d", Source: "policies.careful.minage"},
	} {
		if !slices.Contains(why.Rules, want) {
			t.Errorf("rules %+v", why.Rules)
		}
	}
	contains(t, "summary", strings.Join(phrase.Strings(why.Summary), "\n"), "can be updated to 8.2.1 (minor)",
		"Newer as well: 9.0.0 (major).", "The update is held: 8.2.1 was first seen on ", "so it waits until ", " (policy careful).")
	if why.Decision == nil || why.Decision.State != sdk.StateHeld {
		t.Errorf("decision %+v", why.Decision)
	}
}

// TestThresholdDigest: where only new images of the same tag are wanted, they are
// looked for although there are newer tags.
func TestThresholdDigest(t *testing.T) {
	d := openRules(t, "team/app:1.2", "1.2", "1.2.3", "1.3")
	d.hub.digests["team/app:1.2"] = digest("2")
	d.hub.manifests[digest("2")] = manifest("2", "2")
	d.rules.Threshold = setting("digest")
	d.run()
	if c := d.get("id-web"); d.state() != "offered 1.2" || c.UpdateKind.Kind != sdk.KindDigest ||
		c.UpdateKind.RemoteValue != digest("2") || c.Result.Levels.Minor.Tag != "1.3" {
		t.Errorf("%s: %+v", d.state(), c.UpdateKind)
	}
}
