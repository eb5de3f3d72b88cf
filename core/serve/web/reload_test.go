package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// fakeReload reloads a constant configuration.
type fakeReload struct {
	result reload.Result
	err    error
}

func (f fakeReload) PreviewReload(context.Context, auth.Actor) (reload.Result, error) {
	return f.result, f.err
}

func (f fakeReload) ReloadConfiguration(context.Context, auth.Actor) (reload.Result, error) {
	done := f.result
	done.Applied = len(done.Errors) == 0
	return done, f.err
}

func TestReloadPage(t *testing.T) {
	differs := reload.Result{
		Differences: []config.Difference{{
			Path: "trigger.smtp.main.host", Before: "mx1", After: "<mx2>", Source: "dogwatch.yaml:3",
		}}, Changed: []string{"trigger.smtp.main"},
	}
	wrong, restarts := differs, differs
	wrong.Errors = []string{"trigger.smtp.main.port: want a whole number"}
	restarts.Restart = true
	for _, c := range []struct {
		about, method string
		result        reload.Result
		err           error
		status        int
		want, not     string
	}{
		{"differences", http.MethodGet, differs, nil, 200, "&lt;mx2&gt;", "<mx2>"},
		{"differences", http.MethodGet, differs, nil, 200, "Only what is new, changed or removed restarts",
			"everything restarts"},
		{"settings", http.MethodGet, restarts, nil, 200, "everything restarts", ""},
		{"nothing", http.MethodGet, reload.Result{}, nil, 200, "There is nothing to reload", `<button class="first">Reload`},
		{"mistakes", http.MethodGet, wrong, nil, 200, "want a whole number", `<button class="first">Reload`},
		{"reloaded", http.MethodPost, differs, nil, 200, "The configuration is reloaded", `<button class="first">Reload`},
		{"restarts", http.MethodPost, restarts, nil, 200, "goes on in a few seconds", ""},
		{"mistakes", http.MethodPost, wrong, nil, 422, "nothing is changed", "is reloaded"},
		{"the demo", http.MethodPost, differs, reload.ErrUnsupported, 409, "There is nothing to reload", ""},
	} {
		u := withFakes(t, func(f *fakeService) { f.fakeSettings = &fakeSettings{fakeReload: fakeReload{c.result, c.err}} })
		w := request(u, c.method, "/settings/reload", url.Values{})
		status, body := w.Code, w.Body.String()
		if status != c.status || !strings.Contains(body, c.want) || c.not != "" && strings.Contains(body, c.not) {
			t.Errorf("%s, %s: %d %s", c.method, c.about, status, body)
		}
	}
}
