package apprise

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const services = "tgram://recognisable-bot/123456, mailto://ana:recognisable-password@example.org"

func options(url string) map[string]any {
	return map[string]any{"url": url, "urls": services}
}

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service, Show: sink.First(1000)}
}

func TestConformance(t *testing.T) {
	c := subject().Case([]triggertest.Invalid{
		{Field: "urls", Set: map[string]any{"urls": nil}},
		{Field: "urls", Set: map[string]any{"urls": "a-key-rather-than-a-url"}},
		{Field: "config", Set: map[string]any{"config": "home"}},
		{Field: "config", Set: map[string]any{"urls": nil, "config": "a/b"}},
		{Field: "config", Set: map[string]any{"urls": nil, "config": strings.Repeat("x", 129)}},
		{Field: "tag", Set: map[string]any{"tag": "phones"}},
	})
	c.Failing = append(c.Failing,
		triggertest.Failure{Name: "some failed", Options: func(t *testing.T) map[string]any {
			return options(plugintest.Responding(t, http.StatusFailedDependency))
		}},
		triggertest.Failure{Name: "the only one failed", Kind: sdk.ErrUnavailable,
			Options: func(t *testing.T) map[string]any {
				return map[string]any{
					"url": plugintest.Responding(t, http.StatusFailedDependency), "urls": "tgram://recognisable-bot/123456",
				}
			}},
		triggertest.Failure{Name: "no service to notify", Kind: &sdk.InvalidError{},
			Options: func(t *testing.T) map[string]any {
				return options(plugintest.Responding(t, http.StatusNoContent))
			}},
	)
	triggertest.Run(t, Type(), c)
}

// service plays an Apprise API server that checks what it gets, and responds as
// the real one does. The one configuration it holds is home.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		status, problem := wrong(c)
		if problem != "" {
			return status, fmt.Sprintf(`{"error":%q}`, problem)
		}
		return status, ""
	})
}

// wrong says what is wrong with a request, and the status of the response.
func wrong(c sink.Call) (status int, problem string) {
	var p struct {
		URLs, Tag, Title, Body, Format, Type *string
	}
	key, stored := strings.CutPrefix(c.URI, "/notify/")
	switch problem := c.Strict(&p); {
	case problem != "" || c.Header.Get("Content-Type") != "application/json":
		return 400, "Invalid JSON provided"
	case c.Method != "POST" || !stored && c.URI != "/notify":
		return 404, "no such page"
	case p.Body == nil || *p.Body == "" || p.Type == nil ||
		!slices.Contains([]string{"info", "success", "warning", "failure"}, *p.Type):
		return 400, "Payload lacks minimum requirements"
	case p.Format == nil || !slices.Contains([]string{"text", "html", "markdown"}, *p.Format):
		return 400, "An invalid body input format was specified"
	case stored && key != "home", !stored && p.URLs == nil:
		return 204, ""
	}
	return 200, ""
}

func TestPayloads(t *testing.T) {
	s := subject().At("/") // a slash at the end changes nothing
	s.Payloads(t, "urls-*.json")
	s.With(map[string]any{"urls": nil, "config": "home"}).Payloads(t, "config-*.json")
	s.With(map[string]any{"urls": nil, "config": "home", "tag": "phones, mail admin"}).Payloads(t, "tag-*.json")
}

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"no such configuration": {Set: map[string]any{"urls": nil, "config": "unknown"}, Option: "config"},
	})
}

// Only where no service can have been notified, a retry notifies none twice.
func TestPartialFailureIsNotRetried(t *testing.T) {
	chatty := sink.New(t, func(c sink.Call) (int, string) { return http.StatusFailedDependency, string(c.Body) })
	for _, test := range []struct {
		set   map[string]any
		again bool
	}{
		{map[string]any{"urls": "pover://u5ersecret@t0kensecret"}, true},
		{map[string]any{"urls": services}, false},
		{map[string]any{"urls": nil, "config": "home"}, false},
	} {
		err := sink.Deliver(t, Type(), subject().With(test.set).Options(chatty.URL), triggertest.Request("nginx"))
		if err == nil || sdk.Retryable(err) != test.again {
			t.Errorf("%v: retryable %v: %v", test.set, sdk.Retryable(err), err)
			continue
		}
		for _, secret := range []string{"u5ersecret", "t0kensecret", "recognisable"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error shows %s: %v", secret, err)
			}
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	a := &apprise{urls: services}
	req := trigger.Request{Title: strings.Repeat("\x00", 1<<20), Body: strings.Repeat("\x01", 1<<20)}
	if got, err := a.payload(req); err != nil || len(got) > maxPayloadBytes || len(got) < maxPayloadBytes/2 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
