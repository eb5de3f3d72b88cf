package apprise

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const services = "tgram://recognisable-bot/123456, mailto://ana:recognisable-password@example.org"

func options(url string) map[string]any {
	return map[string]any{"url": url, "urls": services}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(plugintest.Answering(t, http.StatusOK)) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: append(triggertest.HTTPFailures(options),
			triggertest.Failure{Name: "some failed", Options: func(t *testing.T) map[string]any {
				return options(plugintest.Answering(t, http.StatusFailedDependency))
			}},
			triggertest.Failure{Name: "the only one failed", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return map[string]any{"url": plugintest.Answering(t, http.StatusFailedDependency), "urls": "tgram://recognisable-bot/123456"}
			}},
			triggertest.Failure{Name: "nobody to notify", Kind: &sdk.InvalidError{}, Options: func(t *testing.T) map[string]any {
				return options(plugintest.Answering(t, http.StatusNoContent))
			}},
		),
		Invalid: []triggertest.Invalid{
			{Field: "urls", Set: map[string]any{"urls": nil}},
			{Field: "urls", Set: map[string]any{"urls": "a-key-rather-than-a-url"}},
			{Field: "config", Set: map[string]any{"config": "home"}},
			{Field: "config", Set: map[string]any{"urls": nil, "config": "a/b"}},
			{Field: "config", Set: map[string]any{"urls": nil, "config": strings.Repeat("x", 129)}},
			{Field: "tag", Set: map[string]any{"tag": "phones"}},
		},
	})
}

// server is an Apprise API server that checks what it gets, and answers as the
// real one does, for the configurations it holds.
func server(t *testing.T, configs ...string) (address string, arrived chan []byte) {
	arrived = make(chan []byte, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		refuse := func(status int, reason string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": reason})
		}
		var p struct {
			URLs, Tag, Title, Body, Format, Type *string
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		key, stored := strings.CutPrefix(r.URL.Path, "/notify/")
		switch err := decoder.Decode(&p); {
		case err != nil || r.Header.Get("Content-Type") != "application/json":
			refuse(400, "Invalid JSON provided")
		case r.Method != "POST" || !stored && r.URL.Path != "/notify":
			refuse(404, "no such page")
		case p.Body == nil || *p.Body == "" || p.Type == nil || !slices.Contains([]string{"info", "success", "warning", "failure"}, *p.Type):
			refuse(400, "Payload lacks minimum requirements")
		case p.Format == nil || !slices.Contains([]string{"text", "html", "markdown"}, *p.Format):
			refuse(400, "An invalid body input format was specified")
		case stored && !slices.Contains(configs, key), !stored && p.URLs == nil:
			w.WriteHeader(204)
		default:
			arrived <- body
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, arrived
}

func run(t *testing.T, set map[string]any, req trigger.Request) error {
	t.Helper()
	a, err := Type().New(sdk.Env{UserAgent: "dogwatch/test"}, set)
	if err != nil {
		t.Fatal(err)
	}
	defer a.(io.Closer).Close()
	return a.Run(t.Context(), req)
}

func TestPayloads(t *testing.T) {
	address, arrived := server(t, "home")
	ways := map[string]map[string]any{
		"urls":   {"urls": services},
		"config": {"config": "home"},
		"tag":    {"config": "home", "tag": "phones, mail admin"},
	}
	for way, set := range ways {
		for name, req := range golden.Requests() {
			t.Run(way+"/"+name, func(t *testing.T) {
				all := map[string]any{"url": address + "/"} // a slash at the end changes nothing
				maps.Copy(all, set)
				if err := run(t, all, req); err != nil {
					t.Fatal(err)
				}
				got := <-arrived
				if way != "urls" && name != "batch" {
					return // what differs does so in every payload
				}
				var pretty bytes.Buffer
				if err := json.Indent(&pretty, got, "", "  "); err != nil {
					t.Fatal(err)
				}
				text := pretty.String() + "\n"
				if name == "long" {
					text = text[:1000] + "…\n"
				}
				golden.Check(t, way+"-"+name+".json", text)
			})
		}
	}
}

func TestAnswers(t *testing.T) {
	address, arrived := server(t)
	var invalid *sdk.InvalidError
	err := run(t, map[string]any{"url": address, "config": "unknown"}, triggertest.Request("nginx", "redis"))
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "config" || len(arrived) > 0 {
		t.Errorf("a configuration that does not exist: %v", err)
	}
	chatty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusFailedDependency)
		_, _ = w.Write(body)
	}))
	t.Cleanup(chatty.Close)
	for _, set := range []map[string]any{{"urls": "pover://u5ersecret@t0kensecret"}, {"urls": services}, {"config": "home"}} {
		set["url"] = chatty.URL
		err := run(t, set, triggertest.Request("nginx"))
		if err == nil || sdk.Retryable(err) != (set["urls"] == "pover://u5ersecret@t0kensecret") {
			t.Errorf("%v: retryable %v: %v", set, sdk.Retryable(err), err)
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
