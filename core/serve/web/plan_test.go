package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// fullPlan has everything that a plan may have, except blocks.
func fullPlan() watcher.Plan {
	return watcher.Plan{
		ContainerID: "id-web", Name: "web", State: "state-1",
		From:    watcher.PlannedImage{Reference: "nginx:1.0.0"},
		To:      watcher.PlannedImage{Reference: "docker.io/library/nginx:1.1.0", Digest: "sha256:0123"},
		Steps:   []watcher.Step{{ID: "pull", Text: "pull nginx:1.1.0"}, {ID: "start:web", Text: "start the new web"}},
		Carried: []watcher.Setting{{Name: "env TOKEN"}, {Name: "port 80/tcp", Value: "8080"}},
		Changes: []watcher.Change{{Name: "env NGINX_VERSION", Before: "1.0.0", After: "1.1.0"}, {
			Name: "user", After: "nginx",
		}, {Name: "port 9090/tcp", Before: "9090/tcp"}},
		Warnings: []watcher.Reason{{Code: "no-healthcheck", Text: "web has no health check"}},
		Dependents: []watcher.Dependent{{Name: "torrent", Relation: "network_mode", Action: watcher.StepCreate}, {
			Name: "cache", Relation: "depends_on", Action: watcher.StepRestart,
		}},
		Files: []watcher.FileChange{{
			Path: "/srv/compose.yaml", Line: 3,
			Diff: "--- a\n+++ b\n@@ -3 +3 @@\n-    image: nginx:1.0.0\n+    image: nginx:1.1.0\n",
		}},
		Backups: []watcher.Backup{{Name: "web-before", Image: "nginx:0.9", Created: sdk.TimeOf(webtest.Noon), Size: 3 << 20}},
		Space:   watcher.Space{Download: 80 << 20, Writable: 5 << 20},
	}
}

func TestPlanPage(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	body := request(u, "GET", "/containers/local/web/update", nil).Body.String()
	webtest.Contains(t, body, "<h1>Update web?</h1>", `<span class="tag">1.0.0</span>`, `<b class="tag">1.1.0</b>`,
		"<code>sha256:0123</code>", "Up to 83.9 MB to download; layers already here are not downloaded again. It has written 5.2 MB into itself.",
		"<li>start the new web</li>", "environment variable NGINX_VERSION", `<span class="second">root (default)</span></td>`,
		`<td>port</td><td class="wrap" data-label="before"><code>9090/tcp</code></td><td class="wrap" data-label="after"><span class="second">not set<`, "<strong>torrent</strong> is recreated too",
		"<strong>cache</strong> is restarted too", `<span class="added">&#43;    image: nginx:1.1.0`,
		`<span class="gone">-    image: nginx:1.0.0`,
		"What changes in /srv/compose.yaml", "Unchanged: 2 of your settings", "web has no health check", "web-before",
		"3.1 MB of its own", `name="state" value="state-1"`, `name="digest" value="sha256:0123"`,
		`<form method="post" action="/base/containers/local/web/update"`, `id="confirm">Update</button>`)
	if strings.Contains(body, "+++ b") || strings.Contains(body, "Blocked by") {
		t.Errorf("the page has too much: %s", body)
	}
	webtest.Contains(t, request(u, "GET", "/containers/local/web/rollback", nil).Body.String(), "<h1>Roll back web?</h1>",
		`id="confirm">Roll back</button>`)
	f.permission = service.Permission{Why: "its option update is false", Remedy: "set watcher.docker.local.update to true"}
	if body := request(u, "GET", "/containers/local/web/update", nil).Body.String(); strings.Contains(body,
		`id="confirm"`) ||
		!strings.Contains(body,
			"It cannot be updated from here, since its option update is false: set watcher.docker.local.update to true.") {
		t.Errorf("where updates are not allowed: %s", body)
	}
}

// TestPlanPageWithBlocks: a block that may be accepted has a box, any other has none, and there is no button then.
func TestPlanPageWithBlocks(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	f.plan.Blocks = []watcher.Reason{{Code: "data.writable-layer", Text: "web has written into itself, or acknowledge data.writable-layer",
		Acknowledge: true}}
	body := request(u, "GET", "/containers/local/web/update", nil).Body.String()
	webtest.Contains(t, body, `<input type="checkbox" name="ack" value="data.writable-layer" required>`, `id="confirm"`,
		"<p>web has written into itself.</p>")
	f.plan.Blocks = append(f.plan.Blocks, watcher.Reason{Code: "swarm", Text: "use docker service update"})
	body = request(u, "GET", "/containers/local/web/update", nil).Body.String()
	webtest.Contains(t, body, "use docker service update", "web has written into itself")
	if strings.Contains(body, `id="confirm"`) || strings.Contains(body, `name="ack"`) {
		t.Errorf("what is blocked can be confirmed: %s", body)
	}
}

// TestPlanOffersApproval: an update that can wait for a window is approved on its plan, with the version that the plan
// is about; nothing that has to be acknowledged is.
func TestPlanOffersApproval(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("9.0.0", "major"), levelled("", "8.2.1", "9.0.0")))
	f := fakes(u).fakeOperations
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	const button = `<button name="do" value="approve">Approve</button>`
	body := func() string {
		_, body := get(t, u, "/containers/local/web/update")
		return body
	}
	if strings.Contains(body(), button) {
		t.Error("what waits for no window can be approved")
	}
	from := time.Date(2026, 11, 28, 2, 0, 0, 0, time.Local)
	f.details.Version = "8.2.1"
	f.details.Window = preview.Opening{From: sdk.TimeOf(from), Until: sdk.TimeOf(from.Add(4 * time.Hour))}
	webtest.Contains(t, body(), button, `<input type="hidden" name="c" value="local/web">`,
		`<input type="hidden" name="version:local/web" value="8.2.1">`, `name="sure" value="yes"`,
		">Skip 8.2.1</button>", ">Snooze for a week</button>", "Approve leaves it to Dogwatch in the next window: Sat 28 Nov 2026 02:00 to 06:00.")
	f.plan.Blocks = []watcher.Reason{{Code: "data.writable-layer", Text: "it has", Acknowledge: true}}
	if strings.Contains(body(), button) {
		t.Error("what has to be acknowledged can be approved")
	}
	if _, page := get(t, u, "/containers/local/web"); strings.Contains(page, `value="approve"`) {
		t.Error("it can be approved on its page, which does not say what the update takes")
	}
}

// TestPlanSaysWhatApproves: where there is no window to wait for, updating is what approves.
func TestPlanSaysWhatApproves(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor"),
		decidedAs(sdk.StateOffered, sdk.Reason{Code: policy.ReasonApproval, Text: "it waits for your approval"})))
	f := fakes(u).fakeOperations
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	_, body := get(t, u, "/containers/local/web/update")
	webtest.Contains(t, body, "It waits for your approval. Update approves it and starts it now.")
}

// TestPlanOffersComposeFile: where the compose file would keep the old tag, it can be changed too.
func TestPlanOffersComposeFile(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	f.plan.Warnings = []watcher.Reason{{Code: "compose.unchanged", Text: "the compose file keeps 1.0.0"}}
	webtest.Contains(t, request(u, "GET", "/containers/local/web/update", nil).Body.String(),
		`href="/base/containers/local/web/update?compose=edit"`)
	webtest.Contains(t, request(u, "GET", "/containers/local/web/update?compose=edit", nil).Body.String(),
		`<input type="hidden" name="compose" value="edit">`,
		`href="/base/containers/local/web/update">Leave the compose file as it is</a>`)
	if all := f.planned; all[0].Rules.Compose != nil || all[1].Rules.Compose == nil || !all[1].Rules.Compose.Backup {
		t.Errorf("planned %+v", all)
	}
	request(u, "POST", "/containers/local/web/update", url.Values{"compose": {"edit"}})
	if f.started[0].Rules.Compose == nil {
		t.Error("the compose file is not changed")
	}
}

func TestConfirmPlan(t *testing.T) {
	form := url.Values{"state": {"state-1"}, "digest": {"sha256:0123"}, "ack": {"data.writable-layer"}}
	blocked := watcher.Plan{Blocks: []watcher.Reason{{Code: "swarm", Text: "use docker service update"}}}
	const changed = "It has changed since this plan was made, so nothing was done. This is the plan as it is now."
	for name, test := range map[string]struct {
		err  error
		code int
		to   string
		want string
	}{
		"begun": {nil, http.StatusSeeOther, "/base/operations/op9", ""},
		"conflict": {&updater.ConflictError{Operation: operation.Operation{ID: "op5"}}, http.StatusSeeOther,
			"/base/operations/op5?did=already", ""},
		"unplanned": {fmt.Errorf("local/web: %w", updater.ErrUnplanned), http.StatusConflict, "", changed},
		"changed":   {fmt.Errorf("local/web: %w", updater.ErrChanged), http.StatusConflict, "", changed},
		"blocked":   {&updater.BlockedError{Plan: blocked}, http.StatusConflict, "", "Nothing was done: something keeps it from being carried out."},
		"forbidden": {sdk.WithKind(service.ErrForbidden, errors.New("only a login allows it")), http.StatusForbidden,
			"", "Nothing was done: only a login allows it."},
		"no update": {fmt.Errorf("local/web: %w", updater.ErrNoUpdate), http.StatusConflict, "",
			"there is no image to change to"},
		"unsupported": {updater.ErrUnsupported, http.StatusUnprocessableEntity, "", "cannot update"},
		"stopping":    {updater.ErrStopping, http.StatusServiceUnavailable, "", "is stopping"},
		"unreachable": {errors.New("resolve web:1.1.0: s3cret"), http.StatusBadGateway, "",
			"Nothing was done: resolve web:1.1.0: ***"},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
			f := fakes(u).fakeOperations
			f.plan, f.permission, f.starting = fullPlan(), service.Permission{Allowed: true}, test.err
			w := request(u, "POST", "/containers/local/web/rollback", form)
			if w.Code != test.code || w.Header().Get("Location") != test.to || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("%d to %q: %s", w.Code, w.Header().Get("Location"), w.Body)
			}
			if got := f.started[0]; got.Container != "id-web" || got.Kind != operation.Rollback ||
				got.State != "state-1" || got.Digest != "sha256:0123" || got.Rules.Acknowledged[0] != "data.writable-layer" {
				t.Errorf("started %+v", got)
			}
			if len(f.planned) > 0 &&
				(f.planned[0].State != "" || f.planned[0].Digest != "" || f.planned[0].Rules.Acknowledged != nil) {
				t.Errorf("the plan as it is now is made of %+v", f.planned[0])
			}
		})
	}
}

// TestPlanOfAVersionThatIsNotOffered: the page says so, and which versions are, instead of a plan of another one.
func TestPlanOfAVersionThatIsNotOffered(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	f.planning = sdk.Invalid("version", "%q is none of the newer versions of local/web", "1.0.5")
	f.starting, f.details = f.planning, service.PlanDetails{Version: "1.1.0"}
	for method, path := range map[string]string{"GET": "?version=1.0.5", "POST": ""} {
		f.details.Levels = nil
		w := request(u, method, "/containers/local/web/update"+path, url.Values{"version": {"1.0.5"}})
		body := w.Body.String()
		webtest.Contains(t, body, "<h1>1.0.5 is not offered for web</h1>", "These versions are offered now:",
			`href="/base/containers/local/web/update">1.1.0</a>`)
		if w.Code != http.StatusConflict || strings.Contains(body, `id="confirm"`) {
			t.Errorf("%s: %d %s", method, w.Code, body)
		}
		f.details.Levels = []service.Level{{Tag: "1.1.0", Kind: "minor"}, {Tag: "2.0.0", Kind: "major"}}
		webtest.Contains(t, request(u, method, "/containers/local/web/update"+path,
			url.Values{"version": {"1.0.5"}}).Body.String(), `update?version=1.1.0">1.1.0</a>`, `update?version=2.0.0">2.0.0</a>`)
	}
}

// TestPlanCannotBeMade says why, and leads to an operation that is under way.
func TestPlanCannotBeMade(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	f.planning = fmt.Errorf("local/web: %w: nothing newer is known", updater.ErrNoUpdate)
	w := request(u, "GET", "/containers/local/web/update", nil)
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "web cannot be updated") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	f.operations = []operation.Operation{updateOf("web", operation.Running)}
	if w := request(u, "GET", "/containers/local/web/update", nil); w.Code != http.StatusFound ||
		w.Header().Get("Location") != "/base/operations/op1?did=already" {
		t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
	}
	if w := request(u, "GET", "/containers/local/gone/update", nil); w.Code != http.StatusNotFound {
		t.Errorf("of no container: %d", w.Code)
	}
}

// TestContainerPageOffersChanges: buttons where something can be done, a remedy where it is not allowed, and nothing
// else.
func TestContainerPageOffersChanges(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")), webtest.Container("calm"))
	f := fakes(u).fakeOperations
	const update, rollback, remedy = `id="update-one"`, "Roll back to 1.0.0</a>",
		"It cannot be updated from here, since it is not set: set it."
	page := func(name string) string { return request(u, "GET", "/containers/local/"+name, nil).Body.String() }
	for what, test := range map[string]struct {
		permission service.Permission
		operations []operation.Operation
		name       string
		want       []string
	}{
		"allowed": {service.Permission{Allowed: true}, nil, "web", []string{update}},
		"updated": {service.Permission{Allowed: true}, []operation.Operation{updateOf("calm", operation.Succeeded)},
			"calm", []string{rollback}},
		"not allowed": {service.Permission{Why: "it is not set", Remedy: "set it"}, nil, "web", []string{remedy}},
		"no update":   {service.Permission{Why: "it is not set", Remedy: "set it"}, nil, "calm", nil},
		"read only":   {service.Permission{}, []operation.Operation{updateOf("web", operation.Succeeded)}, "web", nil},
	} {
		f.permission, f.operations, f.previous = test.permission, test.operations, "web:1.0.0"
		body := page(test.name)
		for _, text := range []string{update, rollback, remedy} {
			if wanted := strings.Contains(strings.Join(test.want, "\n"), text); strings.Contains(body, text) != wanted {
				t.Errorf("%s: has %q: %t", what, text, !wanted)
			}
		}
	}
	f.operations = []operation.Operation{updateOf("web", operation.Succeeded,
		outcome(watcher.Outcome{Kept: []string{"web-before"}}))}
	webtest.Contains(t, page("web?tab=activity"), "Kept backups", `hx-get="/base/containers/local/web/backups"`)
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	webtest.Contains(t, request(u, "GET", "/containers/local/web/backups", nil, "HX-Request", "true").Body.String(),
		"web-before", "nginx:0.9", "3.1 MB of its own", `href="/base/containers/local/web/rollback">Roll back to 1.0.0</a>`)
}

func TestSelectionPage(t *testing.T) {
	u, _ := withStore(t, webtest.Container("one", webtest.Newer("1.1.0", "minor")),
		webtest.Container("two", webtest.Newer("1.1.0", "minor")), webtest.Container("calm"))
	f := fakes(u).fakeOperations
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	for want, names := range map[string][]string{
		"/base/containers/local/one/update":        {"local/one"},
		"/base/update?c=local%2Fone&c=local%2Ftwo": {"local/one", "local/two", "local/calm"},
		"/base/containers/local/calm/update":       {"local/calm"},
	} {
		form := url.Values{"do": {"update"}, "c": names}
		if w := request(u, "POST", "/containers/act", form); w.Code != http.StatusSeeOther ||
			w.Header().Get("Location") != want {
			t.Errorf("%v leads to %d %s", names, w.Code, w.Header().Get("Location"))
		}
		if w := request(u, "POST", "/containers/act", form, "HX-Request", "true"); w.Header().Get("HX-Redirect") != want {
			t.Errorf("%v leads the script to %s", names, w.Header().Get("HX-Redirect"))
		}
	}
	body := request(u, "GET", "/update?c=local/one&c=local/two&c=local/gone", nil).Body.String()
	webtest.Contains(t, body, "<h1>Update 2 containers?</h1>", `name="c" value="local/one"`,
		`name="state:local/two" value="state-1"`, `name="digest:local/two" value="sha256:0123"`,
		"With it: torrent, cache.", "web has no health check", "Up to 83.9 MB to download; layers already here are not downloaded again.", `id="confirm">Update</button>`)
	data, swarm := watcher.Reason{
		Code: "data.writable-layer", Text: "it has written 2.0 MiB into itself", Acknowledge: true,
	}, watcher.Reason{Code: "swarm", Text: "use docker service update"}
	f.plan.Blocks = []watcher.Reason{data, data} // as of a dependent
	body = request(u, "GET", "/update?c=local/one&c=local/two", nil).Body.String()
	webtest.Contains(t, body, "it has written 2.0 MiB into itself.",
		`<input type="checkbox" name="c" value="local/two"> I know that`, `id="confirm">Update the chosen</button>`)
	if n := strings.Count(body, `<input type="hidden" name="ack:local/two" value="data.writable-layer">`); n != 1 ||
		strings.Contains(body, "checked>") {
		t.Errorf("the consent is there %d times, or given: %s", n, body)
	}
	f.plan.Blocks = []watcher.Reason{data, swarm}
	body = request(u, "GET", "/update?c=local/one&c=local/two", nil).Body.String()
	webtest.Contains(t, body, "None of them can be updated now.", "it has written 2.0 MiB into itself.",
		"use docker service update.")
	if strings.Contains(body, `id="confirm"`) || strings.Contains(body, "checkbox") {
		t.Errorf("what is blocked can be confirmed: %s", body)
	}
	if w := request(u, "GET", "/update", nil); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("of nothing: %d", w.Code)
	}
}

func TestConfirmSelection(t *testing.T) {
	u, _ := withStore(t, webtest.Container("one", webtest.Newer("1.1.0", "minor")), webtest.Container("two", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	form := url.Values{
		"c": {"local/one", "local/two"}, "state:local/one": {"s1"}, "digest:local/one": {"d1"},
		"state:local/two": {"s2"}, "digest:local/two": {"d2"}, "ack:local/two": {"data.writable-layer"},
		"ack:local/three": {"swarm"},
	}
	if w := request(u, "POST", "/update", form); w.Code != http.StatusSeeOther ||
		w.Header().Get("Location") != "/base/operations" {
		t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
	}
	if len(f.started) != 2 || f.started[0].Container != "id-one" || f.started[0].State != "s1" ||
		f.started[1].Digest != "d2" || f.started[1].State != "s2" ||
		len(f.started[0].Rules.Acknowledged) > 0 || len(f.started[1].Rules.Acknowledged) != 1 ||
		f.started[1].Rules.Acknowledged[0] != "data.writable-layer" {
		t.Errorf("started %+v", f.started)
	}
	f.starting = fmt.Errorf("local/one: %w", updater.ErrChanged)
	if w := request(u, "POST", "/update", form); w.Code != http.StatusConflict ||
		!strings.Contains(w.Body.String(), "it has changed since it was planned") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := request(u, "POST", "/update", url.Values{}); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("of nothing: %d", w.Code)
	}
}

// TestSelectionBeginsWhatOthersDependOnFirst: operations of a stack are carried out as they were begun.
func TestSelectionBeginsWhatOthersDependOnFirst(t *testing.T) {
	member := func(name, needs string) sdk.Container {
		c := webtest.Container(name, webtest.Newer("1.1.0", "minor"))
		c.Stack = "shop"
		c.Labels = map[string]string{
			"com.docker.compose.project": "shop", "com.docker.compose.service": name,
			"com.docker.compose.depends_on": needs,
		}
		return c
	}
	u, _ := withStore(t, member("app", "db"), member("db", ""), member("web", "app"))
	f := fakes(u).fakeOperations
	request(u, "POST", "/update", url.Values{"c": {"local/web", "local/app", "local/db"}})
	var order []string
	for _, change := range f.started {
		order = append(order, change.Container)
	}
	if got := strings.Join(order, " "); got != "id-db id-app id-web" {
		t.Errorf("began %s", got)
	}
}

// TestChangePagesEscapeTextsFromElsewhere: engines, images and plugins write parts of plans and operations.
func TestChangePagesEscapeTextsFromElsewhere(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")), webtest.Container("two", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	f.permission, f.previous, f.stepProgress = service.Permission{Allowed: true, Why: webtest.Evil,
		Remedy: webtest.Evil}, "x:"+webtest.Evil,
		watcher.StepProgress{Message: webtest.Evil}
	reasons, image := []watcher.Reason{{Code: webtest.Evil, Text: webtest.Evil, Acknowledge: true}}, watcher.PlannedImage{
		Reference: webtest.Evil, Digest: webtest.Evil, ID: webtest.Evil,
	}
	f.plan = watcher.Plan{
		Name: webtest.Evil, State: webtest.Evil, From: image, To: image, Steps: []watcher.Step{{ID: webtest.Evil,
			Text: webtest.Evil}},
		Carried:  []watcher.Setting{{Name: webtest.Evil, Value: webtest.Evil}},
		Changes:  []watcher.Change{{Name: webtest.Evil, Before: webtest.Evil, After: webtest.Evil}},
		Warnings: reasons, Blocks: reasons, Dependents: []watcher.Dependent{{Name: webtest.Evil, Relation: webtest.Evil,
			Action: webtest.Evil}},
		Files: []watcher.FileChange{{Path: webtest.Evil,
			Diff: "+" + webtest.Evil}}, Backups: []watcher.Backup{{Name: webtest.Evil, Image: webtest.Evil}},
	}
	for _, state := range []operation.State{operation.Running, operation.Failed} {
		op := updateOf("web", state, took(webtest.Evil, false, ""), took("x", true, webtest.Evil), failing(webtest.Evil),
			outcome(watcher.Outcome{Kept: []string{webtest.Evil}, Warnings: reasons, Evidence: &watcher.Evidence{
				Container: webtest.Evil, Status: webtest.Evil, Error: webtest.Evil, Log: webtest.Evil,
				Health: []watcher.HealthResult{{Output: webtest.Evil}},
			}}))
		op.Plan, op.Trigger, op.Image.Reference = f.plan, webtest.Evil, webtest.Evil
		for _, path := range []string{"/operations/op1", "/operations", "/", "/containers", "/containers/local/web",
			"/containers/local/web?tab=activity", "/containers/local/web?tab=details",
			"/containers/local/two/update", "/update?c=local/web&c=local/two",
			"/operations?state=" + url.QueryEscape(webtest.Evil) + "&container=" + url.QueryEscape(webtest.Evil)} {
			f.operations = []operation.Operation{op}
			body := request(u, "GET", path, nil).Body.String()
			webtest.MustBeInert(t, body)
			webtest.Contains(t, body, "</html>")
		}
	}
}

// TestPlanSaysWhatHolds the update, and that it can be carried out all the same.
func TestPlanSaysWhatHolds(t *testing.T) {
	u, _ := withStore(t, webtest.Container("young", webtest.Newer("1.1.0", "minor"),
		decidedAs(sdk.StateHeld, sdk.Reason{Code: policy.ReasonMinAge, Text: "it is too new"})), webtest.Container("open", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	f.plan, f.permission = fullPlan(), service.Permission{Allowed: true}
	const badge = `<span class="kind muted">held</span>`
	_, body := get(t, u, "/containers/local/young/update")
	webtest.Contains(t, body, badge+" It is too new. ", "You can still update it now.", `id="confirm"`)
	if _, body = get(t, u, "/containers/local/open/update"); strings.Contains(body, badge) {
		t.Errorf("what is offered is held: %s", body)
	}
}
