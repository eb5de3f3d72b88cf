package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/sdk"
)

const hookSecret = "the-secret-of-the-hook"

// withHook has a webhook of the name ci, and no containers.
func withHook(o *testOptions) {
	o.app.Webhooks = webhook.New(webhook.Options{
		Hooks: []webhook.Hook{{Name: "ci", Secret: hookSecret}}, Containers: func() []sdk.Container { return nil },
		Log: hclog.NewNullLogger(), Now: time.Now,
	})
}

// TestWebhookGuessesAreLimited: a client that tries many secrets has to wait, and others do not.
func TestWebhookGuessesAreLimited(t *testing.T) {
	w := start(t, nil, withHook)
	right, body := "Bearer "+hookSecret, `{"image":"nginx"}`
	w.do(http.MethodPost, "/api/webhooks/ci", body, "Authorization", right).want(200)
	statuses := map[int]int{}
	for i := range 40 {
		path := "/api/webhooks/ci" + strings.Repeat("/check", i%2)
		r := w.do(http.MethodPost, path, body, "Authorization", "Bearer guess")
		statuses[r.status]++
		if strings.Contains(string(r.body), hookSecret) {
			t.Errorf("the response has the secret: %s", r.body)
		}
	}
	if statuses[401] != 20 || statuses[429] != 20 {
		t.Errorf("the responses of 40 guesses are %v", statuses)
	}
	if r := w.do(http.MethodPost, "/api/webhooks/ci", body, "Authorization", right); r.status != 429 ||
		r.header.Get("Retry-After") == "" {
		t.Errorf("after that, the right secret gets %d, to be tried after %q s", r.status, r.header.Get("Retry-After"))
	}
}

// TestUnknownWebhooksLookLikeWrongSecrets: nobody can tell which webhooks there are, or try names without end.
func TestUnknownWebhooksLookLikeWrongSecrets(t *testing.T) {
	for what, options := range map[string][]func(*testOptions){"one webhook": {withHook}, "none": nil} {
		w := start(t, nil, options...)
		ask := func(path string) response {
			return w.do(http.MethodPost, path, `{"image":"nginx"}`, "Authorization", "Bearer guess")
		}
		for i := range 10 {
			path := strings.Repeat("/check", i%2)
			known, other := ask("/api/webhooks/ci"+path), ask("/api/webhooks/other"+path)
			if known.status != 401 || other.status != 401 ||
				string(known.body) != strings.ReplaceAll(string(other.body), "/other", "/ci") {
				t.Errorf("%s: %d %s and %d %s", what, known.status, known.body, other.status, other.body)
			}
		}
		if r := ask("/api/webhooks/third"); r.status != 429 {
			t.Errorf("%s: after 20 guesses another name gets %d", what, r.status)
		}
	}
}

// fullStore keeps nothing.
type fullStore struct{ webhook.Store }

func (fullStore) AddPushed(context.Context, []webhook.Image) error {
	return errors.New("database or disk is full")
}

// TestWebhookThatCannotBeStored: the sender reads that it has to send the delivery again.
func TestWebhookThatCannotBeStored(t *testing.T) {
	w := start(t, nil, func(o *testOptions) {
		running := sdk.Container{
			ID: "1", Name: "web", Watcher: "local",
			Image: sdk.Image{Registry: sdk.Registry{Host: "docker.io"}, Name: "library/nginx", Tag: sdk.Tag{Value: "1"}},
		}
		o.app.Webhooks = webhook.New(webhook.Options{
			Hooks:      []webhook.Hook{{Name: "ci", Secret: hookSecret}},
			Containers: func() []sdk.Container { return []sdk.Container{running} },
			Store:      fullStore{}, Log: hclog.NewNullLogger(), Now: time.Now,
		})
	})
	for range 2 { // the second is no duplicate
		r := w.do(http.MethodPost, "/api/webhooks/ci", `{"image":"nginx"}`, "Authorization", "Bearer "+hookSecret)
		if r.status != http.StatusInternalServerError {
			t.Errorf("the status is %d: %s", r.status, r.body)
		}
	}
}

// TestWebhookRefusesBodies that are too large, no JSON or of no sender, whatever type they say.
func TestWebhookRefusesBodies(t *testing.T) {
	w := start(t, nil, withHook)
	for name, c := range map[string]struct {
		body, kind string
		status     int
	}{
		"a form":      {"payload=%7B%7D", "application/x-www-form-urlencoded", 400},
		"megabytes":   {`{"image":"` + strings.Repeat("a", 3<<20) + `"}`, "application/json", 413},
		"nothing":     {"", "application/json", 400},
		"of no one":   {`{"a":1}`, "application/json", 400},
		"as text":     {`{"image":"nginx"}`, "text/plain", 200},
		"without one": {`{"image":"nginx"}`, "", 200},
	} {
		if r := w.do(http.MethodPost, "/api/webhooks/ci", c.body, "Authorization", hookSecret, "Content-Type",
			c.kind); r.status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, r.status, c.status, r.body)
		}
	}
}
