package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestContainerPage(t *testing.T) {
	c := webtest.Container("web", webtest.Newer("1.1.0", "minor"), webtest.Labelled("password", "s3cret"), webtest.Labelled(webtest.Evil, webtest.Evil))
	c.Result.Link, c.DisplayName = "javascript:alert(1)", webtest.Evil
	u, _ := withStore(t, c)
	fakes(u).fakeHistory = fakeHistory{events: []event.Event{
		{At: webtest.Noon, Type: event.UpdateFound, Subject: "local/web", Payload: event.Payload{Container: &c}},
		{At: webtest.Noon, Type: event.UpdateFound, Subject: "local/other", Payload: event.Payload{Container: &c}},
	}}
	for tab, wanted := range map[string][]string{
		"":          {`hx-get="/base/containers/local/web/notes"`},
		"notes":     {"v2.0.0"},
		"notes=1":   {"v2.0.0"},
		"versions":  {`<span class="kind ok">running</span>`, "What changes in the image"},
		"why":       {"(label dogwatch.tag.include)", "1 default rule", "<dt>tag.exclude</dt><dd>none</dd>", "So nothing newer is known."},
		"why=1":     {"So nothing newer is known."},
		"activity":  {"Update found: 1.0.0 → 1.1.0 (minor).", "Nothing was sent about it"},
		"details":   {"2 labels"},
		"elsewhere": {`hx-get="/base/containers/local/web/notes"`},
	} {
		query := "?tab=" + tab
		if strings.Contains(tab, "=") {
			query = "?" + tab
		}
		page := request(u, "GET", "/containers/local/web"+query, nil).Body.String()
		webtest.Contains(t, page, append(wanted, "docker pull web:1.1.0", "<!doctype html>")...)
		for _, unwanted := range []string{"s3cret", "javascript:", "<script>alert", "<img", ">Release notes</a>"} {
			if strings.Contains(page, unwanted) {
				t.Errorf("%q: the page has %q:\n%s", tab, unwanted, page)
			}
		}
		if open := strings.Count(page, ` aria-current="page" data-tab>`); open != 1 {
			t.Errorf("%q: %d tabs are open", tab, open)
		}
		if n := strings.Count(page, "Update found: "); tab == "activity" && n != 1 {
			t.Errorf("%d lines of history, want 1", n)
		}
	}
	sheet := request(u, "GET", "/containers/local/web?tab=why", nil, "HX-Request", "true").Body.String()
	if strings.Contains(sheet, "<html") || !strings.Contains(sheet, `hx-get="/base/containers/local/web/why"`) {
		t.Errorf("the sheet is %s", sheet)
	}
	for _, part := range []string{"why", "notes"} {
		if w := request(u, "GET", "/containers/local/web/"+part, nil); w.Code != http.StatusFound ||
			w.Header().Get("Location") != "/base/containers/local/web?tab="+part {
			t.Errorf("without script, %s leads to %d %s", part, w.Code, w.Header().Get("Location"))
		}
	}
	if w := request(u, "GET", "/containers/id-web", nil); w.Code != http.StatusFound ||
		w.Header().Get("Location") != "/base/containers/local/web" {
		t.Errorf("an id leads to %d %s", w.Code, w.Header().Get("Location"))
	}
	for _, path := range []string{"/containers/local/gone", "/containers/gone", "/nowhere"} {
		if w := request(u, "GET", path, nil); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "<nav") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestPagesShowBaseImages as what is to be rebuilt, and never as what can be updated here.
func TestPagesShowBaseImages(t *testing.T) {
	base := func(c *sdk.Container) {
		c.Base = &sdk.Image{Registry: sdk.Registry{Host: "docker.io"}, Name: "library/node",
			Tag: sdk.Tag{Value: "22-alpine"}}
		why := sdk.Reason{Code: "rebuild", Text: "the base of its image is newer: rebuild it"}
		c.Decision = &sdk.Decision{State: sdk.StateOffered, Reasons: []sdk.Reason{why}}
	}
	c := webtest.Container("web", webtest.Newer("24-alpine", "major"), base)
	u, _ := withStore(t, c)
	found := event.Event{At: webtest.Noon, Type: event.UpdateFound, Subject: "local/web", Payload: event.Payload{Container: &c}}
	fakes(u).fakeHistory = fakeHistory{events: []event.Event{found}}
	for path, want := range map[string][]string{
		"/containers": {"base node:", "24-alpine", "rebuild it"},
		"/containers/local/web": {"base node:22-alpine", "24-alpine",
			"Its base image node:22-alpine is watched, and a newer one is there: rebuild it."},
		"/history": {"base node:22-alpine → 24-alpine; rebuild"},
	} {
		page := request(u, "GET", path, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, page)
			}
		}
		for _, text := range []string{"data-update", "docker pull"} {
			if strings.Contains(page, text) {
				t.Errorf("%s has %q:\n%s", path, text, page)
			}
		}
	}
}

// TestBaseImagesCannotBeApproved: there is no button, and one for a selection in which something else can be.
func TestBaseImagesCannotBeApproved(t *testing.T) {
	base := func(c *sdk.Container) { c.Base = &sdk.Image{Name: "library/node", Tag: sdk.Tag{Value: "22-alpine"}} }
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("24-alpine", "major"), base), webtest.Container("db", webtest.Newer("9.0.0", "major"),
		decidedAs(sdk.StateOffered, sdk.Reason{Code: policy.ReasonApproval, Text: "it waits"})))
	for path, want := range map[string]bool{
		"/containers/local/web": false, "/choose?c=local/web": false,
		"/containers/local/db": true, "/choose?c=local/web&c=local/db": true,
	} {
		_, body := get(t, u, path)
		if has := strings.Contains(body, `value="approve"`); has != want {
			t.Errorf("%s: there is a button: %t", path, has)
		}
		webtest.Contains(t, body, `value="skip"`)
		if !want {
			webtest.Contains(t, body, "There is nothing to approve: what is newer is a base image; rebuild the image.")
		}
	}
}

// TestContainerPageNamesLabelsOfImages beside their values, while it is known which they are.
func TestContainerPageNamesLabelsOfImages(t *testing.T) {
	const marked = `<dt>theirs</dt><dd><code>1</code> <span class="second">from the image</span></dd>`
	for image, want := range map[string]bool{"theirs": true, "": false, "*": false} {
		u, _ := withStore(t, webtest.Container("web", webtest.Labelled("ours", "1"), webtest.Labelled("theirs", "1"), func(c *sdk.Container) {
			if image != "" {
				c.ImageLabels = []string{image}
			}
		}))
		page := request(u, "GET", "/containers/local/web", nil).Body.String()
		if strings.Contains(page, marked) != want || strings.Count(page, "from the image") > 1 ||
			!strings.Contains(page, "<dt>ours</dt><dd><code>1</code></dd>") {
			t.Errorf("%q:\n%s", image, page)
		}
	}
}

// TestOldIDLeadsToContainer: what was recreated keeps its page, also after compose recreated it.
func TestOldIDLeadsToContainer(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web"))
	f := fakes(u)
	f.operations = []operation.Operation{updateOf("web", operation.Succeeded, func(op *operation.Operation) {
		op.ContainerID = "id-planned"
	}, outcome(watcher.Outcome{ContainerID: "id-made"}))}
	f.events = []event.Event{{
		ID: 1, Type: event.ContainerReplaced,
		Payload: event.Payload{Container: &sdk.Container{ID: "id-composed", Watcher: "local", Name: "web"}},
	}}
	for _, id := range []string{"id-web", "id-planned", "id-made", "id-composed"} {
		if w := request(u, "GET", "/containers/"+id, nil); w.Code != http.StatusFound ||
			w.Header().Get("Location") != "/base/containers/local/web" {
			t.Errorf("%s: %d to %q", id, w.Code, w.Header().Get("Location"))
		}
	}
	if w := request(u, "GET", "/containers/id-none", nil); w.Code != http.StatusNotFound ||
		!strings.Contains(w.Body.String(), "This container is gone") {
		t.Errorf("an unknown id: %d %s", w.Code, w.Body)
	}
}

// The page says which newer versions are not offered, also where nothing else is newer.
func TestPageSaysWhatIsSkipped(t *testing.T) {
	skips := func(c *sdk.Container) {
		c.Skipped = []sdk.Skipped{{Tag: "1.8.1259", Text: "1.8.1259 was built <b>13 months</b> before what runs"}}
	}
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.3.2", "minor"), skips), webtest.Container("stays", skips), webtest.Container("plain"))
	for name, want := range map[string]bool{"web": true, "stays": true, "plain": false} {
		page := request(u, "GET", "/containers/local/"+name, nil).Body.String()
		said := strings.Contains(page, "Skipped: 1.8.1259 was built &lt;b&gt;13 months&lt;/b&gt; before what runs.")
		if said != want {
			t.Errorf("%s: the page says what is skipped: %t", name, said)
		}
	}
}

// TestContainerPageChoosesAVersion: the address names the version that is shown, planned, skipped and snoozed.
func TestContainerPageChoosesAVersion(t *testing.T) {
	u, _ := withStore(t, webtest.Container("db", webtest.Newer("9.0.0", "major"), levelled("", "8.2.1", "9.0.0")))
	fakes(u).permission = service.Permission{Allowed: true}
	for query, want := range map[string][]string{
		"": {`<b class="tag">9.0.0</b> <span class="kind major">major</span>`, `href="/base/containers/local/db/update"`,
			`name="version:local/db" value="9.0.0"`, ">Skip 9.0.0<",
			`href="/base/containers/local/db?version=9.0.0" aria-current="true"`},
		"?tab=why&version=8.2.1": {`<b class="tag">8.2.1</b> <span class="kind minor">minor</span>`,
			`href="/base/containers/local/db/update?version=8.2.1"`, `name="version:local/db" value="8.2.1"`,
			">Skip 8.2.1<", `href="/base/containers/local/db?tab=why&amp;version=8.2.1" aria-current="true"`,
			`href="/base/containers/local/db?tab=details&amp;version=8.2.1"`},
		"?version=7.0.0": {`<b class="tag">9.0.0</b>`, `href="/base/containers/local/db/update"`},
	} {
		_, body := get(t, u, "/containers/local/db"+query)
		webtest.Contains(t, body, want...)
	}
}

// TestContainerPageSaysAFailureBriefly: as the overview does, in other words than the registry was asked with.
func TestContainerPageSaysAFailureBriefly(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web",
		webtest.Failed("registry.hub.public: list tags of team/web at docker.io: 503 service unavailable: the disk is full"),
		func(c *sdk.Container) { c.Error.Cause = "docker.io is unavailable" }))
	_, body := get(t, u, "/containers/local/web")
	webtest.Contains(t, body, ">docker.io is unavailable (the disk is full)</p>", `title="registry.hub.public: list tags of`)
}

// TestWhySaysWhatACheckWouldFind where that is not what the last one found.
func TestWhySaysWhatACheckWouldFind(t *testing.T) {
	const note = "A check now would find"
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")), webtest.Container("fine"))
	fakes(u).explanation = &check.Explanation{Result: &sdk.Result{Tag: "1.2.0"}}
	webtest.Contains(t, request(u, "GET", "/containers/local/web?tab=why", nil).Body.String(),
		"The last check found 1.1.0. "+note+" 1.2.0, as explained here.", `<button form="check" name="do" value="check">Check now</button>`)
	fakes(u).explanation = &check.Explanation{Result: &sdk.Result{Tag: "1.1.0"}}
	for _, name := range []string{"web", "fine"} {
		if body := request(u, "GET", "/containers/local/"+name+"?tab=why", nil).Body.String(); strings.Contains(body, note) {
			t.Errorf("%s: a check would find the same: %s", name, body)
		}
	}
}
