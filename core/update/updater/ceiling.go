package updater

import (
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// bound takes from the rules of a request what is beyond the options of the watcher and, of those of a trigger that
// are not the operator's, what is for the operator to say: what is accepted, how the old container is stopped, and
// when the new one works, but for a port of its own to be probed where the operator's labels have no probe.
// About compose files the watcher itself decides: it has an option of its own for that.
func (s *ruleSet) bound(w Watcher, req Request) {
	if !w.Hooks {
		s.Hooks = watcher.Hooks{}
	}
	if !req.Configured {
		s.Keep, s.Prune = min(s.Keep, w.Keep), s.Prune && w.Prune
	}
	if !req.Configured && req.Trigger != "" {
		s.Acknowledged, s.StopSignal = nil, ""
		s.Health = s.ownProbe()
	}
}

// ownProbe returns those probes of a request that are of the container itself.
func (s *ruleSet) ownProbe() (gate watcher.HealthGate) {
	for _, name := range []string{label.ProbeHTTP, label.ProbeTCP, label.ProbeCommand} {
		if rule, given := s.given.Get(name); given && !rule.FromImage {
			return gate
		}
	}
	if label.IsOwnProbe(label.ProbeHTTP, s.Health.HTTP) {
		gate.HTTP = label.HTTPProbe(s.Health.HTTP)
	}
	if label.IsOwnProbe(label.ProbeTCP, s.Health.TCP) {
		gate.TCP = s.Health.TCP
	}
	return gate
}
