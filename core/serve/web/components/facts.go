package components

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// facts are what distinguishes a component from others of its kind at a glance.
func facts(c service.Component) (all []string) {
	switch c.Kind {
	case kind.Watcher:
		if expression := valueOf(c, "cron"); expression != "" {
			all = append(all, "checks "+cmp.Or(words.Cron(expression), phrase.Verbatim("at "+expression)).String())
		}
		if c.Updates {
			all = append(all, "may update containers")
		}
	case kind.Registry:
		const shown = 3
		all = append(all, strings.Join(c.Hosts[:min(shown, len(c.Hosts))], ", "))
		if more := len(c.Hosts) - shown; more > 0 {
			all = append(all, fmt.Sprintf("and %d more", more))
		}
		for _, f := range c.Budgets {
			all = append(all, f.Host+": "+f.Brief())
		}
	case kind.Trigger:
		if mode := valueOf(c, "mode"); mode == "batch" {
			all = append(all, "one message per check")
		} else {
			all = append(all, "one message per container")
		}
		all = append(all, takes(valueOf(c, "threshold"), valueOf(c, "ondigest") == "false"))
		if valueOf(c, "auto") == "false" {
			all = append(all, "only when asked")
		}
	}
	if c.Asleep {
		all = append(all, "asleep until it is needed")
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// takes says which updates a trigger is for; "" when it is for all.
func takes(threshold string, noRebuilds bool) string {
	if noRebuilds {
		threshold = policy.WithoutRebuilds(threshold)
	}
	step, without := strings.CutSuffix(threshold, "-no-digest")
	parts := []string{"up to " + step}
	if only, ok := strings.CutSuffix(step, "-only"); ok {
		parts = []string{only + " only"}
	}
	switch step {
	case "", "all":
		return ""
	case "versions":
		parts = []string{"no rebuilds"}
	case "digest":
		parts = []string{"rebuilds only"}
	}
	if without {
		parts = append(parts, "no rebuilds")
	}
	return strings.Join(parts, ", ")
}

// valueOf returns the value of an option as it is written; "" when there is no such option.
func valueOf(c service.Component, name string) string {
	for _, s := range c.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}
