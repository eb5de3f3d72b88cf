package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

const madeSecret = "dw_0123456789abcdef"

// fakeTokens are tokens for those who may.
type fakeTokens struct {
	may   bool
	all   []Token
	asked *[]string
	err   error
}

func (f fakeTokens) May(*http.Request) bool { return f.may }

func (f fakeTokens) List(context.Context) ([]Token, error) { return f.all, nil }

func (f fakeTokens) Create(_ *http.Request, name, scope string, expires time.Time) (string, error) {
	end := "never"
	if !expires.IsZero() {
		end = expires.Format(time.DateOnly)
	}
	*f.asked = append(*f.asked, name+" "+scope+" "+end)
	return madeSecret, f.err
}

func (f fakeTokens) Revoke(_ *http.Request, id int64) error {
	for _, t := range f.all {
		if t.ID == id {
			return nil
		}
	}
	return sdk.ErrNotFound
}

func TestTokens(t *testing.T) {
	asked := []string{}
	fake := fakeTokens{may: true, asked: &asked, all: []Token{
		{ID: 1, Name: "homepage", Scope: "read", Creator: "ana", Created: noon.Add(-time.Hour), Used: noon.Add(-time.Minute), Expires: noon.Add(48 * time.Hour)},
		{ID: 2, Name: evil, Scope: "write", Created: noon.Add(-time.Hour), Expires: noon},
	}}
	u := side(t, func(o *Options) { o.Tokens = fake })
	_, body := get(t, u, "/settings")
	mustBeInert(t, body)
	contains(t, body, "homepage", "by ana", "expired", "in 2 d", `action="/base/settings/tokens/1/revoke"`)

	r, body := post(t, u, "/settings/tokens", url.Values{"name": {"glance"}, "scope": {"write"}, "days": {"30"}})
	if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, %v", r.StatusCode, r.Header)
	}
	contains(t, body, madeSecret, "This is the token glance")
	_, body = get(t, u, "/settings")
	if strings.Contains(body, madeSecret) {
		t.Error("the secret is shown again")
	}
	post(t, u, "/settings/tokens", url.Values{"name": {"x"}, "scope": {"read"}, "days": {"0"}})
	post(t, u, "/settings/tokens", url.Values{"name": {"y"}, "scope": {"read"}, "days": {"nonsense"}})
	if got := strings.Join(asked, ", "); got != "glance write 2026-04-28, x read never, y read 2027-03-29" {
		t.Errorf("asked: %s", got)
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

func TestTokensThatAreRefused(t *testing.T) {
	fake := fakeTokens{may: true, asked: &[]string{}, err: sdk.Invalid("name", "is required")}
	u := side(t, func(o *Options) { o.Tokens = fake })
	r, body := post(t, u, "/settings/tokens", url.Values{"name": {evil}})
	mustBeInert(t, body)
	if r.StatusCode != http.StatusBadRequest || strings.Contains(body, madeSecret) {
		t.Errorf("status %d: %s", r.StatusCode, body)
	}
	contains(t, body, "No token was made", "is required")

	fake.err = errors.New("disk on fire")
	u = side(t, func(o *Options) { o.Tokens = fake })
	if r, body = post(t, u, "/settings/tokens", url.Values{"name": {"x"}}); r.StatusCode != http.StatusInternalServerError || strings.Contains(body, "disk on fire") {
		t.Errorf("status %d: %s", r.StatusCode, body)
	}

	fake.may = false
	u = side(t, func(o *Options) { o.Tokens = fake })
	_, body = get(t, u, "/settings")
	contains(t, body, "dogwatch token create")
	for _, path := range []string{"/settings/tokens", "/settings/tokens/1/revoke"} {
		if r, body = post(t, u, path, nil); r.StatusCode != http.StatusForbidden || strings.Contains(body, madeSecret) {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
}
