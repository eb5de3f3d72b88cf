package cluster

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestReadList(t *testing.T) {
	const two = `{"metadata": {"resourceVersion": "7", "continue": "x"},
		"items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}], "kind": "PodList"}`
	for text, want := range map[string]string{
		two: "7 x a b",

		`{"items": [{"metadata": {"name": "a"}}], "metadata": {"resourceVersion": "7"}}`: "7  a",
		`{"metadata": {"resourceVersion": "7"}, "items": null}`:                          "7 ",
		`{"metadata": {"resourceVersion": "7"}, "items": []}`:                            "7 ",
		`{"metadata": {"resourceVersion": "7"}, "items": {}}`:                            "",
		`{"metadata": {"resourceVersion": "7"}}`:                                         "",
		`{"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "a"}}`:   "",
		`[]`: "", ``: "", `{`: "", `<html>`: "",
	} {
		var got []string
		each := func(o *Object) { got = append(got, o.Metadata.Name) }
		metadata, err := readList(json.NewDecoder(strings.NewReader(text)), each)
		said := strings.Join(append([]string{metadata.ResourceVersion, metadata.Continue}, got...), " ")
		if (want == "") != (err != nil) || err == nil && said != want {
			t.Errorf("%s: got %q, %v; want %q", text, said, err, want)
		}
	}
}

// TestPagesThatGoInCircles end with an error.
func TestPagesThatGoInCircles(t *testing.T) {
	requests := 0
	c := to(t, func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_, _ = io.WriteString(w, `{"metadata": {"continue": "again"}, "items": []}`)
	})
	if _, err := c.List(t.Context(), Resource{Version: "v1", Name: "pods"}, func(*Object) {}); !sdk.Retryable(err) || requests > 2 {
		t.Errorf("%d requests, and %v", requests, err)
	}
}

// TestEventsAreBounded: a server that never ends an event does not fill the memory.
func TestEventsAreBounded(t *testing.T) {
	c := to(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"type": "ADDED", "object": {"metadata": {"name": "a"}}}
			{"type": "ADDED", "object": {"metadata": {"name": "`)
		chunk := strings.Repeat("x", 1<<20)
		for range 2 * maxEvent >> 20 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	s, err := c.Watch(t.Context(), Resource{Version: "v1", Name: "pods"}, "1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if kind, o, err := s.Next(); err != nil || kind != Added || o.Metadata.Name != "a" {
		t.Errorf("got %s, %+v, %v", kind, o, err)
	}
	if _, _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "an event has more than") {
		t.Errorf("got %v", err)
	}
}

func to(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return New(Endpoint{Server: at}, "test")
}
