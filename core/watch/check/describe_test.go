package check

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// describe describes tags of one image.
func describe(index, image string, pushed time.Time, names ...string) (tags []registry.DescribedTag) {
	for _, name := range names {
		tags = append(tags, registry.DescribedTag{
			Name: name, Digest: digest(index), Image: digest(image), Pushed: sdk.TimeOf(pushed),
		})
	}
	return tags
}

// TestDescribedDigest: a changed digest is compared by what the registry says of its tags. Where
// that leaves open whether the image is another one, or is about another digest, its manifest is read.
func TestDescribedDigest(t *testing.T) {
	const (
		list     = "describe library/nginx"
		one      = "describe library/nginx:latest"
		resolve  = "resolve library/nginx:latest"
		manifest = "manifest library/nginx@"
	)
	read := manifest + digest("2") + " linux/amd64"
	tests := []struct {
		name string
		// seen is whether the running image was behind the tag in an earlier check.
		seen      bool
		described func(now time.Time) []registry.DescribedTag
		single    func(now time.Time) []registry.DescribedTag
		err       error
		change    func(c *sdk.Container)
		threshold string
		requests  []string
		update    bool
		version   string
	}{
		{name: "pushed since", seen: true, update: true, requests: []string{list, resolve},
			described: func(now time.Time) []registry.DescribedTag { return describe("2", "p", now, "latest") }},
		{name: "a version has the digest", seen: true, update: true, version: "1.27.3", requests: []string{list, resolve},
			described: func(now time.Time) []registry.DescribedTag {
				return describe("2", "p", now, "1.27", "1", "latest", "1.27.3", "1.27.3-alpine", "stable")
			}},
		{name: "not among the newest", seen: true, update: true, requests: []string{list, one, resolve},
			described: func(now time.Time) []registry.DescribedTag { return describe("3", "p", now, "edge") },
			single:    func(now time.Time) []registry.DescribedTag { return describe("2", "p", now, "latest") }},
		{name: "the image runs, below another index", seen: true, requests: []string{list, resolve},
			described: func(now time.Time) []registry.DescribedTag { return describe("2", "9", now, "latest") },
			change: func(c *sdk.Container) {
				c.Image.Digest.Repos = append(c.Image.Digest.Repos, "nginx@"+digest("9"))
			}},
		{name: "another tag has the old index with the same image", requests: []string{list, resolve},
			described: func(now time.Time) []registry.DescribedTag {
				return append(describe("2", "p", now, "latest"), describe("1", "p", now, "1.27.2")...)
			}},
		{name: "another tag has the old index with another image", update: true, requests: []string{list, resolve},
			described: func(now time.Time) []registry.DescribedTag {
				return append(describe("2", "p", now, "latest"), describe("1", "8", now, "1.27.2")...)
			}},
		{name: "pushed before the running one was seen", seen: true, update: true, requests: []string{list, read, resolve},
			described: func(now time.Time) []registry.DescribedTag {
				return describe("2", "p", now.Add(-48*time.Hour), "latest")
			}},
		{name: "pushed at a time that is not known", seen: true, update: true, requests: []string{list, read, resolve},
			described: func(time.Time) []registry.DescribedTag { return describe("2", "p", time.Time{}, "latest") }},
		{name: "never seen behind its tag", update: true, requests: []string{list, read, resolve},
			described: func(now time.Time) []registry.DescribedTag { return describe("2", "p", now, "latest") }},
		{name: "pushed since the container was created", update: true, requests: []string{list, resolve},
			described: func(now time.Time) []registry.DescribedTag { return describe("2", "p", now, "latest") },
			change:    func(c *sdk.Container) { c.Created = sdk.TimeOf(time.Now()) }},
		{name: "pushed before the container was created", update: true, requests: []string{list, read, resolve},
			described: func(now time.Time) []registry.DescribedTag {
				return describe("2", "p", now.Add(-48*time.Hour), "latest")
			},
			change: func(c *sdk.Container) { c.Created = sdk.TimeOf(time.Now()) }},
		{name: "a container created before its image", update: true, requests: []string{list, read, resolve},
			described: func(now time.Time) []registry.DescribedTag { return describe("2", "p", now, "latest") },
			change: func(c *sdk.Container) {
				c.Created, c.Image.Created = sdk.TimeOf(time.Now().Add(-time.Hour)), sdk.TimeOf(time.Now())
			}},
		{name: "behind the digest", seen: true, update: true, requests: []string{list, read, resolve},
			described: func(now time.Time) []registry.DescribedTag { return describe("1", "8", now, "latest") }},
		{name: "without the image", seen: true, update: true, requests: []string{list, read, resolve},
			described: func(now time.Time) []registry.DescribedTag {
				return []registry.DescribedTag{{Name: "latest", Digest: digest("2"), Pushed: sdk.TimeOf(now)}}
			}},
		{name: "nothing described", seen: true, update: true, requests: []string{list, read, resolve},
			described: func(time.Time) []registry.DescribedTag { return nil }},
		{name: "a refusal", seen: true, update: true, requests: []string{list, read, resolve},
			err:       sdk.RateLimited(time.Hour, errors.New("slow down")),
			described: func(time.Time) []registry.DescribedTag { return nil }},
		{name: "a threshold that no tag says the step of", seen: true, update: true, version: "2.0.0",
			requests:  []string{list, read, resolve},
			described: func(now time.Time) []registry.DescribedTag { return describe("2", "p", now, "latest") },
			change:    func(c *sdk.Container) { c.Labels[versionLabel] = "1.0.0" },
			threshold: "minor"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, func(_ *fixture, o *options) {
					o.Decide.Rules = func(sdk.Container) policy.Rules { return policy.Rules{Threshold: setting(test.threshold)} }
				})
				defer w.store.Close()
				w.hub.described = map[string][]registry.DescribedTag{}
				c := container("web", "nginx:latest", "dogwatch.watch.digest=true")
				if test.change != nil {
					test.change(&c)
				}
				w.engine.has(c)
				w.hub.manifests[digest("2")] = registry.Manifest{Digest: digest("p"), Config: digest("q"), Version: "2.0.0"}
				if test.seen {
					w.hub.digests["library/nginx:latest"] = digest("1")
					w.run()
					equal(t, "requests while nothing changes", w.hub.requests(), []string{resolve})
				}
				time.Sleep(time.Hour)
				w.hub.digests["library/nginx:latest"] = digest("2")
				w.hub.described["library/nginx"] = test.described(time.Now())
				if test.single != nil {
					w.hub.described["library/nginx:latest"] = test.single(time.Now())
				}
				w.hub.errs[list] = test.err
				time.Sleep(time.Hour)
				w.run()
				equal(t, "requests", w.hub.requests(), test.requests)
				check := func(when string) {
					t.Helper()
					got := w.get("id-web")
					if got.Check.State != sdk.CheckOK || got.UpdateAvailable != test.update ||
						got.Result.Digest != digest("2") || test.version != "" && got.Result.Version != test.version {
						t.Errorf("%s: available %t, %+v, %+v; want %t, %q", when, got.UpdateAvailable, got.Check,
							got.Result, test.update, test.version)
					}
				}
				check("the first time")
				time.Sleep(time.Hour)
				w.restart() // what was found is in the store
				w.run()
				equal(t, "requests of the next check", w.hub.requests(), []string{resolve})
				check("the next time")
			})
		})
	}
}

// An update that was taken makes its image known, so that the next index needs no date.
func TestDescribedImageIsKnownOnceItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		w.hub.described = map[string][]registry.DescribedTag{}
		w.hub.digests["library/nginx:latest"] = digest("1")
		c := container("web", "nginx:latest", "dogwatch.watch.digest=true")
		w.engine.has(c)
		w.run()
		time.Sleep(time.Hour)
		pushed := time.Now()
		w.hub.digests["library/nginx:latest"], w.hub.described["library/nginx"] = digest("2"),
			describe("2", "p", pushed, "latest")
		time.Sleep(time.Hour)
		w.run()
		if c := w.get("id-web"); !c.UpdateAvailable || !c.Result.Created.Equal(pushed) {
			t.Fatalf("result %+v", c.Result)
		}
		c.Image.ID, c.Image.Digest.Repos = digest("e"), []string{"nginx@" + digest("2")}
		w.engine.has(c)
		w.run()
		// Another index with the same image, whose date says nothing.
		w.hub.digests["library/nginx:latest"], w.hub.described["library/nginx"] = digest("3"),
			describe("3", "p", pushed, "latest")
		time.Sleep(time.Hour)
		w.hub.requests()
		w.run()
		equal(t, "requests", w.hub.requests(), []string{"describe library/nginx", "resolve library/nginx:latest"})
		if c := w.get("id-web"); c.UpdateAvailable {
			t.Errorf("the same image is an update: %+v", c.Result)
		}
	})
}

// A tag that is pushed again and again needs no manifest while its container stays as it is:
// what was pushed since the last comparison is another image. The second of two pushes within
// a minute is not in the list that the first was compared by.
func TestDescribedAfterManyPushes(t *testing.T) {
	const (
		list    = "describe library/nginx"
		one     = "describe library/nginx:latest"
		resolve = "resolve library/nginx:latest"
	)
	read := func(index string) string { return "manifest library/nginx@" + digest(index) + " linux/amd64" }
	for _, seen := range []bool{true, false} {
		t.Run(fmt.Sprintf("seen behind its tag %t", seen), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				defer w.store.Close()
				w.engine.has(container("web", "nginx:latest", "dogwatch.watch.digest=true"))
				push := func(index, image string, pause time.Duration, requests ...string) {
					t.Helper()
					time.Sleep(pause)
					tags := describe(index, image, time.Now(), "latest")
					w.hub.digests["library/nginx:latest"] = digest(index)
					w.hub.manifests[digest(index)] = registry.Manifest{Digest: digest(image), Config: digest(image)}
					w.hub.described = map[string][]registry.DescribedTag{"library/nginx": tags, "library/nginx:latest": tags}
					time.Sleep(describedFresh / 2)
					w.run()
					equal(t, "requests", w.hub.requests(), requests)
					if c := w.get("id-web"); !c.UpdateAvailable || c.Result.Digest != digest(index) {
						t.Errorf("result %+v", c.Result)
					}
				}
				if seen {
					w.hub.digests["library/nginx:latest"] = digest("1")
					w.run()
					w.hub.requests()
					push("2", "p", time.Hour, list, resolve)
				} else {
					push("2", "p", time.Hour, list, read("2"), resolve)
				}
				push("3", "q", time.Second, one, resolve)
				push("4", "r", 24*time.Hour, list, resolve)
			})
		})
	}
}

// Dates of new versions are described, too, with one request for all of a repository.
func TestDescribedDates(t *testing.T) {
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		d := openRules(t, "team/app:1.0.0", "1.0.0")
		defer d.store.Close()
		d.spares(func() []registry.Limit { return nil })
		time.Sleep(1000 * day)
		now := time.Now()
		for _, tag := range []string{"1.1.0", "1.2.0", "1.3.0"} {
			d.made(tag, day)
		}
		d.hub.described = map[string][]registry.DescribedTag{"team/app": {
			{Name: "1.3.0", Digest: d.hub.digests["team/app:1.3.0"], Image: digest("a"), Pushed: sdk.TimeOf(now.Add(-day))},
			// of an image before it
			{Name: "1.2.0", Digest: digest("f"), Image: digest("b"), Pushed: sdk.TimeOf(now.Add(-90 * day))},
			{Name: "1.1.0", Digest: d.hub.digests["team/app:1.1.0"], Image: digest("d"), Pushed: sdk.TimeOf(now.Add(-9 * day))},
		}}
		d.rules.MinAge = setting(7 * day)
		d.run()
		if state := d.state(); state != "offered 1.1.0" {
			t.Errorf("state %s", state)
		}
		equal(t, "requests", d.hub.requests(), []string{
			"describe team/app", "manifest team/app@" + d.hub.digests["team/app:1.2.0"] + " linux/amd64",
			"resolve team/app:1.1.0", "resolve team/app:1.2.0", "resolve team/app:1.3.0", "tags team/app",
		})
	})
}
