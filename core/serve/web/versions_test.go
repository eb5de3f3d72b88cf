package web

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestContainerShowsItsVersions(t *testing.T) {
	at := func(days int, typ event.Type, c sdk.Container) event.Event {
		return event.Event{
			ID: int64(100 - days), At: webtest.Noon.AddDate(0, 0, -days), Type: typ, Subject: "local/web",
			Payload: event.Payload{Container: &c},
		}
	}
	old := webtest.Container("web", func(c *sdk.Container) { c.Image.Tag.Value = "0.9.0" })
	now := webtest.Container("web", webtest.Newer(webtest.Evil, "major"))
	u, _ := withStore(t, now, webtest.Container("new"))
	fakes(u).fakeHistory = fakeHistory{
		events: []event.Event{at(2, event.UpdateFound, now), at(4, event.ContainerReplaced, webtest.Container("web")),
			at(10, event.ContainerAdded, old)},
	}
	u.Site.Now = func() time.Time { return webtest.Noon }
	body := request(u, "GET", "/containers/local/web?tab=versions", nil).Body.String()
	webtest.MustBeInert(t, body)
	webtest.Contains(t, body, "since 19 Mar 2026: 2 versions, and an update was pending for 2 of 10 days.",
		"<title>ran 0.9.0</title>", "<title>up to date with 1.0.0</title>", `<li><i class="ran"></i>running version</li><li><i class="ok"></i>up to date</li>`,
		`<li><i class="major"></i>update pending: major</li>`,
		`title="2026-03-19 12:00:00 UTC">19 Mar 2026</time> to <time`,
		`<span class="tag">1.0.0</span> <span class="kind ok">running</span>`)
	if order := strings.Index(body, `<span class="tag">1.0.0</span>`); order < 0 ||
		order > strings.Index(body, `<span class="tag">0.9.0</span>`) {
		t.Error("the newest version is not the first")
	}
	if body := request(u, "GET", "/containers/local/new?tab=versions", nil).Body.String(); strings.Contains(body, "<svg class=\"chart") ||
		!strings.Contains(body, "Only the version that runs is known so far.") {
		t.Error("a container with one version has a line of versions")
	}
}

// TestVersionsSayWhatWasRolledBack: a version that did not work is in the table with when it was tried, until it works.
func TestVersionsSayWhatWasRolledBack(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	line := func(all ...operation.Operation) string {
		fakes(u).fakeOperations.operations = all
		_, row, _ := strings.Cut(request(u, "GET", "/containers/local/web?tab=versions", nil).Body.String(),
			`<tr><th scope="row"><span class="tag">1.1.0</span>`)
		row, _, _ = strings.Cut(row, "</tr>")
		return row
	}
	failed, done := updateOf("web", operation.RolledBack), updateOf("web", operation.Succeeded)
	webtest.Contains(t, line(failed), `<span class="kind failed">did not work</span>`, "29 Mar 2026</time>, rolled back")
	for _, all := range [][]operation.Operation{nil, {done, failed}} {
		if row := line(all...); strings.Contains(row, "did not work") || strings.Contains(row, "rolled back") {
			t.Errorf("after %d operations the version is rolled back: %s", len(all), row)
		}
	}
}
