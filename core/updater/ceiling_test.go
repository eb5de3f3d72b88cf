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
