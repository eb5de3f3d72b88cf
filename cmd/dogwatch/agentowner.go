package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// owner is what the owner of a host says to its agent.
type owner struct {
	readOnly bool
	stacks   []string
	hooks    bool
	logs     bool
}

// complete takes from the environment what no flag says.
func (o *owner) complete(flags *pflag.FlagSet) error {
	variables := map[string]string{
		"read-only": config.AgentReadOnlyVariable, "stacks": config.AgentStacksVariable,
		"allow-hooks": config.AgentAllowHooksVariable, "logs": config.AgentLogsVariable,
	}
	switches := map[string]*bool{"read-only": &o.readOnly, "allow-hooks": &o.hooks, "logs": &o.logs}
	known := slices.Sorted(maps.Values(variables))
	for _, v := range os.Environ() { // a limit that is misspelt would be none
		name, _, _ := strings.Cut(v, "=")
		near := option.Suggest(name, known)
		if strings.HasPrefix(name, "DOGWATCH_AGENT_") && !slices.Contains(known, name) && near != "" {
			return usage(fmt.Errorf("%s: there is no such variable: did you mean %s?", name, near))
		}
	}
	for flag, variable := range variables {
		text := os.Getenv(variable)
		if text == "" || flags.Changed(flag) {
			continue
		}
		if flag == "stacks" {
			o.stacks = strings.Split(text, ",")
			continue
		}
		value, err := option.Option{Type: option.Bool}.Parse(text)
		if err != nil {
			return usage(fmt.Errorf("%s: %w", variable, err))
		}
		*switches[flag], _ = value.(bool)
	}
	for i, s := range o.stacks {
		if o.stacks[i] = strings.TrimSpace(s); o.stacks[i] == "" {
			return usage(fmt.Errorf("--stacks: want names of stacks, separated by commas, got %q", strings.Join(o.stacks, ",")))
		}
	}
	return nil
}

// configure has the watcher here run hooks and read logs where the flags allow it. The default watcher has no section
// so far.
func (o *owner) configure(cfg *config.Config, watcher string) {
	allowed := map[string]config.Value{}
	if o.hooks {
		allowed["hooks"] = config.Value{V: true, Source: "--allow-hooks"}
	}
	if o.logs {
		allowed["logs"] = config.Value{V: true, Source: "--logs"}
	}
	if len(allowed) == 0 {
		return
	}
	isWatcher := func(c config.Component) bool { return c.Kind == kind.Watcher }
	cfg.Components = slices.Clone(cfg.Components)
	if !slices.ContainsFunc(cfg.Components, isWatcher) {
		for _, t := range typesOf(kind.Watcher) {
			if t.DefaultName != "" {
				cfg.Components = append(cfg.Components, config.Component{Kind: kind.Watcher, Type: t.Name, Name: t.DefaultName})
			}
		}
	}
	for i, c := range cfg.Components {
		if isWatcher(c) && cmp.Or(watcher, c.Name) == c.Name {
			cfg.Components[i].Options = maps.Clone(c.Options)
			if c.Options == nil {
				cfg.Components[i].Options = map[string]config.Value{}
			}
			maps.Copy(cfg.Components[i].Options, allowed)
		}
	}
}

// limits are what the agent keeps to.
func (o *owner) limits(w *component.Watcher) agent.Limits {
	l := agent.Limits{Stacks: o.stacks, Hooks: o.hooks, Logs: o.logs}
	may, why := w.Updates()
	switch {
	case o.readOnly:
		l.ReadOnly = "there, dogwatch agent runs with --read-only"
	case why == "":
		l.ReadOnly = "the watcher " + w.ID() + " there only lists containers"
	case !may:
		l.ReadOnly = "there, " + w.UpdateRemedy()
	}
	return l
}
