package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

const madeSecret = "dw_0123456789abcdef"

func TestTokenSettings(t *testing.T) {
	created := []string{}
	fake := fakeAccess{calls: &created, tokens: []store.Token{
		{
			ID: 1, Name: "homepage", Scope: "read", Creator: "ana", Created: webtest.Noon.Add(-time.Hour),
			Used: webtest.Noon.Add(-time.Minute), Expires: webtest.Noon.Add(48 * time.Hour),
		},
		{ID: 2, Name: webtest.Evil, Scope: "write", Created: webtest.Noon.Add(-time.Hour), Expires: webtest.Noon},
	}}
	u := withFakes(t, func(f *fakeService) { f.fakeAccess = fake })
	_, body := get(t, u, "/settings")
	webtest.MustBeInert(t, body)
	webtest.Contains(t, body, "homepage", "by ana", "expired", "in 2 d", `action="/base/settings/tokens/1/revoke"`)

	r, body := post(t, u, "/settings/tokens", url.Values{"name": {"glance"}, "scope": {"write"}, "days": {"30"}})
	if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, %v", r.StatusCode, r.Header)
	}
	webtest.Contains(t, body, madeSecret, "This is the token glance")
	_, body = get(t, u, "/settings")
	if strings.Contains(body, madeSecret) {
		t.Error("the secret is shown again")
	}
	post(t, u, "/settings/tokens", url.Values{"name": {"x"}, "scope": {"read"}, "days": {"0"}})
	post(t, u, "/settings/tokens", url.Values{"name": {"y"}, "scope": {"read"}, "days": {"nonsense"}})
	if got := strings.Join(created, ", "); got != "glance write 2026-04-28, x read never, y read 2027-03-29" {
		t.Errorf("created: %s", got)
	}

	if r, _ := post(t, u, "/settings/tokens/1/revoke", nil); r.StatusCode != http.StatusSeeOther {
		t.Errorf("revoke: status %d", r.StatusCode)
	}
	for _, id := range []string{"77", "x"} {
		if r, _ := post(t, u, "/settings/tokens/"+id+"/revoke", nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("revoke %s: status %d", id, r.StatusCode)
		}
	}
}

func TestCreateTokenErrors(t *testing.T) {
	fake := fakeAccess{err: sdk.Invalid("name", "is required")}
	u := withFakes(t, func(f *fakeService) { f.fakeAccess = fake })
	r, body := post(t, u, "/settings/tokens", url.Values{"name": {webtest.Evil}})
	webtest.MustBeInert(t, body)
	if r.StatusCode != http.StatusBadRequest || strings.Contains(body, madeSecret) {
		t.Errorf("status %d: %s", r.StatusCode, body)
	}
	webtest.Contains(t, body, "No token was created", "is required")

	fake.err = errors.New("disk on fire")
	u = withFakes(t, func(f *fakeService) { f.fakeAccess = fake })
	if r, body = post(t, u, "/settings/tokens", url.Values{
		"name": {"x"},
	}); r.StatusCode != http.StatusInternalServerError || strings.Contains(body, "disk on fire") {
		t.Errorf("status %d: %s", r.StatusCode, body)
	}

	fake.forbidden = true
	u = withFakes(t, func(f *fakeService) { f.fakeAccess = fake })
	_, body = get(t, u, "/settings")
	webtest.Contains(t, body, "dogwatch token create")
	for _, path := range []string{"/settings/tokens", "/settings/tokens/1/revoke"} {
		if r, body = post(t, u, path, nil); r.StatusCode != http.StatusForbidden || strings.Contains(body, madeSecret) {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
}
