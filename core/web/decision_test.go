package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// decidedAs gives the update of a container a decision.
func decidedAs(state string, reasons ...sdk.Reason) func(*sdk.Container) {
	return func(c *sdk.Container) { c.Decision = &sdk.Decision{State: state, Reasons: reasons} }
}

// house has an update of every state.
func house() []sdk.Container {
	young := sdk.Reason{Code: policy.ReasonMinAge, Text: "it is 1 day old, and s3cret must be 7", Source: "policies.careful.minage", Until: sdk.TimeOf(noon.Add(6 * 24 * time.Hour))}
	return []sdk.Container{
		a("young", newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, young)),
		a("younger", newer("1.1.0", "minor"), decidedAs(sdk.StateHeld, sdk.Reason{Code: policy.ReasonMinAge, Text: "it is new", Until: sdk.TimeOf(noon.Add(7 * 24 * time.Hour))})),
		a("skipped", newer("2.0.0", "major"), decidedAs(sdk.StateHeld, sdk.Reason{Code: policy.ReasonSkipped, Text: "ana skipped it", Source: "user ana"})),
		a("waits", newer("1.0.1", "patch"), decidedAs(sdk.StateOffered, sdk.Reason{Code: policy.ReasonApproval, Text: "it waits for the approval of a user"})),
		a("auto", newer("1.0.1", "patch"), decidedAs(sdk.StateAutomatic)),
		a("open", newer("8.2.1", "minor"), decidedAs(sdk.StateOffered), func(c *sdk.Container) {
			c.Result.Levels = &sdk.Levels{Minor: &sdk.Release{Tag: "8.2.1"}, Major: &sdk.Release{Tag: "9.0.0"}}
		}),
		a("fine"),
	}
}

func TestListShowsDecisions(t *testing.T) {
	u, _ := withStore(t, house()...)
	rowOf := func(query, name string) string {
		body := request(u, "GET", "/containers?group=none"+query, nil).Body.String()
		_, row, _ := strings.Cut(body, `data-key="local/`+name+`"`)
		row, _, _ = strings.Cut(row, "</li>")
		return row
	}
	for name, want := range map[string][]string{
		"young":   {"held: too young, ends in 6 d", `title="It is 1 day old, and *** must be 7 (policies.careful.minage), until `},
		"skipped": {"held: skipped<"},
		"waits":   {"to approve"},
		"auto":    {"updated by rule"},
		"open":    {"8.2.1", ", or 9.0.0"},
	} {
		for _, text := range want {
			if row := rowOf("", name); !strings.Contains(row, text) {
				t.Errorf("%s lacks %q: %s", name, text, row)
			}
		}
	}
	for state, want := range map[string]string{"held": "skipped young younger", "approval": "waits", "automatic": "auto", "current": "fine", "updates": "auto open skipped waits young younger"} {
		var shown []string
		for _, c := range house() {
			if rowOf("&state="+state, c.Name) != "" {
				shown = append(shown, c.Name)
			}
		}
		slices.Sort(shown)
		if got := strings.Join(shown, " "); got != want {
			t.Errorf("the filter %s leaves %q, want %q", state, got, want)
		}
	}
	body, at := request(u, "GET", "/containers?group=none", nil).Body.String(), 0
	for _, name := range []string{"waits", "open", "auto", "skipped", "young", "younger", "fine"} {
		next := strings.Index(body, `data-key="local/`+name+`"`)
		if next < at {
			t.Errorf("%s comes too early", name)
		}
		at = next
	}
}

// TestOverviewSeparatesDecisions has what is held or automatic apart from what a user must decide.
func TestOverviewSeparatesDecisions(t *testing.T) {
	u, _ := withStore(t, house()...)
	body := request(u, "GET", "/", nil).Body.String()
	needs, rest, _ := strings.Cut(body, "Held or automatic")
	_, needs, _ = strings.Cut(needs, "Needs you")
	for _, want := range []string{">1 update to approve<", "/containers?state=approval", ">1 minor update<"} {
		if !strings.Contains(needs, want) {
			t.Errorf("what needs the user lacks %q:\n%s", want, needs)
		}
	}
	if strings.Index(needs, "to approve") > strings.Index(needs, "minor update") {
		t.Error("an approval comes after an update that is only offered")
	}
	for _, name := range []string{">young<", ">skipped<", ">auto<"} {
		if strings.Contains(needs, name) {
			t.Errorf("%s needs the user:\n%s", name, needs)
		}
	}
	for _, want := range []string{">2 updates, too young, the next one in 6 d<", ">1 update, skipped<", ">1 update by rule<", "/containers?state=held"} {
		if !strings.Contains(rest, want) {
			t.Errorf("the rest lacks %q:\n%s", want, rest)
		}
	}
	if !strings.Contains(body, "3 updates · 3 held") {
		t.Errorf("the summary is another:\n%s", body)
	}
}

func TestContainerPageShowsItsDecision(t *testing.T) {
	u, _ := withStore(t, house()...)
	for name, want := range map[string][]string{
		"young": {`<span class="kind muted">held</span>`, "<li>It is 1 day old, and *** must be 7 (policies.careful.minage), until ", "in 6 d"},
		"waits": {">to approve<", "<li>It waits for the approval of a user</li>"},
		"auto":  {`<span class="kind ok">automatic</span>`},
		"open":  {"or 9.0.0"},
	} {
		body := request(u, "GET", "/containers/local/"+name, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q:\n%s", name, text, body)
			}
		}
	}
}
