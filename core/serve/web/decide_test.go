package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// fakeLinks know one link, "good".
type fakeLinks struct {
	shown    signedlink.Shown
	err      error
	redeemed []time.Time
}

func (f *fakeLinks) Enabled() bool { return true }

func (f *fakeLinks) Show(_ context.Context, token string) (signedlink.Shown, error) {
	if token != "good" {
		return signedlink.Shown{}, signedlink.ErrInvalid
	}
	return f.shown, f.err
}

func (f *fakeLinks) Redeem(
	ctx context.Context, token string, action choice.Kind, until time.Time,
) (signedlink.Shown, error) {
	shown, err := f.Show(ctx, token)
	if err == nil {
		shown.Use.Action = string(cmp.Or(action, f.shown.Action))
		f.redeemed = append(f.redeemed, until)
	}
	return shown, err
}

// withLink returns a UI whose one link is for an action about an update of web.
func withLink(t *testing.T, action choice.Kind, change ...func(*sdk.Container)) (*UI, *fakeLinks) {
	t.Helper()
	c := webtest.Container("web", append([]func(*sdk.Container){webtest.Newer("1.1.0", sdk.DiffMinor)}, change...)...)
	f := &fakeLinks{shown: signedlink.Shown{
		Link: signedlink.Link{
			Action: action, Update: update.KeyOf(&c), Trigger: "ntfy.main", Expires: webtest.Noon.Add(5 * 24 * time.Hour),
		},
		Container: c, Known: true,
	}}
	u := newUI(t, Options{BasePath: "/base", Logins: fakeLogins{}, Links: f}, newFakeService())
	return u, f
}

// openLink requests a page as a reader of a message does, without a login.
func openLink(t *testing.T, u *UI, method, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	w := request(u, method, path, form)
	return w.Result(), w.Body.String()
}

func TestDecidePageShowsTheQuestion(t *testing.T) {
	held := func(c *sdk.Container) {
		c.Decision = &sdk.Decision{
			State:   sdk.StateHeld,
			Reasons: []sdk.Reason{{Code: "window.closed", Text: "the window is closed", Until: sdk.TimeOf(webtest.Noon)}},
		}
		c.Result.Link = "https://example.org/notes"
	}
	for action, want := range map[choice.Kind][]string{
		choice.Approved: {"Approve the update of web?", ">Approve</button>"},
		choice.Skip:     {"Skip this version of web?", ">Skip this version</button>"},
		choice.Snooze: {"Snooze the update of web?", `<option value="7" selected>for a week</option>`,
			`<option value="0">until the next version</option>`},
	} {
		u, f := withLink(t, action, held)
		fakes(u).advice = "Back it up first."
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			resp, body := openLink(t, u, method, "/decide/good", nil)
			if resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != "no-store" ||
				!strings.Contains(resp.Header.Get("X-Robots-Tag"), "noindex") ||
				resp.Header.Get("Referrer-Policy") != "same-origin" {
				t.Errorf("%s: %d, %v", method, resp.StatusCode, resp.Header)
			}
			if method == http.MethodGet {
				webtest.Contains(t, body,
					append(want, `action="/base/decide/good"`, "1.0.0", "1.1.0",
						"The window is closed until Sun 29 Mar 2026 ",
						"<strong>Before a major update</strong><br>Back it up first.", `href="https://example.org/notes"`,
						"Sent by ntfy.main. The link works once and expires in 5 days.")...)
				if strings.Contains(body, "<nav") || strings.Contains(body, "<script") {
					t.Error("who has only the link gets navigation or script")
				}
			}
		}
		if len(f.redeemed) > 0 {
			t.Errorf("to look at the link decided something")
		}
	}
}

func TestDecideByForm(t *testing.T) {
	for days, want := range map[string]struct {
		status int
		until  time.Time
	}{
		"7": {http.StatusOK, webtest.Noon.AddDate(0, 0, 7)}, "0": {http.StatusOK, time.Time{}}, "": {http.StatusOK, time.Time{}},
		"-1": {http.StatusUnprocessableEntity, time.Time{}}, "x": {http.StatusUnprocessableEntity, time.Time{}},
		"99999999": {http.StatusUnprocessableEntity, time.Time{}},
	} {
		u, f := withLink(t, choice.Snooze)
		resp, body := openLink(t, u, http.MethodPost, "/decide/good", url.Values{"days": {days}})
		if resp.StatusCode != want.status {
			t.Errorf("days %q: %d\n%s", days, resp.StatusCode, body)
		}
		if want.status != http.StatusOK {
			if len(f.redeemed) > 0 {
				t.Errorf("days %q: snoozed", days)
			}
			continue
		}
		webtest.Contains(t, body, "Snoozed", "You can close this page")
		if len(f.redeemed) != 1 || !f.redeemed[0].Equal(want.until) {
			t.Errorf("days %q: until %v, want %v", days, f.redeemed, want.until)
		}
		if strings.Contains(body, "<form") {
			t.Error("the page asks again")
		}
	}
}

func TestDecidePageLetsChoose(t *testing.T) {
	u, f := withLink(t, signedlink.Any)
	_, body := openLink(t, u, http.MethodGet, "/decide/good", nil)
	webtest.Contains(t, body, "What about the update of web?", `value="skip"`, `value="snooze"`, `<option value="7" selected>`)
	if strings.Contains(body, `value="approve"`) {
		t.Error("the page offers to approve what nothing can carry out")
	}
	f.shown.MayApprove = true
	_, body = openLink(t, u, http.MethodGet, "/decide/good", nil)
	webtest.Contains(t, body, `<button name="action" value="approve" class="first">Approve</button>`)
	_, body = openLink(t, u, http.MethodPost, "/decide/good", url.Values{"action": {"skip"}, "days": {"7"}})
	webtest.Contains(t, body, "Skipped", "Dogwatch ignores this version of web and offers the next one")
	if len(f.redeemed) != 1 || !f.redeemed[0].IsZero() {
		t.Errorf("skipped until %v", f.redeemed)
	}
}

func TestDecidePageRefusesWithASentence(t *testing.T) {
	for title, c := range map[string]struct {
		err    error
		status int
		want   string
	}{
		"expired": {signedlink.ErrExpired, http.StatusGone, "This link has expired"},
		"revoked": {signedlink.ErrRevoked, http.StatusGone, "This link was revoked"},
		"gone":    {signedlink.ErrGone, http.StatusGone, "no longer available"},
		"used":    {signedlink.ErrUsed, http.StatusGone, "You already used this link <time datetime=\"2026-03-29T12:00:00Z\" title=\"2026-03-29 12:00:00 UTC\">just now</time>. To change your decision, open Dogwatch."},
		"store":   {errors.New("disk: secret"), http.StatusInternalServerError, "its log has the details"},
	} {
		u, f := withLink(t, choice.Skip)
		f.err, f.shown.Use = c.err, signedlink.Use{At: webtest.Noon, Action: "skip"}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			resp, body := openLink(t, u, method, "/decide/good", url.Values{})
			if resp.StatusCode != c.status || !strings.Contains(body, c.want) || strings.Contains(body, "<form") ||
				strings.Contains(body, "disk: secret") {
				t.Errorf("%s, %s: %d\n%s", title, method, resp.StatusCode, body)
			}
		}
	}
	u, f := withLink(t, choice.Snooze)
	f.err, f.shown.Use = signedlink.ErrUsed, signedlink.Use{At: webtest.Noon, Action: "snooze"}
	made := choice.Choice{Subject: f.shown.Update.Subject, Kind: choice.Snooze}
	for want, until := range map[string]sdk.Time{
		"It is snoozed until Sun 29 Mar 2026 ":        sdk.TimeOf(webtest.Noon.Add(time.Hour)),
		"It is snoozed until the next version.":       {},
		`<p role="status">You already used this link`: sdk.TimeOf(webtest.Noon), // it has ended
	} {
		made.Until = until
		fakes(u).fakeChoices.all = []choice.Choice{{Subject: "local/other", Kind: choice.Snooze}, made}
		if _, body := openLink(t, u, http.MethodGet, "/decide/good", nil); !strings.Contains(body, want) {
			t.Errorf("there is no %q in\n%s", want, body)
		}
	}
	f.err, f.shown.Known = signedlink.ErrGone, false
	if _, body := openLink(t, u, http.MethodGet, "/decide/good", nil); !strings.Contains(body, "no longer sees this container") {
		t.Errorf("nothing says that the container is gone:\n%s", body)
	}
	u, f = withLink(t, choice.Skip)
	for _, token := range []string{"forged", url.PathEscape(webtest.Evil), "%00", strings.Repeat("x", 5000)} {
		resp, body := openLink(t, u, http.MethodPost, "/decide/"+token, url.Values{})
		if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "This link is not valid") {
			t.Errorf("%.20q: %d", token, resp.StatusCode)
		}
		webtest.MustBeInert(t, body)
	}
	if len(f.redeemed) > 0 {
		t.Error("something was decided")
	}
	f.err = signedlink.ErrChoice
	if resp, body := openLink(t, u, http.MethodPost, "/decide/good",
		url.Values{}); resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "<form") {
		t.Errorf("what cannot be chosen: %d, no second try", resp.StatusCode)
	}
}

func TestDecidePageEscapesTexts(t *testing.T) {
	u, _ := withLink(t, choice.Approved, func(c *sdk.Container) {
		c.DisplayName, c.Result.Link, c.Image.Name = webtest.Evil, "javascript:alert(1)", webtest.Evil
		c.Decision = &sdk.Decision{State: sdk.StateHeld, Reasons: []sdk.Reason{{Text: webtest.Evil}}}
	})
	_, body := openLink(t, u, http.MethodGet, "/decide/good", nil)
	webtest.MustBeInert(t, body)
}

func TestDecidePageOfSampleMessage(t *testing.T) {
	u := newUI(t, Options{Logins: fakeLogins{}}, newFakeService())
	if resp, body := openLink(t, u, http.MethodGet, "/decide/"+signedlink.SampleToken,
		nil); resp.StatusCode != http.StatusOK || !strings.Contains(body, "The links work") {
		t.Errorf("%d\n%s", resp.StatusCode, body)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if resp, body := openLink(t, u, method, "/decide/good", url.Values{}); resp.StatusCode != http.StatusNotFound ||
			!strings.Contains(body, "Links are off") {
			t.Errorf("%s: %d\n%s", method, resp.StatusCode, body)
		}
	}
}

func TestSettingsRevokeLinks(t *testing.T) {
	var revoked []string
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{all: []service.Component{webtest.Configured(kind.Trigger, "ntfy", "main", component.Ready)}}
		f.fakeAccess.links = &revoked
	})
	_, body := get(t, u, "/settings")
	webtest.Contains(t, body, "Links in messages", `<option value="ntfy.main">`)
	resp, body := post(t, u, "/settings/links/revoke", url.Values{"trigger": {"ntfy.main"}})
	if webtest.Contains(t, body, "The links are revoked"); resp.StatusCode != http.StatusOK ||
		!slices.Equal(revoked, []string{"ntfy.main"}) {
		t.Errorf("%d, revoked %v", resp.StatusCode, revoked)
	}
	if _, body := get(t, withFakes(t, nil), "/settings"); strings.Contains(body, "Links in messages") {
		t.Error("there is nothing to revoke")
	}
}
