package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestExplainAsksWhoServes: why an update is held is known to the Dogwatch that is serving.
func TestExplainAsksWhoServes(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/containers", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, http.StatusOK, []sdk.Container{{ID: "id-web", Name: "web", Watcher: "local"}})
	})
	mux.HandleFunc("GET /api/containers/{id}/explain", func(w http.ResponseWriter, r *http.Request) {
		respond(w, http.StatusOK, check.Explanation{ID: r.PathValue("id"), Name: "web", UpdateAvailable: true,
			Summary: phrase.Texts(phrase.Verbatim("The update is held: 1.1 is too young."))})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOGWATCH_STORE_PATH", t.TempDir())
	t.Setenv("DOGWATCH_SERVER_PORT", at.Port())
	out, err := runRoot(t, "explain", "web")
	if err != nil || !strings.Contains(out, "The update is held: 1.1 is too young.") || strings.Contains(out, "No Dogwatch is serving") {
		t.Errorf("%v\n%s", err, out)
	}
}
