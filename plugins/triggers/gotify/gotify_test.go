package gotify

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const token = "recognisable-token"

func options(url string) map[string]any { return map[string]any{"url": url, "token": token} }

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any {
			address, _ := server(t)
			return options(address)
		},
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: append(triggertest.HTTPFailures(options), triggertest.Failure{
			Name: "wrong token", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				address, _ := server(t)
				return map[string]any{"url": address, "token": "recognisable-mistake"}
			},
		}),
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "gotify.example.org"}},
			{Field: "priority", Set: map[string]any{"priority": "high"}},
		},
	})
}

// server is a Gotify server: it checks what it gets as the real one does.
func server(t *testing.T) (address string, arrived chan []byte) {
	arrived = make(chan []byte, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		refuse := func(status int, reason string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": http.StatusText(status), "errorCode": status, "errorDescription": reason})
		}
		var m struct {
			Title    string                    `json:"title"`
			Message  string                    `json:"message"`
			Priority *int                      `json:"priority"`
			Extras   map[string]map[string]any `json:"extras"`
		}
		decoder := json.NewDecoder(bytes.NewReader(payload))
		decoder.DisallowUnknownFields()
		switch err := decoder.Decode(&m); {
		case r.Method != "POST" || r.URL.Path != "/base/message":
			refuse(404, "page not found")
		case r.Header.Get("X-Gotify-Key") != token:
			refuse(401, "you need to provide a valid access token or user credentials to access this api, not "+r.Header.Get("X-Gotify-Key"))
		case err != nil || r.Header.Get("Content-Type") != "application/json":
			refuse(400, "invalid message")
		case m.Message == "":
			refuse(400, "Field 'message' is required")
		case len(m.Title) > 1<<16-1 || len(m.Message) > 1<<16-1:
			refuse(500, "Data too long for column")
		default:
			for key := range m.Extras {
				if !strings.Contains(key, "::") {
					t.Errorf("an extra without a namespace: %s", key)
				}
			}
			arrived <- payload
			_, _ = w.Write([]byte(`{"id":1}`))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/base", arrived
}

func run(t *testing.T, set map[string]any, req trigger.Request) error {
	t.Helper()
	g, err := Type().New(sdk.Env{UserAgent: "dogwatch/test"}, set)
	if err != nil {
		t.Fatal(err)
	}
	defer g.(io.Closer).Close()
	return g.Run(t.Context(), req)
}

func TestPayloads(t *testing.T) {
	address, arrived := server(t)
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			set := map[string]any{"url": address + "/", "token": token, "priority": 0}
			if name == "unicode" {
				set["markdown"] = true
			}
			if err := run(t, set, req); err != nil {
				t.Fatal(err)
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, <-arrived, "", "  "); err != nil {
				t.Fatal(err)
			}
			text := pretty.String() + "\n"
			if name == "long" {
				text = text[:2000] + "…\n"
			}
			golden.Check(t, name+".json", text)
		})
	}
}

func TestPriority(t *testing.T) {
	address, arrived := server(t)
	for priority, want := range map[any]string{nil: "", "0": `"priority":0`, 8: `"priority":8`} {
		set := options(address)
		if priority != nil {
			set["priority"] = priority
		}
		if err := run(t, set, triggertest.Request("nginx")); err != nil {
			t.Fatal(err)
		}
		if got := string(<-arrived); strings.Contains(got, "priority") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("priority %v: %s", priority, got)
		}
	}
}

// An answer that is no success is a failure, whatever its body.
func TestStatusCounts(t *testing.T) {
	address, _ := server(t)
	err := run(t, map[string]any{"url": address, "token": "wr0ng-t0ken"}, triggertest.Request("nginx"))
	if !errors.Is(err, sdk.ErrUnauthorized) || strings.Contains(err.Error(), "wr0ng") || !strings.Contains(err.Error(), "valid access token") {
		t.Errorf("%v", err)
	}
}

func TestCut(t *testing.T) {
	for _, n := range []int{0, 1, maxMessageBytes - 1, maxMessageBytes, maxMessageBytes + 1, 3 * maxMessageBytes} {
		b := (&gotify{}).body(trigger.Request{Title: strings.Repeat("é", n), Body: strings.Repeat("€", n)})
		if len(b.Title) > maxTitleBytes || len(b.Message) > maxMessageBytes || !utf8.ValidString(b.Message) || b.Message == "" {
			t.Errorf("%d characters: %d and %d bytes", n, len(b.Title), len(b.Message))
		}
	}
}
