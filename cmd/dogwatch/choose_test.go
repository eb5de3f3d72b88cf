package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// serveChoices is a Dogwatch whose containers web and db have the update 2.0, and new none. It
// appends the choices that it is sent to the result.
func serveChoices(t *testing.T) *[]string {
	t.Helper()
	var got []string
	containers := map[string]*sdk.Container{}
	for _, name := range []string{"web", "db", "new"} {
		c := &sdk.Container{ID: name + "0123456789", Name: name, Watcher: "local", UpdateAvailable: name != "new"}
		if c.UpdateAvailable {
			c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "2.0", SemverDiff: sdk.DiffMajor}
			c.Result = &sdk.Result{Tag: "2.0"}
			c.Decision = &sdk.Decision{State: sdk.StateOffered}
		}
		containers[c.ID] = c
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/containers", func(w http.ResponseWriter, _ *http.Request) {
		var all []sdk.Container
		for _, c := range containers {
			all = append(all, *c)
		}
		respond(w, http.StatusOK, all)
	})
	mux.HandleFunc("GET /api/containers/{id}", func(w http.ResponseWriter, r *http.Request) {
		respond(w, http.StatusOK, containers[r.PathValue("id")])
	})
	mux.HandleFunc("POST /api/containers/{id}/decision", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Action, Version, Until string }
		c := containers[r.PathValue("id")]
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || !c.UpdateAvailable {
			respond(w, http.StatusBadRequest, map[string]string{"detail": "version: there is no update of local/" + c.Name})
			return
		}
		got = append(got, strings.Join([]string{c.Name, body.Action, body.Version, body.Until}, " "))
		c.Decision = &sdk.Decision{
			State: sdk.StateHeld, Reasons: []sdk.Reason{{Code: "choice", Text: "it was decided by ana", Source: "ana"}},
		}
		respond(w, http.StatusOK, map[string]any{"decision": c.Decision, "choices": []any{}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOGWATCH_STORE_PATH", t.TempDir())
	t.Setenv("DOGWATCH_SERVER_PORT", at.Port())
	return &got
}

func TestChoose(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"skip web", "web skip 2.0 "},
		{"skip web db", "web skip 2.0 ,db skip 2.0 "},
		{"skip web --version 1.1", "web skip 1.1 "},
		{"approve local/web", "web approve 2.0 "},
		{"snooze web", "web snooze 2.0 "},
		{"snooze web --until 2999-12-24T08:00:00Z", "web snooze  2999-12-24T08:00:00.000Z"},
		{"undo web web", "web undo  "},
	} {
		got := serveChoices(t)
		out, err := runRoot(t, strings.Fields(test.args)...)
		if sent := strings.Join(*got, ","); err != nil || sent != test.want {
			t.Errorf("%s: sends %q, want %q: %v", test.args, sent, test.want, err)
		}
		if !strings.Contains(out, "local/web: 2.0 is held: it was decided by ana\n") {
			t.Errorf("%s: prints %q", test.args, out)
		}
	}
}

func TestChooseRefusals(t *testing.T) {
	for _, test := range []struct {
		args, want string
		sent, code int
	}{
		{"skip new web", "local/new: version: there is no update", 1, exitFailure},
		{"skip web nwe", "there is no container", 0, exitFailure},
		{"skip", "an argument is missing", 0, exitUsage},
		{"snooze web --until yesterday", `--until "yesterday" is neither a date`, 0, exitUsage},
		{"snooze web --until 2020-01-01", "is over", 0, exitUsage},
		{"snooze web --until 0", "is neither a date", 0, exitUsage},
		{"undo web --until 7d", "unknown flag: --until", 0, exitUsage},
	} {
		got := serveChoices(t)
		_, err := runRoot(t, strings.Fields(test.args)...)
		if code, _ := exitCode(err); err == nil || !strings.Contains(err.Error(), test.want) ||
			len(*got) != test.sent || code != test.code {
			t.Errorf("%s: got %v (%d) after %q, want %q (%d)", test.args, err, code, *got, test.want, test.code)
		}
	}
}

func TestParseUntil(t *testing.T) {
	zone := time.FixedZone("zone", 2*60*60)
	now := time.Date(2026, time.November, 23, 12, 0, 0, 0, zone)
	for text, want := range map[string]string{
		"2026-12-24": "2026-12-24T00:00:00+02:00", "2026-12-24 08:00": "2026-12-24T08:00:00+02:00",
		"7d":                   "2026-11-30T12:00:00+02:00",
		"2026-12-24T08:00:00Z": "2026-12-24T08:00:00Z", "1w12h": "2026-12-01T00:00:00+02:00",
	} {
		if got, err := parseUntil(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: got %s, %v, want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
}
