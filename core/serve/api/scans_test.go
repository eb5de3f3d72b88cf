package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// fakeScans is a scanner that is asked, and the status that it has.
type fakeScans struct {
	refuse error
	status scan.Status
	actor  string
}

func (f *fakeScans) Request(_ sdk.Container, actor string) error {
	f.actor = actor
	return f.refuse
}

func (f *fakeScans) Status(context.Context, *sdk.Container) (scan.Status, error) {
	return f.status, nil
}

func (f *fakeScans) Enabled() bool { return true }

func (f *fakeScans) Counts() scan.Counts { return scan.Counts{} }

// TestScanResponses: each way in which a scan is refused has its status and code.
func TestScanResponses(t *testing.T) {
	scans := &fakeScans{}
	w := start(t, nil, func(o *testOptions) { o.app.Scans = scans })
	c := sdk.Container{ID: "0123456789abcdef", Name: "web", Watcher: "local", UpdateAvailable: true}
	w.put(c)
	path := "/api/containers/" + c.ID + "/scan"
	for _, test := range []struct {
		refuse error
		status int
		code   string
	}{
		{nil, http.StatusAccepted, ""},
		{fmt.Errorf("local/web: %w", scan.ErrNoUpdate), http.StatusConflict, "no-update"},
		{fmt.Errorf("local/web: %w", scan.ErrBusy), http.StatusTooManyRequests, "busy"},
		{sdk.WithKind(sdk.ErrUnsupported, fmt.Errorf("local/web: not from a registry")), http.StatusUnprocessableEntity,
			"unsupported"},
	} {
		scans.refuse, scans.status = test.refuse, scan.Status{State: scan.Waiting}
		r := w.do(http.MethodPost, path, "")
		var said struct{ Code, State string }
		if err := json.Unmarshal(r.body, &said); err != nil {
			t.Fatal(err)
		}
		if r.status != test.status || said.Code != test.code ||
			test.refuse == nil && said.State != string(scan.Waiting) ||
			test.code == "busy" && r.header.Get("Retry-After") == "" {
			t.Errorf("%v: %d %s", test.refuse, r.status, r.body)
		}
		if scans.actor != auth.AnonymousName {
			t.Errorf("the actor is %q", scans.actor)
		}
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	scans.status = scan.Status{State: scan.Failed, Since: at, Error: "trivy did not end within 5m",
		Comparison: &scan.Comparison{At: sdk.TimeOf(at),
			Scanner: "trivy", Summary: vulnerability.Summary{Fixed: vulnerability.Counts{Critical: 3}},
			FixedFindings: []vulnerability.Finding{}, AddedFindings: []vulnerability.Finding{},
			RemainingFindings: []vulnerability.Finding{}}}
	var got Scan
	if err := json.Unmarshal(w.get(path).body, &got); err != nil || got.State != "failed" ||
		got.Error != scans.status.Error || got.Summary == "" || got.Comparison == nil {
		t.Errorf("%+v, %v", got, err)
	}
}
