package check

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestWorkedCases are the cases of the reference that need a whole run: digests, broken
// images, links. Where the expectation is not WUD's, differs names why.
//
// The image runs as digest 1 and was built from the configuration c. The rows
// about the forms of manifests (54, 57, 58) are for the registry plugins.
func TestWorkedCases(t *testing.T) {
	const (
		own      = "the engine's digest"
		moved    = "another image"
		rebuilt  = "another index, same image"
		anyFault = "fault"
	)
	d1, d2 := digest("1"), digest("2")
	digestUpdate := sdk.UpdateKind{Kind: "digest", LocalValue: d1, RemoteValue: d2}
	none := sdk.UpdateKind{Kind: "unknown"}
	for _, c := range []struct {
		row     int
		image   string
		labels  []string
		change  func(*sdk.Container)
		tags    []string
		behind  string // what the running tag means now
		result  sdk.Result
		kind    sdk.UpdateKind
		watch   bool
		err     string
		differs string
	}{
		{row: 45, image: "foo/bar:1.0.0", change: func(c *sdk.Container) {
			c.Image.Name, c.Image.Tag.Value = "foo/bar:1.0.0+1", "latest"
			c.Error = &sdk.ContainerError{Message: `"foo/bar:1.0.0+1" is not an image reference`}
		}, err: "is not an image reference", kind: none, watch: true, differs: "a container is never dropped"},
		{
			row: 46, image: "nginx:latest", tags: []string{"latest", "1.25.0"}, behind: own,
			result: sdk.Result{Tag: "latest", Digest: d1}, kind: none, watch: true, differs: "digest of versioned tags",
		},
		{
			row: 47, image: "nginx:latest", labels: []string{"wud.watch.digest=true"}, behind: moved,
			result: sdk.Result{Tag: "latest", Digest: d2}, kind: digestUpdate, watch: true,
		},
		{
			row: 48, image: "nginx:latest", labels: []string{"wud.watch.digest=true"}, behind: rebuilt,
			result: sdk.Result{Tag: "latest", Digest: d2}, kind: none, watch: true,
		},
		{
			row: 49, image: "ghcr.io/a/b:latest", behind: moved, result: sdk.Result{Tag: "latest", Digest: d2},
			kind: digestUpdate, watch: true,
		},
		{
			row: 50, image: "ghcr.io/a/b:latest", labels: []string{"wud.watch.digest=false"}, behind: moved,
			result: sdk.Result{Tag: "latest"}, kind: none, differs: "digest of versioned tags",
		},
		{
			row: 51, image: "ghcr.io/a/b:latest", behind: moved, result: sdk.Result{Tag: "latest", Digest: d2},
			kind: digestUpdate, watch: true, differs: "local digest",
		},
		{row: 52, image: "ghcr.io/a/b:latest", change: func(c *sdk.Container) { c.Image.Digest.Repos = nil },
			behind: moved, result: sdk.Result{Tag: "latest", Digest: d2},
			kind: sdk.UpdateKind{Kind: "digest", LocalValue: digest("c"), RemoteValue: d2}, watch: true,
			differs: "compared by the id of the image"},
		{row: 53, image: "ghcr.io/a/b:latest", behind: anyFault, err: "no image for linux/amd64", kind: none, watch: true},
		{
			row: 55, image: "ghcr.io/a/b:latest",
			change: func(c *sdk.Container) { c.Image.Architecture, c.Image.Variant = "arm", "v6" }, behind: moved,
			result: sdk.Result{Tag: "latest", Digest: d2}, kind: digestUpdate, watch: true,
		},
		{
			row: 56, image: "ghcr.io/a/b:latest",
			change: func(c *sdk.Container) { c.Image.Architecture, c.Image.Variant = "arm", "v5" }, behind: anyFault,
			err: "no image for linux/arm/v5", kind: none, watch: true, differs: "variants match as in containerd",
		},
		{
			row: 59, image: "ghcr.io/a/b:latest", behind: own, result: sdk.Result{Tag: "latest", Digest: d1},
			kind: none, watch: true,
		},
		{row: 60, image: "mariadb:10", labels: []string{"wud.watch.digest=true", `wud.tag.include=^\d+$`},
			tags: []string{"10", "10.6", "11"}, behind: moved,
			result: sdk.Result{Tag: "11"},
			kind:   sdk.UpdateKind{Kind: "tag", LocalValue: "10", RemoteValue: "11", SemverDiff: "major"}, watch: true,
			differs: "digest of versioned tags"},
		{
			row: 61, image: "ghcr.io/a/b:3", labels: []string{"wud.watch.digest=true"}, tags: []string{"3", "3.1"},
			behind: moved, result: sdk.Result{Tag: "3", Digest: d2}, kind: digestUpdate, watch: true,
			differs: "digest of versioned tags",
		},
		{row: 62, image: "foo/bar:1.2.3",
			labels: []string{"wud.link.template=https://r/${major}/${prerelease}?o=${original}"},
			tags:   []string{"1.2.3", "1.3.0-rc.1"},
			result: sdk.Result{Tag: "1.2.3", Link: "https://r/1/?o=1.2.3"}, kind: none, differs: "prereleases"},
		{
			row: 63, image: "foo/bar:latest",
			labels: []string{"wud.link.template=https://r/${major}/${original}", "wud.watch.digest=false"},
			result: sdk.Result{Tag: "latest", Link: "https://r//latest"}, kind: none,
		},
		{
			row: 40, image: "foo/bar:1.0.0", labels: []string{"wud.tag.include=["}, tags: []string{"1.0.0", "2.0.0"},
			err: `label wud.tag.include: tag include pattern "["`, kind: none,
		},
	} {
		t.Run(fmt.Sprint("row ", c.row), func(t *testing.T) {
			w := open(t)
			web := container("web", c.image, c.labels...)
			if c.change != nil {
				c.change(&web)
			}
			served, name := w.hub, strings.TrimPrefix(web.Image.Name, "docker.io/")
			if web.Image.Registry.Host != "" {
				served = w.host(web.Image.Registry.Host)
			} else if !strings.Contains(name, "/") {
				name = "library/" + name
			}
			served.tags[name] = c.tags
			reference := name + ":" + web.Image.Tag.Value
			switch c.behind {
			case own:
				served.digests[reference] = d1
			case moved:
				served.digests[reference] = d2
				served.manifests[d2] = manifest("a", "d")
			case rebuilt:
				served.digests[reference] = d2
				served.manifests[d2] = manifest("a", "c")
			case anyFault:
				served.digests[reference] = d2
			}
			w.engine.has(web)
			w.run()
			got := w.get("id-web")
			if c.err != "" {
				if got.Check.State != sdk.CheckFailed || got.Result != nil {
					t.Errorf("state %+v, result %+v", got.Check, got.Result)
				}
				contains(t, "error", decision.Problem(got), c.err)
			} else if got.Result == nil || withoutLevels(*got.Result) != c.result || got.Error != nil {
				t.Errorf("result %+v, want %+v (%s)", got.Result, c.result, decision.Problem(got))
			}
			if got.UpdateKind != c.kind || got.UpdateAvailable != (c.kind != none) || got.Image.Digest.Watch != c.watch {
				t.Errorf("kind %+v, want %+v; digest watched %t; differs from WUD by %q", got.UpdateKind, c.kind,
					got.Image.Digest.Watch, c.differs)
			}
			agrees(t, w, got)
		})
	}
}

// agrees compares what a check stored with the explanation of it.
func withoutLevels(r sdk.Result) sdk.Result {
	r.Levels = nil
	return r
}

func agrees(t *testing.T, w *fixture, stored sdk.Container) {
	t.Helper()
	why := w.Explain(context.Background(), stored)
	if why.UpdateAvailable != stored.UpdateAvailable || why.UpdateKind != stored.UpdateKind ||
		why.Error != decision.Problem(stored) {
		t.Errorf("explained as %t %+v %q, stored as %t %+v %q", why.UpdateAvailable, why.UpdateKind, why.Error,
			stored.UpdateAvailable, stored.UpdateKind, decision.Problem(stored))
	}
	if (why.Result == nil) != (stored.Result == nil) || !reflect.DeepEqual(why.Result, stored.Result) {
		t.Errorf("explained as %+v, stored as %+v", why.Result, stored.Result)
	}
	if len(why.Summary) == 0 {
		t.Error("no summary")
	}
}
