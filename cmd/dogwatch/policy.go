package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	updatekey "github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
)

func newPolicy(g *global) *cobra.Command {
	return newGroup("policy", "Show which updates are offered or held, and by which rules",
		`Rules of the configuration and of labels decide whether an update is offered, held
until something changes, or carried out. These commands read what the last check has
stored, and change nothing.`,
		`  # what is held, why, and until when
  dogwatch policy preview

  # what would a minimum age of a week change?
  dogwatch policy preview --rule minage=7d

  # every rule, where it is set, and for what
  dogwatch policy list`,
		newPolicyPreview(g), newPolicyList(g))
}

func newPolicyPreview(g *global) *cobra.Command {
	var asJSON bool
	var rules []string
	cmd := &cobra.Command{
		Use:   "preview [CONTAINER]...",
		Short: "Say what becomes of updates now, or with another rule",
		Long: `Says of each container, or of those named, whether its update is offered, held or carried
out, why, until when, and when its next three windows are. With --rule it says what would
become of them if that rule were set for all of them, and what is different. Rules are
update, major, threshold, minage, security, window, freeze and skip.

Exit code 0: it is shown. 1: there is no such container, or the rule cannot be read.`,
		Example: `  # what is held, why, and until when
  dogwatch policy preview

  # when is the next window of one container?
  dogwatch policy preview nginx

  # a rule, before it is set
  dogwatch policy preview --rule minage=7d --rule 'window=Sat,Sun 02:00-05:00'`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: others(g.containerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.previewPolicy(cmd.Context(), args, rules, asJSON)
		},
	}
	cmd.Flags().StringArrayVar(&rules, "rule", nil,
		"show what this `rule` would change, such as minage=7d; may be repeated")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the preview for a script")
	_ = cmd.RegisterFlagCompletionFunc("rule",
		func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, name := range policy.RuleNames() {
				names = append(names, name+"=")
			}
			return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		})
	return cmd
}

func newPolicyList(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rules that are set, where, and for which containers",
		Long: `Lists each rule that configuration or labels set, where, for how many containers, and
what becomes of their updates now. A named policy that no container uses is named, too.`,
		Example: `  # is the freeze in force, and for what?
  dogwatch policy list

  # the containers of each rule, for a script
  dogwatch policy list --json | jq '.[] | {name, value, containers}'`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			subjects, cfg, err := g.decisionSubjects(cmd.Context(), nil)
			if err != nil {
				return err
			}
			uses := preview.Of(subjects, time.Now()).Uses()
			if asJSON {
				return printJSON(g.stdout, uses)
			}
			return writeUses(g.stdout, uses, unusedPolicies(cfg, uses))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the rules for a script")
	return cmd
}

func (g *global) previewPolicy(ctx context.Context, names, rules []string, asJSON bool) error {
	subjects, cfg, err := g.decisionSubjects(ctx, names)
	if err != nil {
		return err
	}
	now := time.Now()
	current := preview.Of(subjects, now)
	if len(rules) == 0 {
		if asJSON {
			return printJSON(g.stdout, current)
		}
		return writePreview(g.stdout, styleOf(g.stdout), current, nil)
	}
	zone, err := zoneOf(cfg)
	if err != nil {
		return err
	}
	if subjects, err = preview.With(subjects, rules, zone, now); err != nil {
		return usage(err)
	}
	changed := preview.Of(subjects, now)
	if asJSON {
		return printJSON(g.stdout, changed)
	}
	return writePreview(g.stdout, styleOf(g.stdout), changed, &current)
}

// zoneOf returns the time zone of windows without one.
func zoneOf(cfg *config.Config) (*time.Location, error) {
	if cfg.Policy.Zone == "" {
		return time.Local, nil
	}
	zone, err := window.Zone(cfg.Policy.Zone)
	if err != nil {
		return nil, fmt.Errorf("policy.zone: %w", err)
	}
	return zone, nil
}

// decisionSubjects returns the containers of these names, or all, with what their updates
// are decided with.
func (g *global) decisionSubjects(ctx context.Context, names []string) ([]preview.Subject, *config.Config, error) {
	cfg, err := g.load(nil)
	if err != nil {
		return nil, nil, err
	}
	recorded, err := stored.Updates(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	all := recorded.Containers
	if len(all) == 0 {
		return nil, nil, errors.New("no containers are recorded yet: let dogwatch serve make its first check")
	}
	containers := all
	if len(names) > 0 {
		containers = nil
		for _, name := range names {
			c, err := lookup.One(all, name)
			if err != nil {
				return nil, nil, err
			}
			if !slices.ContainsFunc(containers, func(known sdk.Container) bool { return known.ID == c.ID }) {
				containers = append(containers, c)
			}
		}
	}
	rules := rulesOf(cfg)
	var subjects []preview.Subject
	for _, c := range containers {
		subject := event.Subject(c)
		subjects = append(subjects, preview.Subject{
			Running: c.Image.Tag.Value, Container: c,
			Update: policy.Update{Subject: subject, Candidates: recorded.Found[subject].Candidates},
			Rules:  rules(c),
			Facts:  factsOf(cfg, c, recorded.Stops[subject]),
			Choices: slices.DeleteFunc(slices.Clone(recorded.Choices), func(chosen choice.Choice) bool {
				return chosen.Subject != subject
			}),
		})
	}
	return subjects, cfg, nil
}

// factsOf returns what is known of a container without the Dogwatch that is serving: whether
// its watcher may update, by its configuration, and whether its update was rolled back,
// by its last decision.
func factsOf(cfg *config.Config, c sdk.Container, stop policy.Stop) policy.Facts {
	may, tried := component.MayUpdate(cfg.Components, c.Watcher), false
	trial := policy.Trial{Ended: c.Check.At.Time}
	if c.Decision != nil {
		for _, r := range c.Decision.Reasons {
			switch r.Code {
			case policy.ReasonForbidden:
				may = false
			case policy.ReasonAutomatic, policy.ReasonStack:
				may = true
			case policy.ReasonCameBack:
				tried = true
			case policy.ReasonUndone:
				tried, trial.Undone = true, &policy.Rollback{By: r.Source, At: c.Check.At.Time}
			}
		}
	}
	return decision.Facts{
		MayUpdate: func(string) (bool, string) { return may, "set its option update to true" },
		Tried: func(c *sdk.Container, key updatekey.Key) (policy.Trial, bool) {
			return trial, tried && key.SameTarget(updatekey.KeyOf(c))
		},
		Stopped: func(*sdk.Container) policy.Stop { return stop },
	}.Of(c)
}
