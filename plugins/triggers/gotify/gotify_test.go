package gotify

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const (
	token = "recognisable-token"
	base  = "/base" // of the server's address
)

func options(url string) map[string]any { return map[string]any{"url": url, "token": token} }

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service, Show: sink.First(2000)}
}

func TestConformance(t *testing.T) {
	c := subject().At(base).Case([]triggertest.Invalid{
		{Field: "url", Set: map[string]any{"url": "gotify.example.org"}},
		{Field: "priority", Set: map[string]any{"priority": "high"}},
	})
	c.Failing = append(c.Failing, triggertest.Failure{
		Name: "wrong token", Kind: sdk.ErrUnauthorized,
		Options: subject().At(base).With(map[string]any{"token": "recognisable-mistake"}).Working,
	})
	triggertest.Run(t, Type(), c)
}

// service plays a Gotify server: it checks what it gets as the real one does.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		if status, problem := wrong(c); problem != "" {
			return status,
				fmt.Sprintf(`{"error":%q,"errorCode":%d,"errorDescription":%q}`, http.StatusText(status), status, problem)
		}
		return http.StatusOK, `{"id":1}`
	})
}

// wrong says what is wrong with a request, and the status for it.
func wrong(c sink.Call) (status int, problem string) {
	var m struct {
		Title    string                    `json:"title"`
		Message  string                    `json:"message"`
		Priority *int                      `json:"priority"`
		Extras   map[string]map[string]any `json:"extras"`
	}
	switch problem := c.Strict(&m); {
	case c.Method != "POST" || c.URI != base+"/message":
		return 404, "page not found"
	case c.Header.Get("X-Gotify-Key") != token:
		return 401,
			"you need to provide a valid access token or user credentials to access this api, not " +
				c.Header.Get("X-Gotify-Key")
	case problem != "" || c.Header.Get("Content-Type") != "application/json":
		return 400, "invalid message: " + problem
	case m.Message == "":
		return 400, "Field 'message' is required"
	case len(m.Title) > 1<<16-1 || len(m.Message) > 1<<16-1:
		return 500, "Data too long for column"
	}
	for key := range m.Extras {
		if !strings.Contains(key, "::") {
			return 400, "an extra without a namespace: " + key
		}
	}
	return 200, ""
}

func TestPayloads(t *testing.T) {
	s := subject().At(base + "/").With(map[string]any{"priority": 0})
	s.Payloads(t, "*.json")
	s.With(map[string]any{"markdown": true}).Payloads(t, "markdown-*.json")
}

func TestPriority(t *testing.T) {
	subject().At(base).Bodies(t, trigger.Request{Title: "T", Body: "B"}, map[string]sink.Body{
		"none": {Want: `{"title":"T","message":"B"}`},
		"zero": {Set: map[string]any{"priority": "0"}, Want: `{"title":"T","message":"B","priority":0}`},
		"high": {Set: map[string]any{"priority": 8}, Want: `{"title":"T","message":"B","priority":8}`},
	})
}

func TestUrgentPriority(t *testing.T) {
	subject().At(base).Bodies(t, trigger.Request{
		Title: "T", Body: "B", Batch: true, Event: &trigger.Event{Type: trigger.UpdateFailed},
	}, map[string]sink.Body{
		"none": {Want: `{"title":"T","message":"B","priority":8}`},
		"low":  {Set: map[string]any{"priority": 2}, Want: `{"title":"T","message":"B","priority":8}`},
		"high": {Set: map[string]any{"priority": 10}, Want: `{"title":"T","message":"B","priority":10}`},
	})
}

// A response that is no success is a failure, whatever its body.
func TestServiceErrors(t *testing.T) {
	subject().At(base).ServiceErrors(t, map[string]sink.ServiceError{
		"token": {Set: map[string]any{"token": "wr0ng-t0ken"}, Kind: sdk.ErrUnauthorized, Want: "valid access token"},
	})
}

func TestLongTextIsCut(t *testing.T) {
	for _, n := range []int{0, 1, maxMessageBytes - 1, maxMessageBytes, maxMessageBytes + 1, 3 * maxMessageBytes} {
		b := Options{}.body(trigger.Request{Title: strings.Repeat("é", n), Body: strings.Repeat("€", n)})
		if len(b.Title) > maxTitleBytes || len(b.Message) > maxMessageBytes || !utf8.ValidString(b.Message) ||
			b.Message == "" {
			t.Errorf("%d characters: %d and %d bytes", n, len(b.Title), len(b.Message))
		}
	}
}
