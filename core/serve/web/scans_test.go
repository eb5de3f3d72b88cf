package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// fakeScans has a scanner, if that is said.
type fakeScans struct {
	has, may  bool
	status    scan.Status
	requested []string
	refuse    error
}

func (f *fakeScans) CanScan(auth.Actor) (has, may bool) { return f.has, f.may }

func (f *fakeScans) Scan(_ auth.Actor, c sdk.Container) error {
	f.requested = append(f.requested, c.Name)
	return f.refuse
}

func (f *fakeScans) ScanStatus(context.Context, sdk.Container) (scan.Status, error) {
	return f.status, nil
}

func TestVulnerabilitiesOfAContainer(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")), webtest.Container("db"))
	page := func(name string) string {
		return request(u, "GET", "/containers/local/"+name+"?tab=versions", nil).Body.String()
	}
	f := fakes(u).fakeScans
	if strings.Contains(page("web"), "Vulnerabilities") {
		t.Error("there is a section, and no scanner")
	}
	f.has = true
	if strings.Contains(page("db"), "Vulnerabilities") {
		t.Error("there is a section, and no update")
	}
	f.status.State = scan.Unscanned
	if body := page("web"); strings.Contains(body, "Scan both images") ||
		!strings.Contains(body, "Not scanned yet.") {
		t.Error("who may not scan:", body)
	}
	f.may = true
	webtest.Contains(t, page("web"), `<h2>Vulnerabilities</h2>`, "Scan both images", `action="/base/containers/local/web/scan"`)

	f.status = scan.Status{State: scan.Running, Step: "scanning the new image", Since: webtest.Noon}
	body := page("web")
	webtest.Contains(t, body, "Under way: scanning the new image")
	if strings.Contains(body, "scan-images") {
		t.Error("it can be asked for twice")
	}
	f.status = scan.Status{
		State: scan.Failed, Since: webtest.Noon, Error: "there is no program trivy: install it, or give its path in scan.command",
	}
	webtest.Contains(t, page("web"), "failed: there is no program trivy", "Scan both images")

	finding := vulnerability.Finding{
		ID: "CVE-2026-0001", Severity: vulnerability.Critical, Package: "openssl", Installed: "3.0.1", Fixed: "3.0.2",
		Others: 1,
	}
	hostile := vulnerability.Finding{ID: webtest.Evil, Package: webtest.Evil, Installed: "javascript:alert(1)"}
	f.status = scan.Status{State: scan.Done, Comparison: &scan.Comparison{
		At: sdk.TimeOf(webtest.Noon), Scanner: "trivy",
		Summary: vulnerability.Summary{
			Fixed: vulnerability.Counts{Critical: 3, High: 2}, Remaining: vulnerability.Counts{Unknown: 1},
		},
		FixedFindings: []vulnerability.Finding{finding}, RemainingFindings: []vulnerability.Finding{hostile},
	}}
	body = page("web")
	webtest.Contains(t, body, "The new image fixes 3 critical and 2 high, adds none.", "Remaining: 1 ", "5 fixed",
		"And 4 more", `href="https://nvd.nist.gov/vuln/detail/CVE-2026-0001"`, "and 1 further package",
		"fixed in 3.0.2", "no fix is known", "Scan again")
	if strings.Contains(body, webtest.Evil) || strings.Contains(body, "0 added") {
		t.Error(body)
	}
}

func TestScanIsStarted(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeScans
	f.has, f.may, f.status.State = true, true, scan.Waiting
	if r, _ := post(t, u, "/containers/local/web/scan", url.Values{}); r.StatusCode != http.StatusSeeOther ||
		r.Header.Get("Location") != "/base/containers/local/web?tab=versions#scan" {
		t.Errorf("%d, to %s", r.StatusCode, r.Header.Get("Location"))
	}
	f.refuse = errors.New("too many scans wait already: try again later")
	if r, body := post(t, u, "/containers/local/web/scan", url.Values{}); r.StatusCode < 400 ||
		!strings.Contains(body, "The images of web are not scanned") {
		t.Errorf("%d: %s", r.StatusCode, body)
	}
	if len(f.requested) != 2 {
		t.Error(f.requested)
	}
}

func TestScanEventsInWords(t *testing.T) {
	for said, s := range map[string]event.Scan{
		"images scanned for ana: 1.1.0 fixes 3 critical, adds none": {
			Actor: "ana", Version: "1.1.0", Summary: "fixes 3 critical, adds none",
		},
		"images scanned for a rule without success: it did not end": {
			Actor: "a rule", Version: "1.1.0", Error: "it did not end",
		},
	} {
		if got, class := words.Event(event.Event{
			Type: event.ScanFinished, Payload: event.Payload{Scan: &s},
		}); got.String() != said || (class == "failed") != (s.Error != "") {
			t.Errorf("%q, %q", got, class)
		}
	}
}
