package web

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

func TestSessionSettings(t *testing.T) {
	ended := []string{}
	fake := fakeAccess{calls: &ended, sessions: []auth.Session{
		{
			ID: "a1", User: "ana", Method: "basic.main", Created: webtest.Noon.Add(-time.Hour), Used: webtest.Noon,
			Expires: webtest.Noon.Add(48 * time.Hour), Own: true,
		},
		{ID: "b2", User: webtest.Evil, Method: "oidc.home", Created: webtest.Noon.Add(-time.Hour), Used: webtest.Noon,
			Expires: webtest.Noon.Add(time.Hour)},
	}}
	u := withFakes(t, func(f *fakeService) { f.fakeAccess = fake })
	_, body := get(t, u, "/settings")
	webtest.MustBeInert(t, body)
	webtest.Contains(t, body, "this session", ">Log out</button>", `title="oidc.home">single sign-on</td>`, `title="basic.main">password</td>`, "expires <time", "in 2 d", `action="/base/settings/sessions/b2/end"`,
		"End all others (1)")
	for path, want := range map[string]string{
		"/settings/sessions/b2/end": "b2", "/settings/sessions/end-others": "others",
	} {
		r, _ := post(t, u, path, nil)
		if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/base/settings#sessions" ||
			ended[len(ended)-1] != want {
			t.Errorf("%s: %d to %q, ended %v", path, r.StatusCode, r.Header.Get("Location"), ended)
		}
	}
	for _, part := range []string{"sessions", "tokens"} {
		if r := request(u, http.MethodGet, "/settings/"+part, nil).Result(); r.Header.Get("Location") != "/base/settings#"+part {
			t.Errorf("the page of %s leads to %q", part, r.Header.Get("Location"))
		}
	}
	fake.sessions = fake.sessions[:1]
	if _, body := get(t, withFakes(t, func(f *fakeService) { f.fakeAccess = fake }),
		"/settings"); strings.Contains(body, "End all others") {
		t.Error("there are no others")
	}
	for want, err := range map[int]error{
		http.StatusNotFound: service.ErrNotFound, http.StatusInternalServerError: errors.New("disk on fire"),
	} {
		fake.err = err
		r, body := post(t, withFakes(t, func(f *fakeService) { f.fakeAccess = fake }), "/settings/sessions/b2/end", nil)
		if r.StatusCode != want || strings.Contains(body, "on fire") {
			t.Errorf("%v: %d %s", err, r.StatusCode, body)
		}
	}
	fake.err = errors.New("disk on fire")
	if r, _ := post(t, withFakes(t, func(f *fakeService) { f.fakeAccess = fake }), "/settings/sessions/end-others",
		nil); r.StatusCode != http.StatusInternalServerError {
		t.Errorf("status %d", r.StatusCode)
	}

	n := len(ended)
	fake.forbidden, fake.err = true, nil
	u = withFakes(t, func(f *fakeService) { f.fakeAccess = fake })
	if _, body := get(t, u, "/settings"); strings.Contains(body, `id="sessions"`) {
		t.Error("sessions are shown to a user who may not see them")
	}
	for _, path := range []string{"/settings/sessions/a1/end", "/settings/sessions/end-others"} {
		if r, _ := post(t, u, path, nil); r.StatusCode != http.StatusForbidden || len(ended) != n {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
}
