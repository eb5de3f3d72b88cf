package guide

import (
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
