package message

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// about returns a request about containers, each with three actions and one to decide.
func about(names ...string) trigger.Request {
	req := trigger.Request{Batch: len(names) > 1, Body: "text"}
	for _, name := range names {
		req.Containers = append(req.Containers, sdk.Container{ID: "id-" + name, Name: name})
		for _, kind := range []string{trigger.ActionApprove, trigger.ActionSkip, trigger.ActionSnooze, trigger.ActionDecide} {
			req.Actions = append(req.Actions, trigger.Action{
				ContainerID: "id-" + name, Kind: kind, Label: kind, URL: "https://h/" + name + "/" + kind,
			})
		}
	}
	return req
}

func labels(rows [][]trigger.Action) string {
	var all []string
	for _, row := range rows {
		var texts []string
		for _, a := range row {
			texts = append(texts, a.Label)
		}
		all = append(all, strings.Join(texts, ","))
	}
	return strings.Join(all, "; ")
}

func TestButtons(t *testing.T) {
	named := about("web", "db")
	named.Containers[0].DisplayName = "Web"
	far := about("web", "db")
	far.Actions[0].URL = "https://h/" + strings.Repeat("x", 100)
	for title, c := range map[string]struct {
		req  trigger.Request
		most int
		want string
	}{
		"one":                   {about("web"), 3, "approve,skip,snooze"},
		"no room for a row":     {about("web"), 2, ""},
		"several":               {named, 6, "approve Web,skip Web,snooze Web; approve db,skip db,snooze db"},
		"as many rows as fit":   {named, 5, "approve Web,skip Web,snooze Web"},
		"too long an address":   {far, 6, "approve db,skip db,snooze db"},
		"nothing to be decided": {trigger.Request{Containers: []sdk.Container{{ID: "1"}}}, 3, ""},
		"an event":              {trigger.Request{Event: &trigger.Event{}}, 3, ""},
	} {
		if got := labels(Buttons(c.req, 50, c.most)); got != c.want {
			t.Errorf("%s: %q, want %q", title, got, c.want)
		}
	}
}

func TestLinesLeavesOutPlacedLinks(t *testing.T) {
	write := func(label, address string) string { return label + "=" + address }
	req := about("web", "db")
	want := "\n\napprove web=https://h/web/approve · skip web=https://h/web/skip · snooze web=https://h/web/snooze\napprove db=https://h/db/approve · skip db=https://h/db/skip · snooze db=https://h/db/snooze"
	if got := Lines(req, 50, " · ", write); got != want {
		t.Errorf("%q", got)
	}
	req.Body = "see https://h/web/skip"
	if got := Lines(req, 50, " · ", write); strings.Contains(got, "web") || !strings.Contains(got, "db") {
		t.Errorf("%q", got)
	}
	if got := Lines(trigger.Request{Body: "text"}, 50, " · ", write); got != "" {
		t.Errorf("%q", got)
	}
}

func TestDecide(t *testing.T) {
	if got := Decide(about("web"), 50); got != "https://h/web/decide" {
		t.Errorf("%q", got)
	}
	for title, got := range map[string]string{
		"a batch": Decide(about("web", "db"), 50), "too long": Decide(about("web"), 5),
		"no links": Decide(trigger.Request{}, 50),
	} {
		if got != "" {
			t.Errorf("%s: %q", title, got)
		}
	}
}
