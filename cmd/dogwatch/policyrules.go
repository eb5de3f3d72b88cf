package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/sdk"
)

// rulesOf returns what finds the rules of containers.
func rulesOf(cfg *config.Config) func(sdk.Container) policy.Rules { return policiesOf(cfg).Rules }

// policiesOf returns the rules of a configuration, for where no watcher runs.
func policiesOf(cfg *config.Config) *decision.Layers { return decision.LayersOf(cfg) }

// unusedPolicies returns the named policies of which no container has a rule.
func unusedPolicies(cfg *config.Config, uses []preview.Use) (unused []string) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Policies)) {
		prefix := fmt.Sprintf("policies.%s.", name)
		if !slices.ContainsFunc(uses, func(u preview.Use) bool { return strings.HasPrefix(u.Source, prefix) }) {
			unused = append(unused, strings.TrimSuffix(prefix, "."))
		}
	}
	return unused
}
