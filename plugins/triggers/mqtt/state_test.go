package mqtt

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestStateSaysWhatIsUnknown: and Home Assistant gets no newest version, so that it does not show "up to date".
func TestStateSaysWhatIsUnknown(t *testing.T) {
	c := sdk.Container{Name: "shop", Check: sdk.CheckState{State: sdk.CheckUnknown, Reason: "built here"}}
	text := string(state(c, nil, idle))
	for _, want := range []string{
		`"check_state":"unknown"`, `"check_reason":"built here"`, `"release_summary":"Not known whether there is anything newer: built here"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
}

func TestStateSaysToRebuild(t *testing.T) {
	c := sdk.Container{Name: "web", UpdateAvailable: true, Result: &sdk.Result{Tag: "24-alpine"}}
	c.Base = &sdk.Image{Name: "library/node"}
	c.Base.Tag.Value = "22-alpine"
	want := `"release_summary":"Base image library/node:22-alpine → 24-alpine; rebuild"`
	if text := string(state(c, nil, idle)); !strings.Contains(text, want) {
		t.Errorf("%s is missing: %s", want, text)
	}
}

func TestStateSaysWhatIsDecided(t *testing.T) {
	until := time.Date(2026, time.November, 29, 2, 0, 0, 0, time.Local)
	young := sdk.Reason{Code: "age.min", Text: "it is 1 day old", Until: sdk.TimeOf(until)}
	for _, c := range []struct {
		name     string
		decision *sdk.Decision
		want     string
	}{
		{"found before there were decisions", nil, ""},
		{"offered", &sdk.Decision{
			State: sdk.StateOffered, Reasons: []sdk.Reason{{Code: "update.forbidden", Text: "no"}},
		}, ""},
		{"to approve", &sdk.Decision{
			State: sdk.StateOffered, Reasons: []sdk.Reason{{Code: sdk.ReasonApproval, Text: "it waits"}},
		}, "Waits for approval"},
		{"automatic", &sdk.Decision{
			State: sdk.StateAutomatic, Reasons: []sdk.Reason{{Code: "auto", Text: "the rules ask for it"}},
		}, "Updated by rule: the rules ask for it"},
		{"held", &sdk.Decision{
			State: sdk.StateHeld, Reasons: []sdk.Reason{young, {Code: "choice.skip", Text: "ana skipped it"}},
		}, "Held: it is 1 day old, until Sun 29 Nov 2026 02:00; ana skipped it"},
		{"long", &sdk.Decision{State: sdk.StateHeld, Reasons: []sdk.Reason{{Text: strings.Repeat("ü", 400)}}},
			"Held: " + strings.Repeat("ü", maxSummary-7) + "…"},
	} {
		container := sdk.Container{Name: "web", UpdateAvailable: true, Decision: c.decision}
		var got map[string]any
		if err := json.Unmarshal(state(container, nil, idle), &got); err != nil {
			t.Fatal(err)
		}
		text, _ := got[summaryKey].(string)
		if text != c.want || utf8.RuneCountInString(text) > maxSummary {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
		container.UpdateAvailable = false
		if text := string(state(container, nil, idle)); strings.Contains(text, summaryKey) {
			t.Errorf("%s without an update: %s", c.name, text)
		}
	}
}
