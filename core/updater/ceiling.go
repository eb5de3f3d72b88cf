package updater

import "github.com/dogwatch/dogwatch/sdk/watcher"

// bound takes from the rules of a request what is beyond the options of the watcher. About
// compose files the watcher itself decides: it has an option of its own for that.
func (s *ruleSet) bound(w Watcher, req Request) {
	if !w.Hooks {
		s.Hooks = watcher.Hooks{}
	}
	if !req.Configured {
		s.Keep, s.Prune = min(s.Keep, w.Keep), s.Prune && w.Prune
	}
}
