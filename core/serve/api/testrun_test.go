package api

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
)

// fakeTestRuns returns what it was called with, or fails.
type fakeTestRuns struct{ err error }

func (f fakeTestRuns) Run(ctx context.Context, c *component.Component, req testrun.Request) (testrun.Result, error) {
	if f.err != nil {
		return testrun.Result{}, f.err
	}
	return testrun.Result{Response: fmt.Sprintf("%s %q", c.FullID(), req.Image)}, ctx.Err()
}

func (f fakeTestRuns) Preview(context.Context, *component.Trigger) (testrun.Result, error) {
	return testrun.Result{}, f.err
}

func TestTestRun(t *testing.T) {
	w := start(t, nil)
	for path, want := range map[string]string{
		"/api/watchers/docker/local/test":   `watcher.docker.local ""`,
		"/api/registries/hub/private/test":  `registry.hub.private "me/app:1.0"`,
		"/API/Triggers/SMTP/gmail/test/":    `trigger.smtp.gmail ""`,
		"/api/triggers/smtp/gmail/test?x=y": `trigger.smtp.gmail ""`,
	} {
		body := ""
		if want == `registry.hub.private "me/app:1.0"` {
			body = `{"image":"me/app:1.0"}`
		}
		got := w.do("POST", path, body).want(200).object()
		if got["answer"] != want || got["took"] == "" {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
	w.do("POST", "/api/triggers/smtp/missing/test", "").want(404)
	w.do("POST", "/api/triggers/smtp/gmail/test", "{").want(400)
	w.get("/api/triggers/smtp/gmail/test").want(405)
}

// TestFailedTestRun: a failure is a 502 with its reason, without secrets; an invalid request is not.
func TestFailedTestRun(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		status int
		says   string
	}{
		"refused": {sdk.WithKind(sdk.ErrUnauthorized, errors.New("login with "+smtpPass+" refused")), 502,
			"login with *** refused"},
		"not ready":      {sdk.Invalid("host", "is required"), 502, "host: is required"},
		"an unused host": {fmt.Errorf("%w: log in", testrun.ErrHost), 403, "no container uses this host: log in"},
		"a wrong image":  {sdk.Invalid("image", "is no reference"), 400, "image: is no reference"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, nil, func(o *testOptions) { o.app.TestRuns = fakeTestRuns{test.err} })
			got := w.do("POST", "/api/triggers/smtp/gmail/test", "").want(test.status).object()
			if got["detail"] != test.says {
				t.Errorf("got %v, want %q", got["detail"], test.says)
			}
		})
	}
}
