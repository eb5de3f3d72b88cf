// Package golden compares what a trigger sends with files in its testdata
// folder; go test -update writes them anew.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// update must be declared before a test's flags are parsed.
var update = flag.Bool("update", false, "write the golden files anew")

// Check compares got with testdata/name.
func Check(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; look at the change, then run go test -update\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

// Requests are the deliveries that every trigger is tried with, by name:
// simple, batch, unicode, empty, long and event, and links and batchlinks, whose
// readers can decide.
func Requests() map[string]trigger.Request {
	unicode := triggertest.Request("nginx")
	unicode.Title = "Über 🐕 \"quoted\" <b>&amp;</b> \\ ${x} *_~"
	unicode.Body = "первая\r\nsecond\n\tשלום \u202e\u0000 end."
	unicode.Containers[0].DisplayName = unicode.Title
	unicode.Containers[0].Labels = map[string]string{"ключ": "значение", "quote": "\"'\n"}

	long := triggertest.Request("nginx")
	long.Title = strings.Repeat("title é ", 1<<7)
	long.Body = strings.Repeat("A \"long\" line, with é and 🐕.\n", 1<<10)
	long.Containers[0].Result.Link = "https://example.org/" + strings.Repeat("x", 1<<12)

	batchlinks := triggertest.Request("nginx", "redis")
	batchlinks.Containers[1].ID = "redis"
	return map[string]trigger.Request{
		"links":      withLinks(triggertest.Request("nginx")),
		"batchlinks": withLinks(batchlinks),
		"simple":     triggertest.Request("nginx"),
		"batch":      triggertest.Request("nginx", "redis"),
		"unicode":    unicode,
		"empty":      {Delivery: "delivery-1", Containers: []sdk.Container{{}}},
		"long":       long,
		"event":      triggertest.Event(),
	}
}

// withLinks returns a request with all actions about its containers.
func withLinks(req trigger.Request) trigger.Request {
	for _, c := range req.Containers {
		for _, a := range []trigger.Action{
			{Kind: trigger.ActionApprove, Label: "Approve"}, {Kind: trigger.ActionSkip, Label: "Skip"},
			{Kind: trigger.ActionSnooze, Label: "Snooze"}, {Kind: trigger.ActionDecide, Label: "Decide"},
		} {
			a.ContainerID, a.URL = c.ID, "https://dogwatch.example.org/decide/dwl_"+strings.Repeat("Ab-_", 50)+c.Name+"-"+a.Kind
			req.Actions = append(req.Actions, a)
		}
	}
	return req
}
