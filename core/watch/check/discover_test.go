package check

import (
	"context"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestNormaliseContainers(t *testing.T) {
	d1, d2 := digest("1"), digest("2")
	for _, c := range []struct {
		about                        string
		host, name, tag, repo        string
		repos                        []string
		wantHost, wantName, wantRepo string
		wantTag                      string
	}{
		{"short name", "", "nginx", "1.25", "", []string{"nginx@" + d1}, "docker.io", "library/nginx", d1, "1.25"},
		{"no tag", "", "nginx", "", "", nil, "docker.io", "library/nginx", "", "latest"},
		{"user's repository", "", "user/app", "1", "", []string{"user/app@" + d1}, "docker.io", "user/app", d1, "1"},
		{"other names of the hub", "index.docker.io", "nginx", "1", "", []string{"docker.io/library/nginx@" + d1},
			"docker.io", "library/nginx", d1, "1"},
		{"one image, several RepoDigests", "ghcr.io", "a/b", "1", d1,
			[]string{"mirror.example/a/b@" + d1, "ghcr.io/a/b@" + d2}, "ghcr.io", "a/b", d2, "1"},
		{"the watcher's choice stays", "ghcr.io", "a/b", "1", d2, []string{"ghcr.io/a/b@" + d1, "ghcr.io/a/b@" + d2},
			"ghcr.io", "a/b", d2, "1"},
		{"only of another repository", "ghcr.io", "a/b", "1", d1, []string{"mirror.example/a/b@" + d1}, "ghcr.io",
			"a/b", d1, "1"},
		{"broken entries", "localhost:5000", "x", "1", "",
			[]string{"", "@", "x", "<none>@<none>", "localhost:5000/x@" + d1}, "localhost:5000", "x", d1, "1"},
		{"pinned by digest alone", "ghcr.io", "a/b", "", d1, []string{"ghcr.io/a/b@" + d1}, "ghcr.io", "a/b", d1, d1},
		{"pinned, other digests known", "ghcr.io", "a/b", "", d1, []string{"ghcr.io/a/b@" + d2}, "ghcr.io", "a/b", d1, d1},
	} {
		img := sdk.Image{
			Registry: sdk.Registry{Host: c.host}, Name: c.name, Tag: sdk.Tag{Value: c.tag},
			Digest: sdk.Digest{Repo: c.repo, Repos: c.repos},
		}
		if err := normalise(&img); err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		if img.Registry.Host != c.wantHost || img.Name != c.wantName || img.Digest.Repo != c.wantRepo ||
			img.Tag.Value != c.wantTag {
			t.Errorf("%s: %s %s:%s %s", c.about, img.Registry.Host, img.Name, img.Tag.Value, img.Digest.Repo)
		}
		again := img
		if err := normalise(&again); err != nil || again.Name != img.Name || again.Registry != img.Registry ||
			again.Tag != img.Tag || again.Digest.Repo != img.Digest.Repo {
			t.Errorf("%s: doing it twice changes it: %+v, %v", c.about, again, err)
		}
	}
	for _, bad := range []string{"", "NGINX", "a//b", "nginx:1.2+x"} {
		if err := normalise(&sdk.Image{Name: bad}); err == nil {
			t.Errorf("%q is taken for a name", bad)
		}
	}
}

func TestOwnDigests(t *testing.T) {
	img := sdk.Image{Registry: sdk.Registry{Host: "docker.io"}, Name: "library/nginx"}
	img.Digest.Repos = []string{
		"nginx@" + digest("1"), "docker.io/library/nginx@" + digest("2"), "index.docker.io/nginx@" + digest("3"),
		"other/nginx@" + digest("4"), "ghcr.io/library/nginx@" + digest("5"), "nginx", "NGINX@" + digest("6"),
	}
	equal(t, "own digests", candidate.Digests(img), []string{digest("1"), digest("2"), digest("3")})
}

// quiet is a registry whose answers lead to no update.
func quiet(w *fixture) {
	w.hub.tags["library/nginx"] = []string{"1.25.0"}
	w.hub.digests["library/nginx:latest"] = digest("1")
}

// TestDiscoverAddsChangesAndRemoves follows one watcher through what can happen to its containers.
func TestDiscoverAddsChangesAndRemoves(t *testing.T) {
	w := open(t)
	quiet(w)
	web, db := container("web", "nginx:1.25.0"), container("db", "nginx:latest")
	var last int64
	var events []string
	step := func(about string, want []string, list ...sdk.Container) {
		t.Helper()
		w.engine.has(list...)
		w.run()
		events, last = w.events(last)
		equal(t, about, events, want)
		if got := len(w.store.Snapshot().All()); got != len(list) {
			t.Errorf("%s: %d containers stored, want %d", about, got, len(list))
		}
	}
	step("added", []string{"container.added local/web", "container.added local/db"}, web, db)
	step("nothing new", nil, web, db)
	if c := w.get("id-web"); c.Check.State != sdk.CheckOK || c.Image.Registry.Name != "hub.public" ||
		c.Image.Registry.Host != "docker.io" ||
		c.Image.Name != "library/nginx" || c.DisplayName != "web" || c.Watcher != "local" ||
		c.Image.Digest.Repo != digest("1") {
		t.Errorf("stored %+v", c)
	}

	web.Status = "exited"
	step("status changed", []string{"container.changed local/web"}, web, db)
	web.Name = "www"
	step("renamed", []string{"container.renamed local/www"}, web, db)

	recreated := web
	recreated.ID = "id-web-2"
	step("replaced", []string{"container.replaced local/www"}, recreated, db)
	if c := w.get("id-web-2"); c.Check.State != sdk.CheckOK || c.Result == nil {
		t.Errorf("the replaced container lost its history: %+v", c)
	}

	unwatched := db
	unwatched.Labels = map[string]string{"dogwatch.watch": "false"}
	w.engine.has(recreated, unwatched)
	w.run()
	events, last = w.events(last)
	equal(t, "unwatched", events, []string{"container.removed local/db"})

	step("gone", []string{"container.removed local/www"})
	step("back", []string{"container.added local/db"}, db)
}

// TestDiscoverReadsTheStack: of the labels of Compose and others, unless the watcher knows it.
// TestDiscoverLeavesOutNames: what the watcher excludes by its name is not watched, whatever its labels say.
func TestDiscoverLeavesOutNames(t *testing.T) {
	w := open(t)
	quiet(w)
	labelled := container("tmp-db", "nginx:latest")
	labelled.Labels = map[string]string{"dogwatch.watch": "true"}
	w.engine.has(container("web", "nginx:1.25.0"), container("tmp-web", "nginx:1.25.0"), labelled)
	w.run()
	_, last := w.events(0)
	exclude, err := policy.ParsePattern("^tmp-")
	if err != nil {
		t.Fatal(err)
	}
	local := Watcher{Name: "local", WatchByDefault: true, Exclude: exclude, Lister: w.engine}
	if _, err := w.Run(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	events, _ := w.events(last)
	slices.Sort(events)
	equal(t, "excluded", events, []string{"container.removed local/tmp-db", "container.removed local/tmp-web"})
	if all := w.store.Snapshot().All(); len(all) != 1 || w.get("id-web").Name != "web" {
		t.Errorf("watched: %v", all)
	}
}

func TestDiscoverReadsTheStack(t *testing.T) {
	w := open(t)
	quiet(w)
	web, db := container("web", "nginx:1.25.0", "com.docker.compose.project=shop"),
		container("db", "nginx:latest", "com.docker.stack.namespace=swarm")
	db.Stack = "cluster"
	w.engine.has(web, db)
	w.run()
	if a, b := w.get("id-web").Stack, w.get("id-db").Stack; a != "shop" || b != "cluster" {
		t.Errorf("the stacks are %q and %q", a, b)
	}
}

// TestDiscoverRenamedAndRecreatedContainers: a container that keeps its id and changes its name was renamed,
// and its update is no event; one that takes the place of a container that is
// gone was recreated, as compose does it.
func TestDiscoverRenamedAndRecreatedContainers(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	web, db := container("web", "nginx:1.25.0"), container("db", "nginx:1.25.0")
	w.engine.has(web, db)
	w.run()
	_, last := w.events(0)
	step := func(about string, want, from []string, list ...sdk.Container) {
		t.Helper()
		w.engine.has(list...)
		w.run()
		all, err := w.store.Events(t.Context(), last, 100)
		if err != nil {
			t.Fatal(err)
		}
		var events, names []string
		for _, e := range all {
			if last = e.ID; e.Container != nil {
				events, names = append(events, string(e.Type)+" "+e.Subject), append(names, e.From)
			}
		}
		equal(t, about, events, want)
		equal(t, about+": old names", names, from)
		if got := len(w.store.Snapshot().All()); got != len(list) {
			t.Errorf("%s: %d containers stored, want %d", about, got, len(list))
		}
	}
	web.Name = "www"
	step("renamed", []string{"container.renamed local/www"}, []string{"web"}, web, db)
	if c := w.get("id-web"); !c.UpdateAvailable || c.Name != "www" {
		t.Errorf("stored %+v", c)
	}
	web.Name, db.Name = "db", "www"
	step("swapped", []string{"container.renamed local/db", "container.renamed local/www"}, []string{"www", "db"}, web, db)
	made := container("x", "nginx:1.25.0")
	made.Name = "0123_db"
	step("made", []string{"container.added local/0123_db", "update.found local/0123_db"}, []string{"", ""}, web, db, made)
	made.Name = "db"
	step("put in the place of another", []string{"container.replaced local/db"}, []string{"0123_db"}, made, db)
}

// TestReplacedByAnotherImage: what was known of the old image says nothing about the new one.
func TestReplacedByAnotherImage(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	if !w.get("id-web").UpdateAvailable {
		t.Fatal("no update found")
	}
	_, last := w.events(0)
	updated := container("web", "nginx:1.26.0")
	updated.ID = "id-2"
	w.engine.has(updated)
	w.hub.errs["tags library/nginx "] = sdk.WithKind(sdk.ErrUnavailable, context.DeadlineExceeded)
	w.run()
	c := w.get("id-2")
	if c.UpdateAvailable || c.Result != nil || c.Check.State != sdk.CheckFailed {
		t.Errorf("the new container has %+v %+v", c.Result, c.Check)
	}
	events, _ := w.events(last)
	equal(t, "events", events, []string{"container.replaced local/web", "container.changed local/web"})
}

// TestReplacedFromAnotherRegistry: the same image by another name is another repository.
func TestReplacedFromAnotherRegistry(t *testing.T) {
	w := open(t)
	w.hub.tags["team/app"] = []string{"1.0", "1.1"}
	w.engine.has(container("web", "team/app:1.0"))
	w.run()
	w.host("ghcr.io").errs["tags team/app "] = sdk.ErrUnavailable
	w.engine.has(container("web", "ghcr.io/team/app:1.0"))
	w.run()
	if c := w.get("id-web"); c.UpdateAvailable || c.Result != nil {
		t.Errorf("still %+v", c.Result)
	}
}

// TestReplacedUnderOtherRules: an update that the new labels forbid is not shown
// any longer, even while the registry cannot be reached.
func TestReplacedUnderOtherRules(t *testing.T) {
	for _, label := range []string{"dogwatch.tag.exclude=^1.26", "dogwatch.tag.include=^1.25",
		"wud.tag.transform=^(1).*$ => $1", "dogwatch.watch.digest=true", "dogwatch.tag.prerelease=true"} {
		w := open(t)
		w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
		w.engine.has(container("web", "nginx:1.25.0"))
		w.run()
		w.hub.before = func(context.Context, string) error { return sdk.ErrUnavailable }
		w.engine.has(container("web", "nginx:1.25.0", label))
		w.run()
		if c := w.get("id-web"); c.UpdateAvailable || c.Result != nil {
			t.Errorf("%s: still %+v", label, c.Result)
		}
	}
}

// TestContainerBelongsToFirstOfTwoWatchers: the container belongs to the first watcher of the
// configuration, whichever sees it first, and there is a warning.
func TestContainerBelongsToFirstOfTwoWatchers(t *testing.T) {
	w := open(t, func(w *fixture, _ *options) { w.order = []string{"local", "second"} })
	quiet(w)
	w.engine.has(container("web", "nginx:1.25.0"))
	second := Watcher{Name: "second", WatchByDefault: true, Lister: w.engine}
	if _, err := w.Run(context.Background(), second); err != nil {
		t.Fatal(err)
	}
	if got := w.get("id-web").Watcher; got != "second" {
		t.Fatalf("owned by %s", got)
	}
	w.run()
	if got := w.get("id-web").Watcher; got != "local" {
		t.Errorf("owned by %s after the first watcher saw it", got)
	}
	events, last := w.events(0)
	equal(t, "events", events,
		[]string{"container.added second/web", "container.removed second/web", "container.added local/web"})
	for range 2 {
		report, err := w.Run(context.Background(), second)
		if err != nil || report.Containers != 0 || report.Shared != 1 || report.SharedWith != "local" {
			t.Errorf("the second watcher: %+v, %v", report, err)
		}
		w.run()
	}
	events, _ = w.events(last)
	equal(t, "later events", events, nil)
	contains(t, "log", w.log.String(),
		"container second/web has the id of one of local, with which it stays: two watchers of one engine, of which one can go, or ids of a plugin that are not its own")
}

// TestContainerTakenOverDuringItsCheck: a check that has begun does not take a container back.
func TestContainerTakenOverDuringItsCheck(t *testing.T) {
	w := open(t, func(w *fixture, _ *options) { w.order = []string{"local", "second"} })
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.engine.has(container("web", "nginx:1.25.0"))
	second := Watcher{Name: "second", WatchByDefault: true, Lister: w.engine}
	once := true
	w.hub.before = func(context.Context, string) error {
		if once {
			once = false
			w.run()
		}
		return nil
	}
	report, err := w.Run(context.Background(), second)
	if err != nil || report.Containers != 0 || len(report.Found) != 0 {
		t.Errorf("the second watcher reports %+v, %v", report, err)
	}
	if got := w.get("id-web").Watcher; got != "local" {
		t.Errorf("owned by %s", got)
	}
	events, _ := w.events(0)
	equal(t, "events", events,
		[]string{"container.added second/web", "container.removed second/web", "container.added local/web",
			"update.found local/web"})
}

// TestDeletedDuringItsCheck: a container that a person deleted meanwhile stays so until the next check.
func TestDeletedDuringItsCheck(t *testing.T) {
	w := open(t)
	quiet(w)
	w.engine.has(container("web", "nginx:1.25.0"))
	w.hub.before = func(ctx context.Context, _ string) error {
		return w.store.Commit(ctx, remove("id-web"))
	}
	if report := w.run(); report.Containers != 0 {
		t.Errorf("report %+v", report)
	}
	if _, found := w.store.Snapshot().Get("id-web"); found {
		t.Error("the container is back")
	}
}

// TestListerDuplicateIDs: containers without id, twice the same id and twice the same name.
func TestListerDuplicateIDs(t *testing.T) {
	w := open(t)
	quiet(w)
	a, sameID, sameName, nameless, idless := container("a", "nginx:1.25.0"), container("b", "nginx:1.25.0"),
		container("a", "nginx:1.25.0"), container("", "nginx:1.25.0"), container("c", "nginx:1.25.0")
	sameID.ID, sameName.ID, nameless.ID, idless.ID = a.ID, "other", "x", ""
	w.engine.has(a, sameID, sameName, nameless, idless, container("good", "nginx:latest"))
	for range 2 {
		w.run()
	}
	events, _ := w.events(0)
	equal(t, "events", events, []string{"container.added local/a", "container.added local/good"})
	contains(t, "log", w.log.String(), "without id or name", "two containers with the id id-a or the name")
}

// TestListerReportsContainerError: what the engine cannot say, or a wrong reference, marks its container only.
func TestListerReportsContainerError(t *testing.T) {
	w := open(t)
	quiet(w)
	gone := container("gone", "nginx:1.25.0")
	gone.Error = &sdk.ContainerError{Message: "image is no longer in the engine: recreate the container"}
	odd := container("odd", "nginx:latest")
	odd.Image.Name = "foo/bar:1.0.0+1"
	far := container("far", "unserved.example/x:1.0")
	w.engine.has(gone, odd, far, container("web", "nginx:1.25.0"))
	if report := w.run(); report.Containers != 4 || report.Failed != 3 {
		t.Errorf("report %+v", report)
	}
	for id, want := range map[string]string{
		"id-gone": "image is no longer in the engine: recreate the container",
		"id-odd":  `invalid image reference "foo/bar:1.0.0+1"`,
		"id-far":  "no registry serves unserved.example: configure one with that host",
	} {
		c := w.get(id)
		if c.Check.State != sdk.CheckFailed || c.Error == nil {
			t.Errorf("%s: %+v %+v", id, c.Check, c.Error)
			continue
		}
		contains(t, id, c.Error.Message, want)
	}
	if c := w.get("id-web"); c.Check.State != sdk.CheckOK || c.Error != nil {
		t.Errorf("the good one: %+v %+v", c.Check, c.Error)
	}
	// A second pass emits nothing: nothing has changed.
	_, last := w.events(0)
	w.run()
	events, _ := w.events(last)
	equal(t, "events of the second pass", events, nil)
}

// TestPinnedImage: it has no tag that could move, so nothing is fetched and nothing is newer.
func TestPinnedImage(t *testing.T) {
	w := open(t)
	c := container("web", "nginx:1.25.0", "dogwatch.watch.digest=true")
	c.Image.Tag.Value, c.Image.Digest.Repo = "", digest("1")
	w.engine.has(c)
	for range 2 {
		w.run()
	}
	got := w.get("id-web")
	if got.Check.State != sdk.CheckOK || got.UpdateAvailable || got.Image.Tag.Value != digest("1") ||
		got.Image.Tag.Semver || got.Image.Digest.Watch || got.Result.Tag != digest("1") {
		t.Errorf("stored %+v %+v", got.Image, got.Result)
	}
	equal(t, "requests", w.hub.requests(), nil)
	why := w.Explain(context.Background(), got)
	if why.Image != "docker.io/library/nginx@"+digest("1") ||
		!slices.Contains(phrase.Strings(why.Summary), "The image is pinned to a digest without a tag, so nothing can be newer.") {
		t.Errorf("explained as %s %q", why.Image, why.Summary)
	}
}
