package guide

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestGuideNamesWhatIsMissing(t *testing.T) {
	ready, failed := webtest.Configured(kind.Watcher, "docker", "local", component.Ready),
		webtest.Configured(kind.Watcher, "docker", "nas", component.Failed)
	failed.Error = "permission denied"
	checked := map[string]bool{"local": true}
	for _, c := range []struct {
		name  string
		s     situation
		title string
	}{
		{"demo", situation{Demo: true, Containers: 20, Triggers: 1}, "This is a demo"},
		{"nothing at all", situation{}, "Nothing to watch yet"},
		{"engine fails", situation{Watchers: []service.Component{ready, failed}, Checked: checked, Triggers: 1},
			"Docker cannot be reached"},
		{"before the first check", situation{Watchers: []service.Component{ready}}, "Looking for containers"},
		{"no containers", situation{Watchers: []service.Component{ready}, Checked: checked}, "No containers"},
		{"no triggers", situation{Watchers: []service.Component{ready}, Checked: checked, Containers: 3},
			"No notifications configured"},
		{"one engine fails, and others work", situation{
			Watchers: []service.Component{ready, failed}, Checked: checked, Containers: 3, Triggers: 1,
		}, ""},
		{"all is well", situation{Watchers: []service.Component{ready}, Checked: checked, Containers: 3, Triggers: 1}, ""},
	} {
		g := newGuide(c.s)
		switch {
		case g == nil && c.title != "":
			t.Errorf("%s: no guide", c.name)
		case g != nil && g.Title.String() != c.title:
			t.Errorf("%s: %q", c.name, g.Title)
		case g != nil && g.Sentence == nil && g.Reason == "":
			t.Errorf("%s: says nothing", c.name)
		}
	}
	if g := newGuide(situation{Watchers: []service.Component{failed}}); g.Reason != "permission denied" {
		t.Errorf("the reason is %q", g.Reason)
	}
}

// TestGuideFitsTheReason: what to do is what the error calls for, at the socket that is configured.
func TestGuideFitsTheReason(t *testing.T) {
	for _, c := range []struct {
		reason, typ, socket string
		lines               []string
	}{
		{"permission denied: it belongs to group 998", "docker", "", []string{groupLines}},
		{"no socket there", "docker", "/run/d.sock", []string{mountLine("/run/d.sock", "/run/d.sock"), "docker info\n"}},
		{"there is no such context", "docker", "docker-context:nas", []string{""}},
		{"connection refused", "kubernetes", "", []string{""}},
	} {
		w := webtest.Configured(kind.Watcher, c.typ, "local", component.Failed)
		w.Error, w.Configuration = c.reason, map[string]any{"socket": c.socket}
		var lines []string
		for _, step := range newGuide(situation{Watchers: []service.Component{w}}).Steps {
			lines = append(lines, step.Lines)
		}
		if !slices.Equal(lines, c.lines) {
			t.Errorf("%s: the steps have %q", c.reason, lines)
		}
	}
}

// TestGuideWithoutContainersNamesLabels only where containers without one are not watched.
func TestGuideWithoutContainersNamesLabels(t *testing.T) {
	for _, all := range []bool{true, false} {
		w := webtest.Configured(kind.Watcher, "docker", "nas", component.Ready)
		w.Configuration = map[string]any{"watchbydefault": all}
		g := newGuide(situation{Watchers: []service.Component{w}, Checked: map[string]bool{"nas": true}})
		if labels := strings.Contains(g.Steps[0].Lines, "labels:"); labels == all {
			t.Errorf("watchbydefault=%t: %q", all, g.Steps[0].Lines)
		}
		if g.Others[0].Lines != "DOGWATCH_WATCHER_NAS_WATCHALL=true\n" {
			t.Errorf("other ways: %q", g.Others[0].Lines)
		}
	}
}
