package check

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// TestFetchSharesRequestsOfARepository: containers share the answers about their repository.
func TestFetchSharesRequestsOfARepository(t *testing.T) {
	w := open(t)
	ghcr := w.host("ghcr.io")
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.hub.digests["library/nginx:latest"] = digest("2")
	w.hub.digests["library/nginx:1.26.0"] = digest("1")
	w.hub.manifests[digest("2")] = registry.Manifest{Digest: digest("p"), Config: digest("d")}
	ghcr.tags["library/nginx"] = []string{"1.25.0"}
	w.engine.has(
		container("a", "nginx:1.25.0"), container("b", "nginx:1.25.0", "dogwatch.tag.exclude=1.26"),
		container("c", "library/nginx:1.26.0", "dogwatch.watch.digest=true"),
		container("d", "nginx:latest"), container("e", "docker.io/library/nginx:latest"),
		container("f", "nginx:latest", "dogwatch.watch.digest=false"),
		container("g", "ghcr.io/library/nginx:1.25.0"),
	)
	report := w.run()
	if report.Containers != 7 || report.Failed != 0 || len(report.Updates) != 3 {
		t.Errorf("report %+v", report)
	}
	equal(t, "requests", w.hub.requests(), []string{
		"manifest library/nginx@" + digest("2") + " linux/amd64",
		"resolve library/nginx:1.26.0", "resolve library/nginx:latest", "tags library/nginx",
	})
	equal(t, "requests to the other host", ghcr.requests(), []string{"tags library/nginx"})
	// What is behind a digest is fetched once and for all; also by another process.
	w.restart()
	w.run()
	equal(t, "requests of the second check", w.hub.requests(),
		[]string{"resolve library/nginx:1.26.0", "resolve library/nginx:latest", "tags library/nginx"})
}

// TestFetchSkipsUnneededRequests: not about what is not watched, not known to any registry, pinned or wrong.
func TestFetchSkipsUnneededRequests(t *testing.T) {
	w := open(t)
	built := container("built", "myapp:latest")
	built.Image.ID, built.Image.Digest.Repos = "", nil
	w.engine.has(built, container("off", "nginx:latest", "dogwatch.watch.digest=false"),
		container("bad", "nginx:1.25.0", "dogwatch.tag.include=["))
	w.run()
	equal(t, "requests", w.hub.requests(), nil)
	if c := w.get("id-built"); c.Check.State != sdk.CheckUnknown || c.UpdateAvailable || c.Result.Tag != "latest" {
		t.Errorf("built: %+v", c)
	}
}

// TestUnchangedTags goes through the real cache: the second run asks with a
// validator, and decides by the tags it had.
func TestUnchangedTags(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.hub.stamps["library/nginx"] = `"v1"`
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	w.hub.tags["library/nginx"] = nil // not read while the validator holds
	w.run()
	equal(t, "requests", w.hub.requests(), []string{"tags library/nginx", `tags library/nginx "v1"`})
	if c := w.get("id-web"); c.Result.Tag != "1.26.0" || !c.UpdateAvailable {
		t.Errorf("result %+v", c.Result)
	}
	w.hub.tags["library/nginx"], w.hub.stamps["library/nginx"] = []string{"1.25.0", "1.27.0"}, `"v2"`
	w.run()
	w.run()
	equal(t, "requests", w.hub.requests(), []string{`tags library/nginx "v1"`, `tags library/nginx "v2"`})
	if c := w.get("id-web"); c.Result.Tag != "1.27.0" {
		t.Errorf("result %+v", c.Result)
	}
	// An empty list is remembered too.
	w.hub.tags["library/nginx"], w.hub.stamps["library/nginx"] = []string{}, `"v3"`
	w.run()
	w.run()
	if c := w.get("id-web"); c.Check.State != sdk.CheckOK || c.UpdateAvailable {
		t.Errorf("without tags: %+v %+v", c.Check, c.Result)
	}
}

// unasked responds that nothing has changed, whatever the request.
type unasked struct{ *fake }

func (unasked) Tags(context.Context, registry.Repository, string) (registry.TagList, error) {
	return registry.TagList{NotModified: true}, nil
}

type unaskedHost struct{ unasked }

func (h unaskedHost) For(string) (registryquery.Match, bool) {
	return registryquery.Match{ID: "custom.unasked", Registry: h.unasked}, true
}

func TestTagsNotModifiedUnasked(t *testing.T) {
	w := open(t, func(w *fixture, opt *options) { opt.Queries.Registries = unaskedHost{unasked{w.hub}} })
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	contains(t, "error", decision.Problem(w.get("id-web")),
		"custom.unasked answered that the tags of library/nginx are unchanged, which it was not asked")
}

func TestTokenScopeHints(t *testing.T) {
	w := open(t)
	var list []sdk.Container
	for i := range 250 {
		name := fmt.Sprintf("team/app%03d", i)
		w.hub.tags[name] = []string{"1.0.0"}
		list = append(list, container(fmt.Sprintf("c%d", i), name+":1.0.0"))
	}
	pinned := container("built", "team/built:latest") // without a request
	pinned.Image.ID, pinned.Image.Digest.Repos = "", nil
	w.engine.has(append(list, pinned)...)
	w.run()
	if len(w.hub.scopeHints) != 250 {
		t.Fatalf("%d requests", len(w.hub.scopeHints))
	}
	chunks := map[string]int{}
	for i, names := range w.hub.scopeHints {
		if len(names) > maxScopeHints {
			t.Errorf("%d repositories in one hint", len(names))
		}
		if repo := strings.Fields(w.hub.seen[i])[1]; !strings.Contains(" "+strings.Join(names, " ")+" ", " "+repo+" ") {
			t.Errorf("%s is not among %v", repo, names)
		}
		chunks[strings.Join(names, " ")] = len(names)
	}
	total := 0
	for names, n := range chunks {
		total += n
		if strings.Contains(names, "built") {
			t.Errorf("a repository without a request is in %s", names)
		}
	}
	if len(chunks) != 3 || total != 250 {
		t.Errorf("%d chunks of %d repositories", len(chunks), total)
	}
}

// TestCompareDigests: which digests mean that the running image is the one behind the tag.
func TestCompareDigests(t *testing.T) {
	own, index, old := digest("1"), digest("2"), digest("3")
	platform, config := digest("a"), digest("c")
	for _, c := range []struct {
		about     string
		id        string
		repos     []string
		remote    string
		manifests map[string]registry.Manifest
		same      bool
		fetched   int // manifests
	}{
		{"digest same", config, []string{"nginx@" + own}, own, nil, true, 0},
		{"one of several", config, []string{"nginx@" + old, "nginx@" + own}, own, nil, true, 0},
		{"same digest, but of another repository only", config, []string{"mirror.example/nginx@" + own}, own,
			map[string]registry.Manifest{own: {Digest: platform, Config: digest("d")}}, false, 1},
		{"digest different", config, []string{"nginx@" + own}, index, map[string]registry.Manifest{
			index: {Digest: platform, Config: digest("d")},
		}, false, 1},
		{"another index, same image inside", config, []string{"nginx@" + own}, index, map[string]registry.Manifest{
			index: {Digest: platform, Config: config},
		}, true, 1},
		{"pulled by the platform's digest", digest("d"), []string{"nginx@" + platform}, index, map[string]registry.Manifest{
			index: {Digest: platform, Config: config},
		}, true, 1},
		{"image id is the index", index, []string{"mirror.example/nginx@" + index}, index, nil, true, 0},
		{"image id is the platform's manifest", platform, []string{"nginx@" + own}, index, map[string]registry.Manifest{
			index: {Digest: platform, Config: config},
		}, true, 1},
		{"containerd: another index, same image inside", own, []string{"nginx@" + own}, index, map[string]registry.Manifest{
			index: {Digest: platform}, own: {Digest: platform},
		}, true, 2},
		{"containerd: another image", own, []string{"nginx@" + own}, index, map[string]registry.Manifest{
			index: {Digest: platform}, own: {Digest: digest("b")},
		}, false, 2},
		{"containerd: the old index is gone", own, []string{"nginx@" + own}, index, map[string]registry.Manifest{
			index: {Digest: platform},
		}, false, 2},
	} {
		w := open(t)
		web := container("web", "nginx:latest")
		web.Image.ID, web.Image.Digest.Repos = c.id, c.repos
		w.hub.digests["library/nginx:latest"], w.hub.manifests = c.remote, c.manifests
		w.engine.has(web)
		w.run()
		got := w.get("id-web")
		if got.Check.State != sdk.CheckOK || got.UpdateAvailable == c.same {
			t.Errorf("%s: %+v, update %t, %s", c.about, got.Check, got.UpdateAvailable, decision.Problem(got))
		}
		if n := len(w.hub.requests()) - 1; n != c.fetched {
			t.Errorf("%s: %d manifests fetched, want %d", c.about, n, c.fetched)
		}
		w.run()
		if again := w.hub.requests(); len(again) != 1 {
			t.Errorf("%s: the next check requests %q", c.about, again)
		}
	}
}

// TestMissingManifestIsNotRequestedByEachCheck: an index without an image for the platform
// fails the check each time, and is read again after hours.
func TestMissingManifestIsNotRequestedByEachCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, func(_ *fixture, opt *options) { opt.Now = time.Now })
		defer w.store.Close()
		w.hub.digests["library/nginx:latest"] = digest("2")
		w.engine.has(container("web", "nginx:latest"))
		for round, want := range []int{2, 1, 1, 2} {
			w.run()
			if got := w.hub.requests(); len(got) != want {
				t.Errorf("check %d requests %q, want %d", round, got, want)
			}
			if c := w.get("id-web"); c.Check.State != sdk.CheckFailed {
				t.Errorf("check %d: %+v", round, c.Check)
			}
			if round == 2 {
				time.Sleep(absentFor)
			}
		}
	})
}

// TestManifestCacheMayForget: a cache that forgets costs requests and nothing else.
func TestManifestCacheMayForget(t *testing.T) {
	w := open(t, func(_ *fixture, opt *options) { opt.Queries.Cache = forgetful{} })
	w.hub.tags["library/nginx"], w.hub.stamps["library/nginx"] = []string{"1.25.0", "1.26.0"}, "v1"
	w.engine.has(container("web", "nginx:1.25.0"))
	for range 2 {
		if report := w.run(); len(report.Updates) != 1 {
			t.Errorf("report %+v", report)
		}
	}
}

type forgetful struct{}

func (forgetful) Get(context.Context, string) (string, []byte, bool) { return "", nil, false }
func (forgetful) Put(context.Context, string, string, []byte)        {}

// TestDamagedManifestInCache is fetched again.
func TestDamagedManifestInCache(t *testing.T) {
	w := open(t)
	w.hub.digests["library/nginx:latest"] = digest("2")
	w.hub.manifests[digest("2")] = registry.Manifest{Config: digest("c")}
	if err := w.store.CachePut(t.Context(), store.CacheEntry{
		Key: "manifest docker.io/library/nginx@" + digest("2") + " linux/amd64/", Body: []byte("{"),
	}); err != nil {
		t.Fatal(err)
	}
	w.engine.has(container("web", "nginx:latest"))
	w.run()
	if n := len(w.hub.requests()); n != 2 || w.get("id-web").UpdateAvailable {
		t.Errorf("%d requests, %+v", n, w.get("id-web"))
	}
}

// TestCompareUnreadableManifest: without a configuration to compare, another
// digest is another image, also where the engine has no ids for images.
func TestCompareUnreadableManifest(t *testing.T) {
	w := open(t)
	w.hub.digests["library/nginx:latest"] = digest("2")
	w.hub.manifests[digest("2")] = registry.Manifest{Digest: digest("2")}
	nameless := container("nameless", "nginx:latest")
	nameless.Image.ID = ""
	w.engine.has(container("web", "nginx:latest"), nameless)
	w.run()
	for _, id := range []string{"id-web", "id-nameless"} {
		if c := w.get(id); c.Check.State != sdk.CheckOK || c.UpdateKind.Kind != sdk.KindDigest ||
			c.UpdateKind.RemoteValue != digest("2") {
			t.Errorf("%s: %+v %+v, error %q", id, c.Check, c.UpdateKind, decision.Problem(c))
		}
	}
}
