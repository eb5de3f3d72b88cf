package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/policy"
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
		NewDater(d.Checker, func(context.Context, string) []registry.Limit { return limits })
		time.Sleep(1000 * day)
		for tag, age := range map[string]time.Duration{"1.1.0": 40 * day, "1.2.0": 9 * day, "1.3.0": 3 * day, "2.0.0": 20 * day} {
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
		d.run()
		if got := d.hub.requests(); len(got) != 1 {
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
		NewDater(d.Checker, func(context.Context, string) []registry.Limit { return limits })
		d.rules.MinAge = setting(7 * day)
		d.made("1.4.0", 30*day)
		d.run()
		if got := d.hub.requests(); len(got) != 1 {
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
			d.Checker.found = nil
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
				NewDater(d.Checker, func(context.Context, string) []registry.Limit { return nil })
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
					strings.Contains(got, "resolve") {
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

func TestExplainNamesRulesAndDecision(t *testing.T) {
	d := openRules(t, "team/app:8.1.0", "8.1.0", "8.2.1", "9.0.0")
	d.rules.Threshold = policy.Setting[string]{Value: "minor", Source: "label dogwatch.update.threshold"}
	d.rules.MinAge = policy.Setting[time.Duration]{Value: 72 * time.Hour, Source: "policies.careful.minage"}
	d.run()
	why := d.Explain(t.Context(), d.get("id-web"))
	for _, want := range []Rule{{"update.threshold", "minor", "label dogwatch.update.threshold"}, {"update.minage", "3d", "policies.careful.minage"}} {
		if !slices.Contains(why.Rules, want) {
			t.Errorf("rules %+v", why.Rules)
		}
	}
	contains(t, "summary", strings.Join(why.Summary, "\n"), "can be updated to 8.2.1 (minor)", "Newer as well: 9.0.0 (major).", "The update is held: 8.2.1 was first seen", "(policies.careful.minage), until ")
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
	if c := d.get("id-web"); d.state() != "offered 1.2" || c.UpdateKind.Kind != sdk.KindDigest || c.UpdateKind.RemoteValue != digest("2") || c.Result.Levels.Minor.Tag != "1.3" {
		t.Errorf("%s: %+v", d.state(), c.UpdateKind)
	}
}
