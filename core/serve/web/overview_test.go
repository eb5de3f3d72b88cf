package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestOverviewCountsAndLists(t *testing.T) {
	var many []sdk.Container
	for i := range 8 {
		many = append(many, webtest.Container(fmt.Sprintf("m%d", i), webtest.Newer("1.1.0", "minor")))
	}
	u, _ := withStore(t,
		append(many, webtest.Container("big", webtest.Newer("2.0.0", "major")), webtest.Container("sad", webtest.Failed("refused s3cret")),
			webtest.Container("sorry", webtest.Failed("refused s3cret")))...)
	body := request(u, "GET", "/", nil).Body.String()
	for _, want := range []string{
		`<b class="number">9</b> <span>updates</span>`, ">1 major<", ">8 minor<", `<b class="number">2</b> <span>checks failed</span>`,
		`<a href="/base/containers/local/sad">sad</a>, <a href="/base/containers/local/sorry">sorry</a>: refused ***`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the overview lacks %q:\n%s", want, body)
		}
	}
	empty, _ := withStore(t)
	said := func(path string) string {
		_, guide, _ := strings.Cut(request(empty, "GET", path, nil).Body.String(), `<section class="guide card"`)
		guide, _, _ = strings.Cut(guide, "</section>")
		return guide
	}
	if list, overview := said("/containers"), said("/"); list == "" || list != overview {
		t.Errorf("an empty list says %q, and the overview %q", list, overview)
	}
}

// TestOverviewWarnsOfMajorUpdates where their release notes are known to warn, and nowhere else.
func TestOverviewWarnsOfMajorUpdates(t *testing.T) {
	u, _ := withStore(t, webtest.Container("big", webtest.Newer("2.0.0", "major")), webtest.Container("small", webtest.Newer("1.1.0", "minor")))
	for _, c := range []struct {
		warnings []service.ReleaseWarning
		want     string
	}{
		{nil, ""},
		{[]service.ReleaseWarning{{Breaking: []string{"**/v1** is gone"}, Action: []string{"run migrate"}}, {Breaking: []string{"no more"}}},
			`<span class="kind major">breaking</span> <span lang="en">/v1 is gone</span> <span>and 2 more</span>`},
		{[]service.ReleaseWarning{{Action: []string{"run " + webtest.Evil}}}, `<span class="kind minor">to do</span> <span lang="en">run &#34;&gt;`},
	} {
		fakes(u).warnings = c.warnings
		body := request(u, "GET", "/", nil).Body.String()
		if n := strings.Count(body, `class="warns"`); !strings.Contains(body, c.want) || n != min(len(c.want), 1) {
			t.Errorf("%d warnings, want %q in:\n%s", n, c.want, body)
		}
	}
}

// TestOverviewShowsAllWarningsOfWhatWaits: three lines of an update that a user has to approve, one of others.
func TestOverviewShowsAllWarningsOfWhatWaits(t *testing.T) {
	u, _ := withStore(t, webtest.Container("big", webtest.Newer("2.0.0", "major")), webtest.Container("ask", webtest.Newer("2.0.0", "major"),
		decidedAs(sdk.StateOffered, sdk.Reason{Code: policy.ReasonApproval, Text: "it waits for your approval"})))
	fakes(u).warnings = []service.ReleaseWarning{{Breaking: []string{"one", "two"}, Action: []string{"three", "four"}}}
	body := request(u, "GET", "/", nil).Body.String()
	attention, updates, _ := strings.Cut(body, `id="to-decide"`)
	for _, c := range []struct {
		part, more string
		lines      int
	}{{attention, "and 1 more", 3}, {updates, "and 3 more", 1}} {
		if n := strings.Count(c.part, `class="warns"`); n != c.lines || !strings.Contains(c.part, c.more) {
			t.Errorf("%d warnings, want %d and %q in:\n%s", n, c.lines, c.more, c.part)
		}
	}
}

// TestPagesShowProgressOfChecks on the pages that are looked at during a check.
func TestPagesShowProgressOfChecks(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web"))
	fakes(u).progress = []check.Progress{{Watcher: "local", Checked: 5, Total: 6}, {
		Watcher: "other", Checked: 0, Total: 4,
	}}
	fakes(u).fakeHistory = fakeHistory{
		events: []event.Event{{
			At: u.Started.Add(time.Second), Type: event.CheckStarted, Subject: "local",
			Payload: event.Payload{Check: &event.Check{Watcher: "local"}},
		}},
	}
	for path, want := range map[string]string{
		"/containers": "· checking 5 of 10<", "/containers/rows": "· checking 5 of 10<",
	} {
		if body := request(u, "GET", path, nil).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, body)
		}
	}
}

// TestContainerPageLeadsToWhatHappened: what did not work is one press away from where it is said.
func TestContainerPageLeadsToWhatHappened(t *testing.T) {
	cameBack := decidedAs(sdk.StateOffered, sdk.Reason{Code: policy.ReasonCameBack, Text: "it did not work"})
	for name, test := range map[string]struct {
		cache sdk.Container
		last  operation.State
		want  int
	}{
		"it did not work":     {webtest.Container("cache", webtest.Newer("1.1.0", "minor"), cameBack), operation.Succeeded, 1},
		"it is offered":       {webtest.Container("cache", webtest.Newer("1.2.0", "minor")), operation.Succeeded, 0},
		"the last one failed": {webtest.Container("cache", webtest.Newer("1.2.0", "minor")), operation.RolledBack, 1},
	} {
		u, _ := withStore(t, test.cache)
		failed := updateOf("cache", operation.RolledBack, failing("never healthy"))
		fakes(u).fakeOperations.operations = []operation.Operation{updateOf("cache", test.last), failed, failed}
		body := request(u, "GET", "/containers/local/cache", nil).Body.String()
		link := `href="/base` + page.OperationPath(failed.ID) + `">See what happened</a>`
		told := ". 1.0.0 runs again."
		if got := strings.Count(body, link); got != test.want || strings.Contains(body, told) != (test.want > 0) {
			t.Errorf("%s: %d links, want %d", name, got, test.want)
		}
	}
}

// TestOverviewSaysOnceThatAnUpdateDidNotWork: as the operation of its container; once that is
// long ago as a rolled back update while that is offered, and else as the delivery that began it.
func TestOverviewSaysOnceThatAnUpdateDidNotWork(t *testing.T) {
	cameBack := decidedAs(sdk.StateOffered, sdk.Reason{Code: policy.ReasonCameBack, Text: "it was tried and rolled back"})
	sentences := []string{"cache: 1.1.0 did not work", `data-key="local/cache"`, "docker.local: cache is back"}
	for name, test := range map[string]struct {
		cache sdk.Container
		age   time.Duration
		want  string
	}{
		"just now":               {webtest.Container("cache", webtest.Newer("1.1.0", "minor"), cameBack), time.Minute, sentences[0]},
		"long ago":               {webtest.Container("cache", webtest.Newer("1.1.0", "minor"), cameBack), 24*time.Hour + time.Minute, sentences[1]},
		"long ago, not any more": {webtest.Container("cache"), 24*time.Hour + time.Minute, sentences[2]},
	} {
		u, _ := withStore(t, test.cache)
		f := fakes(u)
		f.fakeComponents.all = append(f.fakeComponents.all, service.Component{
			View: component.View{ID: "docker.local", Type: "docker", Name: "local"}, Kind: kind.Trigger, Acts: true,
		})
		f.fakeHistory.deliveries = []delivery.Delivery{{
			ID: 1, Trigger: "docker.local", Subject: "local/cache", State: delivery.Failed, Error: "cache is back",
		}}
		f.fakeOperations.operations = []operation.Operation{
			updateOf("cache", operation.RolledBack, failing("never healthy"), func(op *operation.Operation) {
				op.Ended = webtest.Noon.Add(-test.age)
			}),
		}
		body := request(u, "GET", "/", nil).Body.String()
		for _, sentence := range sentences {
			if got := strings.Contains(body, sentence); got != (sentence == test.want) {
				t.Errorf("%s: the overview has %q: %t", name, sentence, got)
			}
		}
	}
}

// TestOverviewCountsWhatNeedsAttention: each failure and each update to approve, and nothing that can wait.
func TestOverviewCountsWhatNeedsAttention(t *testing.T) {
	ask := decidedAs(sdk.StateOffered, sdk.Reason{Code: policy.ReasonApproval, Text: "it waits for your approval"})
	for want, all := range map[string][]sdk.Container{
		"":  {webtest.Container("big", webtest.Newer("2.0.0", "major"))},
		"1": {webtest.Container("ask", webtest.Newer("1.1.0", "minor"), ask)},
		"3": {webtest.Container("ask", webtest.Newer("1.1.0", "minor"), ask), webtest.Container("big", webtest.Newer("2.0.0", "major"), ask),
			webtest.Container("sad", webtest.Failed("refused")), webtest.Container("open", webtest.Newer("1.1.0", "minor"))},
	} {
		u, _ := withStore(t, all...)
		_, heading, shown := strings.Cut(request(u, "GET", "/", nil).Body.String(), `Needs attention <span class="second">`)
		count, _, _ := strings.Cut(heading, "<")
		if count != want || shown != (want != "") {
			t.Errorf("%d containers: %q need attention, want %q", len(all), count, want)
		}
	}
}
