package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const ours = "+431212131491291"

// service responds as signal-cli-rest-api does, to who has the password of the proxy in front of it.
type service struct {
	url string

	mu   sync.Mutex
	sent []message
}

func newService(t *testing.T) *service {
	s := &service{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(why string) map[string]string { return map[string]string{"error": why} }
	respond := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	if _, password, _ := r.BasicAuth(); password != "" && password != "recognisable-password" {
		respond(http.StatusUnauthorized, nil)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/accounts":
		respond(http.StatusOK, []string{ours})
	case "POST /v2/send":
		var m message
		switch err := json.NewDecoder(r.Body).Decode(&m); {
		case err != nil || r.Header.Get("Content-Type") != "application/json":
			respond(http.StatusBadRequest, refuse("Couldn't process request - invalid request"))
		case len(m.Recipients) == 0 || m.Message == "":
			respond(http.StatusBadRequest, refuse("Couldn't process request - please provide at least one recipient"))
		case m.Number != ours:
			respond(http.StatusBadRequest, refuse("Specified account does not exist"))
		default:
			s.mu.Lock()
			s.sent = append(s.sent, m)
			s.mu.Unlock()
			respond(http.StatusCreated, map[string]string{"timestamp": "1767323045000"})
		}
	default:
		respond(http.StatusNotFound, refuse("404 page not found"))
	}
}

func settings(url string) map[string]any {
	return map[string]any{"url": url, "number": ours, "recipients": "+4354546464654,group.aGVsbG8="}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, signalType(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return settings(newService(t).url) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return settings(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(settings),
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "ftp://example.com"}},
			{Field: "number", Set: map[string]any{"number": "0043121213"}},
			{Field: "recipients", Set: map[string]any{"recipients": nil}},
		},
	})
}

func TestMessageGoesToAllRecipients(t *testing.T) {
	s := newService(t)
	at := strings.Replace(s.url, "http://", "http://ann:recognisable-password@", 1)
	req := triggertest.Request("nginx")
	if err := plugintest.Trigger(t, signalType(), settings(at)).Run(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if len(s.sent) != 1 || s.sent[0].Message != req.Title+"\n\n"+req.Body ||
		!slices.Equal(s.sent[0].Recipients, []string{"+4354546464654", "group.aGVsbG8="}) {
		t.Errorf("sent %+v", s.sent)
	}
}

func TestProbeFindsTheNumber(t *testing.T) {
	o := settings(newService(t).url)
	if _, err := plugintest.Trigger(t, signalType(), o).Probe(t.Context(), sdk.ProbeRequest{}); err != nil {
		t.Error(err)
	}
	o["number"] = "+4900000"
	if _, err := plugintest.Trigger(t, signalType(), o).Probe(t.Context(), sdk.ProbeRequest{}); err == nil ||
		!strings.Contains(err.Error(), "+4900000 is not registered there") {
		t.Errorf("got %v", err)
	}
}
