package ifttt

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const key = "recognisable-key"

func options(url string) map[string]any { return map[string]any{"url": url, "key": key} }

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service, Show: sink.First(2500)}
}

func TestConformance(t *testing.T) {
	c := subject().Case([]triggertest.Invalid{
		{Field: "key", Set: map[string]any{"key": "https://maker.ifttt.com/use/recognisable-key"}},
		{Field: "event", Set: map[string]any{"event": "a/b"}},
		{Field: "event", Set: map[string]any{"event": "a b"}},
		{Field: "event", Set: map[string]any{"event": ".."}},
	})
	c.Failing = append(c.Failing, triggertest.Failure{
		Name: "wrong key", Kind: sdk.ErrUnauthorized,
		Options: subject().With(map[string]any{"key": "recognisable-mistake"}).Working,
	})
	triggertest.Run(t, Type(), c)
}

// service plays the Webhooks service: it takes three text values and its own key.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		var v struct{ Value1, Value2, Value3 string }
		parts := strings.Split(strings.TrimPrefix(c.URI, "/"), "/")
		switch {
		case c.Method != "POST" || len(parts) != 5 || parts[0] != "trigger" || parts[2] != "with" || parts[3] != "key":
			return http.StatusNotFound, ""
		case parts[4] != key:
			return http.StatusUnauthorized, `{"errors":[{"message":"You sent an invalid key: ` + parts[4] + `"}]}`
		case c.Strict(&v) != "" || c.Header.Get("Content-Type") != "application/json":
			return http.StatusBadRequest, ""
		}
		return http.StatusOK, "Congratulations! You've fired the " + parts[1] + " event"
	})
}

// address is where an event is sent.
func address(event string) string { return "/trigger/" + url.PathEscape(event) + "/with/key/" + key }

func TestPayloads(t *testing.T) {
	subject().Payloads(t, "*.json", func(t *testing.T, c sink.Call, req trigger.Request) {
		if c.URI != address("wud-image") {
			t.Errorf("at %s", c.URI)
		}
		if req.Event == nil { // whose message the golden file has
			checkValues(t, c.Body, req)
		}
	})
}

// checkValues reads the containers back from the values.
func checkValues(t *testing.T, body []byte, req trigger.Request) {
	t.Helper()
	var v values
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	got, text := []sdk.Container{}, v.Value1
	if !req.Batch {
		text = "[" + v.Value3 + "]"
	} else if v.Value2 != "" || v.Value3 != "" {
		t.Errorf("a batch has more than one value: %s", body)
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, req.Containers) {
		t.Errorf("%v: %s", err, body)
	}
}

func TestValues(t *testing.T) {
	one := triggertest.Request("nginx")
	batchOfOne := one
	batchOfOne.Batch = true
	tests := []struct {
		name, want string
		req        trigger.Request
	}{
		{"one", `{"value1":"nginx","value2":"1.27.0","value3":"{\"id\":`, one},
		{"a batch of one", `{"value1":"[{\"id\":`, batchOfOne},
		{"a batch of none", `{"value1":"[]"}`, trigger.Request{Batch: true}},
		{"no result", `{"value1":"x","value3":"`, trigger.Request{Containers: []sdk.Container{{Name: "x"}}}},
	}
	for _, test := range tests {
		if got := string(subject().Send(t, test.req).Body); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestEvent(t *testing.T) {
	const event = "update-für_alle?%"
	subject().At("/").Bodies(t, triggertest.Request("nginx"), map[string]sink.Body{
		"odd": {Set: map[string]any{"event": event}, URI: address(event)},
	})
}

// The key is part of the address, which no error shows.
func TestKeyIsNotShown(t *testing.T) {
	wrong := map[string]any{"key": "wr0ng-k3y"}
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"refused": {Set: wrong, Kind: sdk.ErrUnauthorized},
		"broken":  {Set: wrong, Status: 500, Response: "no event at /with/key/wr0ng-k3y", Kind: sdk.ErrUnavailable},
	})
	for _, url := range []string{plugintest.Unreachable(t), plugintest.Responding(t, 500)} {
		err := sink.Deliver(t, Type(), subject().With(wrong).Options(url), triggertest.Request("nginx"))
		if err == nil || strings.Contains(err.Error(), "k3y") {
			t.Errorf("%v", err)
		}
	}
}
