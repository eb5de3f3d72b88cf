package ifttt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const key = "recognisable-key"

func options(url string) map[string]any { return map[string]any{"url": url, "key": key} }

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any {
			address, _ := server(t)
			return options(address)
		},
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: append(triggertest.HTTPFailures(options), triggertest.Failure{
			Name: "wrong key", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				address, _ := server(t)
				return map[string]any{"url": address, "key": "recognisable-mistake"}
			},
		}),
		Invalid: []triggertest.Invalid{
			{Field: "key", Set: map[string]any{"key": "https://maker.ifttt.com/use/recognisable-key"}},
			{Field: "event", Set: map[string]any{"event": "a/b"}},
			{Field: "event", Set: map[string]any{"event": "a b"}},
			{Field: "event", Set: map[string]any{"event": ".."}},
		},
	})
}

// sent is what arrived at the service.
type sent struct {
	event string
	body  []byte
}

// server is the Webhooks service: it takes three text values and its own key.
func server(t *testing.T) (address string, arrived chan sent) {
	arrived = make(chan sent, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if r.Method != "POST" || len(parts) != 5 || parts[0] != "trigger" || parts[2] != "with" || parts[3] != "key" {
			w.WriteHeader(404)
			return
		}
		if parts[4] != key {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(401)
			_, _ = w.Write([]byte(`{"errors":[{"message":"You sent an invalid key: ` + parts[4] + `"}]}`))
			return
		}
		var v struct{ Value1, Value2, Value3 string }
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&v); err != nil || r.Header.Get("Content-Type") != "application/json" {
			w.WriteHeader(400)
			return
		}
		arrived <- sent{parts[1], body}
		_, _ = w.Write([]byte("Congratulations! You've fired the " + parts[1] + " event"))
	}))
	t.Cleanup(s.Close)
	return s.URL, arrived
}

func run(t *testing.T, set map[string]any, req trigger.Request) error {
	t.Helper()
	i, err := Type().New(sdk.Env{UserAgent: "dogwatch/test"}, set)
	if err != nil {
		t.Fatal(err)
	}
	defer i.(io.Closer).Close()
	return i.Run(t.Context(), req)
}

func TestPayloads(t *testing.T) {
	address, arrived := server(t)
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			if err := run(t, options(address), req); err != nil {
				t.Fatal(err)
			}
			got := <-arrived
			if got.event != "wud-image" {
				t.Errorf("event %s", got.event)
			}
			checkValues(t, got.body, req)
			if name == "long" {
				return
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, got.body, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".json", pretty.String()+"\n")
		})
	}
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
	address, arrived := server(t)
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
		if err := run(t, options(address), test.req); err != nil {
			t.Fatal(err)
		}
		if got := string((<-arrived).body); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestEvent(t *testing.T) {
	address, arrived := server(t)
	set := options(address + "/")
	maps.Copy(set, map[string]any{"event": "update-für_alle?%"})
	if err := run(t, set, triggertest.Request("nginx")); err != nil {
		t.Fatal(err)
	}
	if got := <-arrived; got.event != "update-für_alle?%" {
		t.Errorf("event %s", got.event)
	}
}

// The key is part of the address, which no error shows.
func TestKeyIsNotShown(t *testing.T) {
	address, _ := server(t)
	for _, url := range []string{address, plugintest.Unreachable(t), plugintest.Answering(t, 500)} {
		err := run(t, map[string]any{"url": url, "key": "wr0ng-k3y"}, triggertest.Request("nginx"))
		if err == nil || strings.Contains(err.Error(), "k3y") || url == address && !errors.Is(err, sdk.ErrUnauthorized) {
			t.Errorf("%v", err)
		}
	}
}
