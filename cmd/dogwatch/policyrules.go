package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/core/preview"
	"github.com/dogwatch/dogwatch/core/wiring"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// rulesOf returns what finds the rules of containers.
func rulesOf(cfg *config.Config) func(sdk.Container) policy.Rules { return policiesOf(cfg).Rules }

// policiesOf returns the rules of a configuration, for where no watcher runs.
func policiesOf(cfg *config.Config) *wiring.Policies {
	return &wiring.Policies{Config: cfg, PolicyOf: func(watcher string) (name, source string) {
		for _, section := range cfg.Components {
			if given, is := section.Options["policy"].V.(string); is && section.Kind == kind.Watcher && section.Name == watcher {
				return strings.ToLower(given), section.Key() + ".policy"
			}
		}
		return "", ""
	}}
}

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
