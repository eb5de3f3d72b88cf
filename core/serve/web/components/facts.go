package components

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// facts are what distinguishes a component from others of its kind at a glance.
func facts(c service.Component) (all []phrase.Phrase) {
	switch c.Kind {
	case kind.Watcher:
		if expression := valueOf(c, "cron"); expression != "" {
			when := words.Cron(expression)
			if when == nil {
				when = phrase.New("at %s", expression)
			}
			all = append(all, phrase.New("checks %s", when))
		}
		if c.Updates {
			all = append(all, phrase.New("may update containers"))
		}
	case kind.Registry:
		const shown = 3
		hosts := slices.DeleteFunc(slices.Clone(c.Hosts), func(h string) bool {
			plain, https := strings.CutSuffix(h, ":443")
			return https && slices.Contains(c.Hosts, plain)
		})
		if !slices.Equal(hosts, []string{"*"}) { // which its name says
			all = append(all, phrase.Verbatim(strings.Join(hosts[:min(shown, len(hosts))], ", ")))
		}
		if more := len(hosts) - shown; more > 0 {
			all = append(all, phrase.New("and %d more", more))
		}
		for _, f := range c.Budgets {
			if used := words.BudgetUsed(f); len(c.Hosts) > 0 && len(c.Budgets) == 1 && c.Hosts[0] == f.Host {
				all = append(all, used)
			} else {
				all = append(all, phrase.New("%s: %s", strings.TrimSuffix(f.Host, ":443"), used))
			}
		}
	case kind.Trigger:
		if mode := valueOf(c, "mode"); mode == "batch" {
			all = append(all, phrase.New("one message per check"))
		} else {
			all = append(all, phrase.New("one message per container"))
		}
		all = append(all, takes(valueOf(c, "threshold"), valueOf(c, "ondigest") == "false"))
		if valueOf(c, "auto") == "false" {
			all = append(all, phrase.New("only when asked"))
		}
	}
	if c.Asleep {
		all = append(all, phrase.New("asleep until it is needed"))
	}
	return slices.DeleteFunc(all, func(p phrase.Phrase) bool { return p == nil })
}

// takes says which updates a trigger is for; nil when it is for all.
func takes(threshold string, noRebuilds bool) phrase.Phrase {
	if noRebuilds {
		threshold = policy.WithoutRebuilds(threshold)
	}
	step, without := strings.CutSuffix(threshold, "-no-digest")
	takes := phrase.New("up to %s", step)
	if only, ok := strings.CutSuffix(step, "-only"); ok {
		takes = phrase.New("%s only", only)
	}
	switch step {
	case "", "all":
		return nil
	case "versions":
		takes = phrase.New("no rebuilds")
	case "digest":
		takes = phrase.New("rebuilds only")
	}
	if without {
		takes = phrase.Join(", ", takes, phrase.New("no rebuilds"))
	}
	return takes
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
