package updater

import (
	"reflect"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestRequestsDoNotGoBeyondTheWatcher: whoever asks gets what the watcher's options allow; the
// options of a trigger that updates are the operator's, as they are.
func TestRequestsDoNotGoBeyondTheWatcher(t *testing.T) {
	hooks := watcher.Hooks{Pre: []string{"dump"}, Post: []string{"load"}}
	asked := watcher.UpdateRules{Prune: true, Keep: 3, Hooks: hooks}
	for name, c := range map[string]struct {
		watcher    Watcher
		configured bool
		want       watcher.UpdateRules
	}{
		"nothing is set":       {Watcher{}, false, watcher.UpdateRules{}},
		"as much is set":       {Watcher{Prune: true, Keep: 3, Hooks: true}, false, asked},
		"less is kept":         {Watcher{Keep: 2}, false, watcher.UpdateRules{Keep: 2}},
		"options of a trigger": {Watcher{}, true, watcher.UpdateRules{Prune: true, Keep: 3}},
	} {
		request := Request{Container: container("web"), Rules: asked, Configured: c.configured, Trigger: "docker.local"}
		if got := fresh(t).rules(c.watcher, request).UpdateRules; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestTriggersSayLittleOfAnUpdate: a third-party trigger that may have containers updated names no host to be asked,
// runs no command, accepts nothing, and does not say how the old container is stopped or when the new one works.
func TestTriggersSayLittleOfAnUpdate(t *testing.T) {
	asked := func(http, tcp string) watcher.UpdateRules {
		return watcher.UpdateRules{
			Acknowledged: []string{"defaults.unknown"}, StopSignal: "SIGKILL",
			Health: watcher.HealthGate{HTTP: http, TCP: tcp, Command: []string{"true"}, Window: 1, Interval: 1},
		}
	}
	own, foreign := asked(":8080/health", ":5432"), asked("http://router.lan/reset", "router.lan:22")
	probes := watcher.UpdateRules{Health: watcher.HealthGate{HTTP: "http://:8080/health", TCP: ":5432"}}
	operators := watcher.UpdateRules{Health: watcher.HealthGate{TCP: ":9000"}}
	for name, c := range map[string]struct {
		asked       watcher.UpdateRules
		from, label string
		configured  bool
		want        watcher.UpdateRules
	}{
		"ports of its own":        {own, "acme.fleet", "", false, probes},
		"addresses of others":     {foreign, "acme.fleet", "", false, watcher.UpdateRules{}},
		"the operator has one":    {own, "acme.fleet", "dogwatch.probe.tcp", false, operators},
		"the operator's own":      {foreign, "docker.local", "", true, foreign},
		"a person, by its client": {foreign, "", "", false, foreign},
	} {
		request := Request{Container: container("web"), Rules: c.asked, Configured: c.configured, Trigger: c.from}
		if c.label != "" {
			request.Container.Labels = map[string]string{c.label: ":9000"}
		}
		if got := fresh(t).rules(Watcher{}, request).UpdateRules; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
