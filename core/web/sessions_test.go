package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// fakeSessions are sessions for those who may.
type fakeSessions struct {
	may   bool
	all   []auth.Session
	ended *[]string
	err   error
}

func (f fakeSessions) May(*http.Request) bool                       { return f.may }
func (f fakeSessions) List(context.Context) ([]auth.Session, error) { return f.all, nil }
func (f fakeSessions) End(_ *http.Request, id string) error {
	*f.ended = append(*f.ended, id)
	return f.err
}
func (f fakeSessions) EndOthers(*http.Request) error {
	*f.ended = append(*f.ended, "others")
	return f.err
}

func TestSessions(t *testing.T) {
	ended := []string{}
	fake := fakeSessions{may: true, ended: &ended, all: []auth.Session{
		{ID: "a1", User: "ana", Method: "basic.main", Created: noon.Add(-time.Hour), Used: noon, Expires: noon.Add(48 * time.Hour), Own: true},
		{ID: "b2", User: evil, Method: "oidc.home", Created: noon.Add(-time.Hour), Used: noon, Expires: noon.Add(time.Hour)},
	}}
	u := side(t, func(o *Options) { o.Sessions = fake })
	_, body := get(t, u, "/settings")
	mustBeInert(t, body)
	contains(t, body, "this one", "oidc.home", "ends <time", "in 2 d", `action="/base/settings/sessions/b2/end"`, "End all others (1)")
	for path, want := range map[string]string{"/settings/sessions/b2/end": "b2", "/settings/sessions/end-others": "others"} {
		r, _ := post(t, u, path, nil)
		if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/base/settings#sessions" || ended[len(ended)-1] != want {
			t.Errorf("%s: %d to %q, ended %v", path, r.StatusCode, r.Header.Get("Location"), ended)
		}
	}
	fake.all = fake.all[:1]
	if _, body := get(t, side(t, func(o *Options) { o.Sessions = fake }), "/settings"); strings.Contains(body, "End all others") {
		t.Error("there are no others")
	}
	for want, err := range map[int]error{http.StatusNotFound: sdk.ErrNotFound, http.StatusInternalServerError: errors.New("disk on fire")} {
		fake.err = err
		r, body := post(t, side(t, func(o *Options) { o.Sessions = fake }), "/settings/sessions/b2/end", nil)
		if r.StatusCode != want || strings.Contains(body, "on fire") {
			t.Errorf("%v: %d %s", err, r.StatusCode, body)
		}
	}
	if r, _ := post(t, side(t, func(o *Options) { o.Sessions = fake }), "/settings/sessions/end-others", nil); r.StatusCode != http.StatusInternalServerError {
		t.Errorf("status %d", r.StatusCode)
	}

	n := len(ended)
	fake.may, fake.err = false, nil
	u = side(t, func(o *Options) { o.Sessions = fake })
	if _, body := get(t, u, "/settings"); strings.Contains(body, `id="sessions"`) {
		t.Error("sessions are shown to whoever may not see them")
	}
	for _, path := range []string{"/settings/sessions/a1/end", "/settings/sessions/end-others"} {
		if r, _ := post(t, u, path, nil); r.StatusCode != http.StatusForbidden || len(ended) != n {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
}
