package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

// withStore returns a UI of containers that are stored, and the names of those that it checks.
func withStore(t testing.TB, containers ...sdk.Container) (*UI, chan string) {
	t.Helper()
	fake, checked := storedService(t, containers...)
	u := newUI(t, Options{BasePath: "/base/", Version: "1.2.3", Logins: fakeLogins{}}, fake)
	u.Loaded(httptest.NewRecorder()) // tests make rows, too
	return u, checked
}

// storedService returns a service of containers that are stored, and the names of those that it checks.
func storedService(t testing.TB, containers ...sdk.Container) (*fakeService, chan string) {
	t.Helper()
	checked := make(chan string, 100)
	fake := newFakeService()
	fake.fakeContainers = fakeContainers{snapshot: webtest.Stored(t, containers...).Snapshot, checked: checked}
	return fake, checked
}

// newUI returns a UI of noon.
func newUI(t testing.TB, opt Options, service application) *UI {
	t.Helper()
	opt.Log, opt.Now = hclog.NewNullLogger(), func() time.Time { return webtest.Noon }
	if opt.Links == nil {
		opt.Links = signedlink.None{}
	}
	u := build(opt, service)
	t.Cleanup(u.Close)
	return u
}

// request requests a page, without an actor.
func request(u *UI, method, path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	u.ServeHTTP(w, r)
	return w
}

// withFakes returns a UI of constant data, which change replaces; nil changes nothing.
func withFakes(t *testing.T, change func(*fakeService)) *UI {
	t.Helper()
	fake := newFakeService()
	if change != nil {
		change(fake)
	}
	return newUI(t, Options{BasePath: "/base", Version: "1.2.3", Logins: fakeLogins{}}, fake)
}

// get returns the status and the body of a page, as an operator sees it.
func get(t *testing.T, u *UI, path string) (int, string) {
	t.Helper()
	return respond(t, u, asOperator(httptest.NewRequest(http.MethodGet, path, nil)))
}

// asOperator returns a request of a logged-in user.
func asOperator(r *http.Request) *http.Request {
	return r.WithContext(auth.With(r.Context(), auth.Identity{User: "ana", Method: "basic.main", Scope: auth.Manage}))
}

// post submits a form as an operator.
func post(t *testing.T, u *UI, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	u.ServeHTTP(w, asOperator(r))
	return w.Result(), w.Body.String()
}

// tested runs a test of a component and returns the page to which that leads.
func tested(t *testing.T, u *UI, path string, form url.Values) string {
	t.Helper()
	resp, _ := post(t, u, path+"/test", form)
	to := resp.Header.Get("Location")
	if resp.StatusCode != http.StatusSeeOther || to != "/base"+path+"?tested#test-result" {
		t.Fatalf("a test of %s responds %d, leads to %q", path, resp.StatusCode, to)
	}
	_, body := get(t, u, path+"?tested")
	return body
}

// respond returns the status and the body of a response.
func respond(t *testing.T, u *UI, r *http.Request) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	u.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body)
}
