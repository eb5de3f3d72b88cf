package web

import (
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestPlanPageOffersTheLevels: beside the plan there are its kind, the other versions with who skipped them, and what
// the release notes warn of; the chosen version is what is planned and confirmed.
func TestPlanPageOffersTheLevels(t *testing.T) {
	u, _ := withStore(t, webtest.Container("db", webtest.Newer("17.2", "major")))
	f := fakes(u).fakeOperations
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	f.plan.Warnings = []watcher.Reason{{Code: "major", Text: "db:17.2 is a major update. Dump it. See https://example.org/upgrading"}}
	f.details = service.PlanDetails{Kind: "major", Major: true,
		Levels: []service.Level{{Tag: "16.6", Kind: "minor", Skipped: "ana"},
			{Tag: "17.2", Kind: "major", Chosen: true}},
		Warnings: []service.ReleaseWarning{{Version: "17.0", URL: "https://r.example/17.0",
			Breaking: []string{"**adminpack** is gone & more"}, Action: []string{"Run it"}}}}
	f.operations = []operation.Operation{updateOf("db", operation.RolledBack, func(op *operation.Operation) {
		op.Image.Reference = "db:16.6"
	})}
	body := request(u, "GET", "/containers/local/db/update", nil).Body.String()
	webtest.Contains(t, body, `<b class="tag">1.1.0</b> <span class="kind major">major</span>`,
		`<p>Dump it. See <a class="alone" href="https://example.org/upgrading" target="_blank" rel="noopener noreferrer" `+
			`title="https://example.org/upgrading">example.org</a>`,
		`<a class="chip" href="/base/containers/local/db/update?version=16.6" data-tab><span class="tag">16.6</span> <span class="kind minor">minor</span></a>`+
			` <span class="second">skipped by ana</span> <span class="bad">did not work (<time`,
		`href="/base/containers/local/db/update?version=17.2" aria-current="true" data-tab><span class="tag">17.2</span> <span class="kind major">major</span></a>`, "Warnings in the release notes",
		`<a href="https://r.example/17.0" target="_blank" rel="noopener noreferrer">17.0</a>`,
		`<span class="kind major">breaking</span> <span lang="en">adminpack is gone &amp; more</span>`,
		`<span class="kind minor">to do</span> <span lang="en">Run it</span>`)
	fakes(u).warnings = f.details.Warnings
	head, _, _ := strings.Cut(request(u, "GET", "/containers/local/db", nil).Body.String(), `id="decide"`)
	webtest.Contains(t, head, "Warnings in the release notes", `<span lang="en">adminpack is gone &amp; more</span>`)
	if major, notes, warnings := strings.Index(body, `<section class="note major"`), strings.Index(body, `id="releases"`),
		strings.Index(body, `id="confirm"`); notes < 0 || notes > major || major > warnings {
		t.Errorf("the warning of the major update, the release notes and the button are at %d, %d, %d", major, notes,
			warnings)
	}
	if strings.Contains(body, "<code>major") || strings.Contains(body, `<code class="second">`) {
		t.Error("the page shows codes")
	}
	if strings.Contains(body, `name="version"`) {
		t.Error("a version is chosen before the user does")
	}

	body = request(u, "GET", "/containers/local/db/update?version=16.6", nil).Body.String()
	webtest.Contains(t, body, `<input type="hidden" name="version" value="16.6">`)
	request(u, "POST", "/containers/local/db/update", url.Values{"version": {"16.6"}, "state": {"s"}})
	request(u, "POST", "/containers/local/db/rollback", url.Values{"version": {"16.6"}})
	if f.planned[0].Version != "" || f.planned[1].Version != "16.6" || f.started[0].Version != "16.6" ||
		f.started[1].Version != "" {
		t.Errorf("planned %+v, started %+v", f.planned, f.started)
	}
	f.plan.Warnings = []watcher.Reason{{Code: "compose.unchanged", Text: "it keeps 1.0.0"}}
	webtest.Contains(t, request(u, "GET", "/containers/local/db/update?version=16.6", nil).Body.String(),
		`href="/base/containers/local/db/update?version=16.6&amp;compose=edit"`)
}

// TestContainerPageSaysWhatUpdateLeadsTo where its head shows a major update that waits for an approval.
func TestContainerPageSaysWhatUpdateLeadsTo(t *testing.T) {
	db := webtest.Container("db", webtest.Newer("17.2", "major"))
	db.Result.Levels = &sdk.Levels{Minor: &sdk.Release{Tag: "16.6"}, Major: &sdk.Release{Tag: "17.2"}}
	u, _ := withStore(t, db)
	f := fakes(u).fakeOperations
	f.permission = service.Permission{Allowed: true}
	const says, button = "Update leads to", `id="update-one" href="/base/containers/local/db/update`
	for about, c := range map[string]struct {
		byHand, query, sentence, leadsTo string
	}{
		"waits":              {"16.6", "", "Update leads to 16.6. 17.2 is a major update", "?version=16.6"},
		"does not wait":      {"", "", "", ""},
		"waits, chosen":      {"16.6", "?version=17.2", "", "?version=17.2"},
		"smaller one chosen": {"16.6", "?version=16.6", "", "?version=16.6"},
	} {
		f.byHand = c.byHand
		body := request(u, "GET", "/containers/local/db"+c.query, nil).Body.String()
		if !strings.Contains(body, button+c.leadsTo+`"`) || !strings.Contains(body, c.sentence) ||
			strings.Contains(body, says) != (c.sentence != "") {
			t.Errorf("%s: not %q and %s", about, c.sentence, button+c.leadsTo)
		}
	}
}
