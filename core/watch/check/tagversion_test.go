package check

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// rebuild makes a container run latest of a repository without version labels, behind which
// there is another image now. 1.27.2 is what runs, 1.28.0 what is offered.
func (d *dating) rebuild() *fake {
	hub := d.host("r.example")
	hub.tags["team/web"] = []string{"latest", "1.26.0", "1.27.2", "1.28.0", "1.28"}
	hub.digests["team/web:latest"], hub.digests["team/web:1.28.0"], hub.digests["team/web:1.28"] = digest("2"),
		digest("2"), digest("2")
	hub.digests["team/web:1.27.2"], hub.digests["team/web:1.26.0"] = digest("1"), digest("0")
	hub.manifests[digest("2")] = registry.Manifest{Digest: digest("3")}
	d.engine.has(container("web", "r.example/team/web:latest"))
	d.check()
	return hub
}

// lookAt opens the page of a container and waits until nothing happens any more.
func (d *dating) lookAt(id string) {
	c := d.get(id)
	d.WantVersions(&c)
	synctest.Wait()
}

func versionsOf(c sdk.Container) string {
	return fmt.Sprintf("%s %s %s", c.Image.Version, c.Result.Version, c.UpdateKind.SemverDiff)
}

// TestVersionOfTagWithSameDigest: checks make no request for it, the page of the container
// few, and what was found stays.
func TestVersionOfTagWithSameDigest(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.rebuild()
		equal(t, "requests of a check", hub.requests(),
			[]string{"manifest team/web@" + digest("2") + " linux/amd64", "resolve team/web:latest"})
		if got := versionsOf(d.get("id-web")); got != "  " {
			t.Errorf("before somebody looks: %q", got)
		}
		_, last := d.events(0)

		d.lookAt("id-web")
		equal(t, "requests of a page view", hub.requests(),
			[]string{"resolve team/web:1.27.2", "resolve team/web:1.28", "resolve team/web:1.28.0", "tags team/web",
				"tags team/web"})
		c := d.get("id-web")
		if got := versionsOf(c); got != "1.27.2 1.28.0 minor" || c.UpdateKind.Kind != sdk.KindDigest {
			t.Errorf("after it: %q, %+v", got, c.UpdateKind)
		}
		events, _ := d.events(last)
		equal(t, "events", events, []string{"container.changed local/web", "container.changed local/web"})

		d.lookAt("id-web")
		equal(t, "requests of another page view", hub.requests(), nil)
		report := d.check()
		equal(t, "requests of the next check", hub.requests(), []string{"resolve team/web:latest"})
		if got := versionsOf(d.get("id-web")); got != "1.27.2 1.28.0 minor" || len(report.Found) != 0 {
			t.Errorf("after another check: %q, %+v", got, report)
		}

		// The one that replaces it runs what was offered.
		next := container("web", "r.example/team/web:latest")
		next.ID, next.Image.Digest.Repo, next.Image.Digest.Repos = "id-next", digest("2"),
			[]string{"r.example/team/web@" + digest("2")}
		d.engine.has(next)
		d.check()
		if c := d.get("id-next"); c.Image.Version != "1.28.0" || c.UpdateAvailable {
			t.Errorf("after the update: %+v", c.Image)
		}
	})
}

// TestVersionOfTagThatRuns: a container of the same repository that runs a version says what its digest is.
func TestVersionOfTagThatRuns(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.host("r.example")
		hub.tags["team/web"] = []string{"latest", "1.27.2"}
		hub.digests["team/web:latest"] = digest("1")
		d.engine.has(container("web", "r.example/team/web:latest"), container("fixed", "r.example/team/web:1.27.2"))
		d.check()
		if got := d.get("id-web").Image.Version; got != "1.27.2" {
			t.Errorf("the version is %q", got)
		}
		equal(t, "requests", hub.requests(), []string{"resolve team/web:latest", "tags team/web"})
	})
}

// TestVersionHoldsUpdate: a threshold counts once the step is known.
func TestVersionHoldsUpdate(t *testing.T) {
	date(t, func(d *dating) {
		d.rebuild()
		if c := d.get("id-web"); c.Decision.State != sdk.StateOffered {
			t.Fatalf("while its step is unknown, it is %+v", c.Decision)
		}
		d.lookAt("id-web")
		if c := d.get("id-web"); c.Decision.State != sdk.StateHeld {
			t.Errorf("a minor update is %+v", c.Decision)
		}
		d.check()
		if c := d.get("id-web"); c.Decision.State != sdk.StateHeld || versionsOf(c) != "1.27.2 1.28.0 minor" {
			t.Errorf("after a check it is %+v, %s", c.Decision, versionsOf(c))
		}
	}, func(_ *fixture, o *options) {
		o.Decide.Rules = func(sdk.Container) policy.Rules {
			return policy.Rules{Threshold: policy.Setting[string]{Value: "patch", Source: "a test"}}
		}
	})
}

// TestVersionSearchIsBounded: many tags are resolved a few at a time, and not again for a day.
func TestVersionSearchIsBounded(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.rebuild()
		hub.tags["team/web"] = nil
		for i := range 20 {
			name := fmt.Sprintf("2.%d.0", i)
			hub.tags["team/web"] = append(hub.tags["team/web"], name)
			hub.digests["team/web:"+name] = digest("9") + fmt.Sprint(i)
		}
		hub.requests()
		for _, look := range []struct {
			after time.Duration
			want  int // two digests are looked for: a list of tags and tagsPerVersion each
		}{{0, 2 + 2*tagsPerVersion}, {time.Minute, 0}, {versionPause, 2 + 20 - 2*tagsPerVersion}, {versionPause, 0}} {
			time.Sleep(look.after)
			d.lookAt("id-web")
			if got := len(hub.requests()); got != look.want {
				t.Errorf("%s later: %d requests, want %d", look.after, got, look.want)
			}
		}
		if got := versionsOf(d.get("id-web")); got != "  " {
			t.Errorf("found %q", got)
		}
	})
}

// TestVersionSearchSparesLimits: a host with little to spare is left alone.
func TestVersionSearchSparesLimits(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.rebuild()
		hub.requests()
		id := d.get("id-web").Image.Registry.Name
		d.said[id] = []registry.Limit{{Host: "r.example", Limit: 100, Remaining: 49, At: sdk.TimeOf(time.Now())}}
		d.lookAt("id-web")
		equal(t, "requests", hub.requests(), nil)
	})
}

func TestUnversioned(t *testing.T) {
	for about, test := range map[string]struct {
		change func(*sdk.Container)
		want   int
	}{
		"rebuilt":          {func(*sdk.Container) {}, 2},
		"running is known": {func(c *sdk.Container) { c.Image.Version = "1.0" }, 1},
		"both known":       {func(c *sdk.Container) { c.Image.Version, c.Result.Version = "1.0", "1.1" }, 0},
		"up to date":       {func(c *sdk.Container) { c.UpdateAvailable = false }, 1},
		"a version":        {func(c *sdk.Container) { c.Image.Tag = sdk.Tag{Value: "1.0.0", Semver: true} }, 0},
		"a version that moves": {func(c *sdk.Container) {
			c.Image.Tag = sdk.Tag{Value: "1", Semver: true, Floating: true}
		}, 2},
		"not watched":   {func(c *sdk.Container) { c.Image.Digest.Watch = false }, 0},
		"built here":    {func(c *sdk.Container) { c.Image.Digest.Repo, c.UpdateAvailable = "", false }, 0},
		"only a digest": {func(c *sdk.Container) { c.Image.Tag.Value = digest("1") }, 0},
	} {
		c := sdk.Container{
			Image:  sdk.Image{Tag: sdk.Tag{Value: "latest"}, Digest: sdk.Digest{Watch: true, Repo: digest("1")}},
			Result: &sdk.Result{Tag: "latest", Digest: digest("2")}, UpdateAvailable: true,
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindDigest},
		}
		if test.change(&c); len(candidate.Unversioned(&c)) != test.want {
			t.Errorf("%s: %q", about, candidate.Unversioned(&c))
		}
	}
}
