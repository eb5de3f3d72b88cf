package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// decidedAs gives the update of a container a decision.
func decidedAs(state string, reasons ...sdk.Reason) func(*sdk.Container) {
	return func(c *sdk.Container) { c.Decision = &sdk.Decision{State: state, Reasons: reasons} }
}

// house has an update of every state.
func house() []sdk.Container {
	young := sdk.Reason{
		Code: policy.ReasonMinAge, Text: "it is 1 day old, and s3cret must be 7", Source: "policies.careful.minage",
		Until: sdk.TimeOf(webtest.Noon.Add(6 * 24 * time.Hour)),
	}
	return []sdk.Container{
		webtest.Container("young", webtest.Newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, young)),
		webtest.Container("younger", webtest.Newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, sdk.Reason{
			Code: policy.ReasonMinAge, Text: "it is new", Until: sdk.TimeOf(webtest.Noon.Add(7 * 24 * time.Hour)),
		})),
		webtest.Container("skipped", webtest.Newer("2.0.0", "major"), decidedAs(sdk.StateHeld, sdk.Reason{
			Code: policy.ReasonSkipped, Text: "ana skipped it", Source: "user ana",
		})),
		webtest.Container("waits", webtest.Newer("1.0.1", "patch"), decidedAs(sdk.StateOffered, sdk.Reason{
			Code: policy.ReasonApproval, Text: "it waits for your approval",
		})),
		webtest.Container("auto", webtest.Newer("1.0.1", "patch"), decidedAs(sdk.StateAutomatic)),
		webtest.Container("open", webtest.Newer("8.2.1", "minor"), decidedAs(sdk.StateOffered), func(c *sdk.Container) {
			c.Result.Levels = &sdk.Levels{Minor: &sdk.Release{Tag: "8.2.1"}, Major: &sdk.Release{Tag: "9.0.0"}}
		}),
		webtest.Container("fine"),
	}
}

func TestListShowsDecisions(t *testing.T) {
	u, _ := withStore(t, house()...)
	rowOf := func(query, name string) string {
		body := request(u, "GET", "/containers?group=none"+query, nil).Body.String()
		_, row, _ := strings.Cut(body, `data-key="local/`+name+`"`)
		row, _, _ = strings.Cut(row, "</li>")
		return row
	}
	for name, want := range map[string][]string{
		"young": {"held for another 6\u00a0d: too new",
			`title="It is 1 day old, and *** must be 7, so it waits until `},
		"skipped": {"held: skipped<"},
		"waits":   {"to approve"},
		"auto":    {"updated by rule"},
		"open":    {"8.2.1", `or <span class="tag">9.0.0</span>`},
	} {
		for _, text := range want {
			if row := rowOf("", name); !strings.Contains(row, text) {
				t.Errorf("%s lacks %q: %s", name, text, row)
			}
		}
	}
	for state, want := range map[string]string{
		"held": "skipped young younger", "approval": "waits", "automatic": "auto", "current": "fine",
		"updates": "auto open skipped waits young younger",
	} {
		var shown []string
		for _, c := range house() {
			if rowOf("&state="+state, c.Name) != "" {
				shown = append(shown, c.Name)
			}
		}
		slices.Sort(shown)
		if got := strings.Join(shown, " "); got != want {
			t.Errorf("the filter %s leaves %q, want %q", state, got, want)
		}
	}
	body, at := request(u, "GET", "/containers?group=none", nil).Body.String(), 0
	for _, name := range []string{"waits", "open", "auto", "skipped", "young", "younger", "fine"} {
		next := strings.Index(body, `data-key="local/`+name+`"`)
		if next < at {
			t.Errorf("%s comes too early", name)
		}
		at = next
	}
}

// TestOverviewSeparatesDecisions has what is held or automatic apart from what a user must decide.
func TestOverviewSeparatesDecisions(t *testing.T) {
	u, _ := withStore(t, house()...)
	body := request(u, "GET", "/", nil).Body.String()
	needs, rest, _ := strings.Cut(body, "Held and scheduled")
	_, needs, _ = strings.Cut(needs, "Needs attention")
	for _, want := range []string{`data-key="local/waits"`, ">to approve<", `data-key="local/open"`, ">8.2.1<"} {
		if !strings.Contains(needs, want) {
			t.Errorf("what needs the user lacks %q:\n%s", want, needs)
		}
	}
	if strings.Index(needs, "local/waits") > strings.Index(needs, "local/open") {
		t.Error("an approval comes after an update that is only offered")
	}
	for _, name := range []string{">young<", ">skipped<", ">auto<"} {
		if strings.Contains(needs, name) {
			t.Errorf("%s needs the user:\n%s", name, needs)
		}
	}
	for _, want := range []string{">2 updates, too new for another 6\u00a0d (the first)<", ">1 update, skipped<",
		">1 update, carried out as soon as it is their turn<", "/containers?state=held"} {
		if !strings.Contains(rest, want) {
			t.Errorf("the rest lacks %q:\n%s", want, rest)
		}
	}
	for _, want := range []string{
		`href="/base/containers?state=updates"><b class="number">6</b>`, `href="/base/containers?state=major">1 major<`,
		`href="/base/containers?state=approval">1 to approve<`, `href="/base/containers?state=held">3 held<`,
		`href="/base/containers?state=automatic">1 automatic<`, `href="/base/containers?state=failed"><b class="number">0</b>`,
		`href="/base/containers?state=current"><b class="number">1</b>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the tiles lack %q:\n%s", want, body)
		}
	}
}

func TestContainerPageShowsItsDecision(t *testing.T) {
	u, _ := withStore(t, house()...)
	for name, want := range map[string][]string{
		"young": {`<span class="kind held">held</span>`,
			"<li>It is 1 day old, and *** must be 7 (policy careful).</li>", "in 6\u00a0d"},
		"waits": {">to approve<", "<li>It waits for your approval.</li>"},
		"auto":  {`<span class="kind ok">automatic</span>`},
		"open":  {`<span class="tag">9.0.0</span> <span class="kind major">major</span>`},
	} {
		body := request(u, "GET", "/containers/local/"+name, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q:\n%s", name, text, body)
			}
		}
	}
}

// TestRollbackOfAUserIsHeld: what a user rolled back did work, so it is an open update that is held.
func TestRollbackOfAUserIsHeld(t *testing.T) {
	undone := sdk.Reason{Code: policy.ReasonUndone, Text: "it was rolled back by you, and waits", Source: "ana"}
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, undone)))
	for path, want := range map[string]string{
		"/": ">1 update, rolled back by you<", "/containers": "held: rolled back by you",
		"/containers?state=held": "held: rolled back by you",
		"/containers/local/web":  "It was rolled back by you, and waits (ana)",
	} {
		body := request(u, "GET", path, nil).Body.String()
		webtest.Contains(t, body, want)
		if strings.Contains(body, "did not work") && path != "/containers" && path != "/containers?state=held" {
			t.Errorf("%s says that it did not work: %s", path, body)
		}
	}
}

// TestStoppedStackIsHeld: what waits behind a failed update says so.
func TestStoppedStackIsHeld(t *testing.T) {
	stopped := sdk.Reason{Code: policy.ReasonStack, Text: "stack stopped by auth (failed 14:02)"}
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, stopped)))
	for path, want := range map[string]string{
		"/":                     ">1 update, stack stopped by auth (failed 14:02)<",
		"/containers":           "held: stack stopped by auth (failed 14:02)",
		"/containers/local/web": "Stack stopped by auth (failed 14:02)",
	} {
		webtest.Contains(t, request(u, "GET", path, nil).Body.String(), want)
	}
}

// TestOverviewSaysWhatComes has what failed first, and says when held updates are carried out.
func TestOverviewSaysWhatComes(t *testing.T) {
	approved := sdk.Reason{Code: policy.ReasonApproved, Text: "it was approved by ana", Source: "ana"}
	shut := func(d time.Duration) sdk.Reason {
		return sdk.Reason{
			Code: policy.ReasonWindow, Text: "it waits for the next update window (Sat 02:00-05:00)", Source: "policy.window",
			Until: sdk.TimeOf(webtest.Noon.Add(d)),
		}
	}
	waits := sdk.Reason{Code: policy.ReasonApproval, Text: "it waits for your approval"}
	all := []sdk.Container{
		webtest.Container("approved", webtest.Newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, approved, shut(72*time.Hour))),
		webtest.Container("shut", webtest.Newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, shut(96*time.Hour))),
		webtest.Container("told", webtest.Newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, shut(120*time.Hour))),
		webtest.Container("back", webtest.Newer("1.1.0", "minor"), decidedAs(sdk.StateOffered, sdk.Reason{
			Code: policy.ReasonCameBack, Text: "it was tried and rolled back",
		})),
		webtest.Container("waits", webtest.Newer("1.0.1", "patch"), decidedAs(sdk.StateOffered, waits)), webtest.Container("open", webtest.Newer("1.0.1", "patch")),
		webtest.Container("broken", webtest.Failed("503")),
	}
	u, _ := withStore(t, all...)
	f := fakes(u)
	f.subjects = []policypreview.Subject{
		{
			Running: "1.0.0", Update: policy.Update{Subject: "local/shut"},
			Rules: policy.Rules{Mode: policy.Setting[policy.Mode]{Value: policy.Auto, Source: "policy.update"}},
		},
		{Running: "1.0.0", Update: policy.Update{Subject: "local/told"}},
	}
	order := func(body string, want ...string) {
		t.Helper()
		at := 0
		for _, text := range want {
			next := strings.Index(body, text)
			if next < at {
				t.Errorf("%q is missing, or comes too early, in\n%s", text, body)
			}
			at = next
		}
	}
	body := request(u, "GET", "/", nil).Body.String()
	order(body, `Needs attention <span class="second">3</span>`, "503", "local/waits", "local/back", "did not work", ">Updates<", "local/open", "Held and scheduled",
		">3 updates, window opens in 3\u00a0d (the first)<")
	if strings.Contains(body, "carried out") {
		t.Errorf("what the watcher may not update is carried out: %s", body)
	}

	f.permission = service.Permission{Allowed: true}
	body = request(u, "GET", "/", nil).Body.String()
	order(body, ">1 update, window opens in 5\u00a0d<", ">told<", ">2 updates, the first carried out in 3\u00a0d<",
		">approved<", ">shut<")
	body = request(u, "GET", "/containers/local/approved", nil).Body.String()
	order(body, "It was approved by ana", "Then Dogwatch updates it.")
	if body = request(u, "GET", "/containers/local/told", nil).Body.String(); strings.Contains(body,
		"Then Dogwatch updates it") {
		t.Error("what is only offered is carried out")
	}

	f.operations = []operation.Operation{updateOf("back", operation.RolledBack, failing("never healthy"))}
	body = request(u, "GET", "/", nil).Body.String()
	if order(body, "Needs attention", "never healthy", "503"); strings.Contains(body, `data-key="local/back"`) ||
		strings.Contains(body, "<h2>In progress</h2>") {
		t.Errorf("it says twice what did not work: %s", body)
	}

	f.operations = []operation.Operation{updateOf("open", operation.Running)}
	body = request(u, "GET", "/", nil).Body.String()
	if order(body, "In progress", "Needs attention", "local/waits"); strings.Contains(body, `data-key="local/open"`) {
		t.Errorf("what is being updated needs a user: %s", body)
	}
}
