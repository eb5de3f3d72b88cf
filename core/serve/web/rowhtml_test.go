package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestRowShowsStatus: a container that does not run looks so, in words and not by colour alone.
func TestRowShowsStatus(t *testing.T) {
	with := func(status string) func(*sdk.Container) { return func(c *sdk.Container) { c.Status = status } }
	u, _ := withStore(t, webtest.Container("up", with("running")), webtest.Container("resting", with("paused")), webtest.Container("gone", with("exited")),
		webtest.Container("unknown", with("")))
	body := request(u, "GET", "/containers", nil).Body.String()
	for text, want := range map[string]int{
		`<span class="status paused">paused</span>`: 1, `<span class="status exited">exited</span>`: 1,
		`<span class="status `:  2,
		`<select name="status"`: 1, `<option value="exited">exited</option>`: 1,
		`<option value="running">running</option>`: 1,
	} {
		if got := strings.Count(body, text); got != want {
			t.Errorf("%d times %s, want %d", got, text, want)
		}
	}
	body = request(u, "GET", "/containers?status=paused", nil).Body.String()
	if !strings.Contains(body, `data-key="local/resting"`) || strings.Count(body, `<li class="row"`) != 1 ||
		!strings.Contains(body, `<option value="paused" selected>`) {
		t.Errorf("of those that are paused are shown:\n%s", body)
	}
}

// TestRowCutsLongVersionsInTheMiddle: where there is no room for a version it loses its middle.
func TestRowCutsLongVersionsInTheMiddle(t *testing.T) {
	u, _ := withStore(t, webtest.Container("long", func(c *sdk.Container) { c.Image.Tag.Value = "5.14.0-nightly.20241121.amd64" }),
		webtest.Container("short"))
	body := request(u, "GET", "/containers", nil).Body.String()
	want := `<span class="tag"><span class="cut" title="5.14.0-nightly.20241121.amd64"><span>5.14.0-nightly.202411</span><span>21.amd64</span></span></span>`
	if !strings.Contains(body, want) || strings.Count(body, `class="cut"`) != 1 {
		t.Errorf("the page has not %s:\n%s", want, body)
	}
}

// TestRowGivesSentencesALineOfTheirOwn: beside the versions a sentence would leave a phone no room for the name.
func TestRowGivesSentencesALineOfTheirOwn(t *testing.T) {
	u, _ := withStore(t,
		webtest.Container("built", func(c *sdk.Container) {
			c.Check.State, c.Check.Reason = sdk.CheckUnknown, "built here, so no registry has a newer one"
		}),
		webtest.Container("waits", func(c *sdk.Container) { c.Check.PostponedUntil = sdk.TimeOf(webtest.Noon.Add(time.Hour)) }),
		webtest.Container("fails", func(c *sdk.Container) {
			c.Check.State, c.Error = sdk.CheckFailed, &sdk.ContainerError{Message: "the registry does not answer"}
		}))
	body := request(u, "GET", "/containers", nil).Body.String()
	css := request(u, "GET", strings.TrimPrefix(u.AssetPath("app.css"), "/base"), nil).Body.String()
	_, css, _ = strings.Cut(css, "max-width: 959px")
	wide := regexp.MustCompile(`\.row:has\(([^)]*)\)[^}]*age age`).FindStringSubmatch(css)
	said := regexp.MustCompile(`<span class="age"><[a-z]+(?: class="([a-z]+)")?`).FindAllStringSubmatch(body, -1)
	if len(said) != 3 || wide == nil {
		t.Fatalf("%d rows say something, %q:\n%s", len(said), wide, body)
	}
	for _, m := range said {
		if m[1] == "" || !slices.Contains(strings.Split(wide[1], ", "), "."+m[1]) {
			t.Errorf("%s is beside the versions", m[0])
		}
	}
}

// TestRowNamesRepositoryWithoutHost: where no other registry has one of that name, the host is in the title only.
func TestRowNamesRepositoryWithoutHost(t *testing.T) {
	of := func(host, name string) func(*sdk.Container) {
		return func(c *sdk.Container) { c.Image.Registry.Host, c.Image.Name = host, name }
	}
	u, _ := withStore(t, webtest.Container("one", of("ghcr.io", "team/one")), webtest.Container("ours", of("lan:5000", "team/app")),
		webtest.Container("theirs", of("ghcr.io", "team/app")), webtest.Container("hub", of("docker.io", "library/nginx")))
	body := request(u, "GET", "/containers?q=o", nil).Body.String() // which theirs is found by, too
	for name, want := range map[string]string{
		"one":  `<span class="image" title="ghcr.io/team/one">team/one</span>`,
		"ours": `<span class="image"><span class="cut" title="lan:5000/team/app">`,
	} {
		_, row, _ := strings.Cut(body, `data-key="local/`+name+`"`)
		if row, _, _ = strings.Cut(row, "</li>"); !strings.Contains(row, want) {
			t.Errorf("the row of %s has not %s: %s", name, want, row)
		}
	}
	webtest.Contains(t, request(u, "GET", "/containers?q=hub", nil).Body.String(), `<span class="image">nginx</span>`)
	webtest.Contains(t, request(u, "GET", "/containers?q=ghcr.io", nil).Body.String(), `data-key="local/one"`)
	webtest.Contains(t, request(u, "GET", "/containers/local/one", nil).Body.String(), "ghcr.io/team/one:1.0.0")
}

// TestListHasHeadingsThatSort and keep the filters.
func TestListHasHeadingsThatSort(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	body := request(u, "GET", "/containers?state=minor&sort=age", nil).Body.String()
	webtest.Contains(t, body, `<a href="/base/containers?sort=name&amp;state=minor" data-swap>Name</a>`,
		`<a href="/base/containers?sort=age&amp;state=minor" aria-current="true" data-swap>Age or note</a>`,
		`<a href="/base/containers?state=minor" data-swap>State</a>`)
	if body := request(u, "GET", "/containers?q=nothing", nil).Body.String(); strings.Contains(body, `class="columns"`) {
		t.Error("there are headings without rows")
	}
}

// TestRowMarksVersionsThatDidNotWork: also where they are not the one that is offered.
func TestRowMarksVersionsThatDidNotWork(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("2.0.0", "major"), func(c *sdk.Container) {
		c.Result.Levels = &sdk.Levels{Patch: &sdk.Release{Tag: "1.0.1"}, Minor: &sdk.Release{Tag: "1.2.0"}}
	}))
	fakes(u).fakeOperations.operations = []operation.Operation{{
		ID: "1", Kind: operation.Update, State: operation.RolledBack, Watcher: "local", Name: "web", Ended: webtest.Noon,
		Image: watcher.TargetImage{Reference: "docker.io/library/web:1.2.0"},
	}}
	for _, path := range []string{"/", "/containers"} {
		body := request(u, "GET", path, nil).Body.String()
		webtest.Contains(t, body, `<span class="tag">1.2.0</span> <span class="tried">(did not work)</span></span>`)
		if strings.Count(body, `class="tried"`) != 1 {
			t.Errorf("%s marks more", path)
		}
	}
}
