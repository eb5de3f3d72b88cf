package decision

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Layers give containers their rules: those of their labels, then those of the policy
// that a label or their watcher names, then the delay of their watcher, then those of the setting policy, and then
// what is known of their image.
type Layers struct {
	// Config returns the configuration that counts now.
	Config func() *config.Config
	// PolicyOf returns the name of the policy of a watcher, and the source of that; "" for none.
	PolicyOf func(watcher string) (name, source string)

	// Presets are what is known of images; nil for nothing.
	Presets *preset.Presets

	resolver policy.Resolver
}

// LayersOf returns the rules of a configuration, for where no watcher runs.
func LayersOf(cfg *config.Config) *Layers {
	policyOf := func(watcher string) (name, source string) {
		for _, section := range cfg.Components {
			given, isText := section.Options["policy"].V.(string)
			if isText && section.Kind == kind.Watcher && section.Name == watcher {
				return strings.ToLower(given), section.Key() + ".policy"
			}
		}
		return "", ""
	}
	return &Layers{Presets: new(preset.Presets), Config: func() *config.Config { return cfg }, PolicyOf: policyOf}
}

// labelRules are the labels of rules, by rule.
var labelRules = map[string]string{
	policy.RuleUpdate: label.Update, policy.RuleMajor: label.UpdateMajor, policy.RuleThreshold: label.UpdateThreshold,
	policy.RuleMinAge: label.UpdateMinAge, policy.RuleSecurity: label.UpdateSecurity,
	policy.RuleWindow: label.UpdateWindow,
	policy.RuleFreeze: label.UpdateFreeze, policy.RuleSkip: label.UpdateSkip, policy.RuleZone: label.UpdateZone,
}

// Rules returns the rules of a container.
func (l *Layers) Rules(c sdk.Container) policy.Rules {
	set := label.Of(c)
	given := label.Read(set, label.Options{Foreign: l.Config().Labels.Foreign, Image: l.Config().Labels.Image})
	layers := []policy.Layer{labelled(given.Get)}
	var problem *policy.Problem
	if name, source := l.named(given, c.Watcher); name != "" {
		if named, known := l.Config().Policies[name]; known {
			layers = append(layers, l.layer("policies."+name, named))
		} else {
			problem = &policy.Problem{Source: source, Text: l.unknown(name, source)}
		}
	}
	if delay, source := l.delay(c.Watcher); delay != "" {
		layers = append(layers, oneRule(policy.RuleMinAge, delay, source))
	}
	layers = append(layers, l.layer("policy", l.Config().Policy))
	known := l.Preset(c)
	if known != nil && known.Major == preset.Never {
		layers = append(layers, neverMajor(known))
	}
	rules := l.resolver.Resolve(layers...)
	rules.Preset = known
	if problem != nil {
		rules.Problems = append(slices.Clone(rules.Problems), *problem)
	}
	if source, text, isUnclear := given.Unclear(); isUnclear {
		rules.Problems = append(slices.Clone(rules.Problems), policy.Problem{Source: source, Text: text})
	}
	if len(set.Image) > 0 {
		rules = rules.Tighten(labelled(given.Tightens))
	}
	return manual(rules, given)
}

// Preset returns what is known of the image of a container; nil for nothing, or where that is switched off.
func (l *Layers) Preset(c sdk.Container) *preset.Preset {
	if l.Presets == nil || !l.Config().Presets {
		return nil
	}
	return l.Presets.Of(c.Image.Registry.Host, c.Image.Name)
}

// Advice reports whether the update of a container is a major one, and what it takes as far as that is known.
func (l *Layers) Advice(c sdk.Container) (advice string, isMajor bool) {
	rules := l.Rules(c)
	if !rules.IsMajorUpdate(&c) {
		return "", false
	}
	if rules.Preset != nil {
		advice = rules.Preset.Advice()
	}
	return advice, true
}

// neverMajor has major updates wait for a user: no watcher carries them out by itself, nor does a trigger.
func neverMajor(known *preset.Preset) policy.Layer {
	return oneRule(policy.RuleMajor, string(policy.Approve), known.Source())
}

// labelled returns the rules of labels.
func labelled(given func(name string) (label.Rule, bool)) policy.Layer {
	sources, values := map[string]string{}, map[string]string{}
	for rule, name := range labelRules {
		if r, found := given(name); found {
			values[rule], sources[rule] = r.Value, r.Source()
		}
	}
	return policy.Layer{Values: values, Source: func(rule string) string { return sources[rule] }}
}

// manual returns rules by which nothing is automatic, if a label wants that.
func manual(rules policy.Rules, given label.Reading) policy.Rules {
	for _, get := range []func(string) (label.Rule, bool){given.Get, given.Tightens} {
		r, found := get(label.UpdateAuto)
		if !found || !r.IsFalse() || rules.Mode.Value != policy.Auto {
			continue
		}
		rules = rules.Tighten(oneRule(policy.RuleUpdate, string(policy.Approve), r.Source()))
	}
	return rules
}

// named returns the name of the policy of a container.
func (l *Layers) named(given label.Reading, watcher string) (name, source string) {
	if r, found := given.Get(label.Policy); found {
		return strings.ToLower(strings.TrimSpace(r.Value)), r.Source()
	}
	if l.PolicyOf == nil {
		return "", ""
	}
	return l.PolicyOf(watcher)
}

// delay returns the minimum age that the section of a watcher sets, in the word of
// What's Up Docker 9; "" for none.
func (l *Layers) delay(watcher string) (delay, source string) {
	for _, c := range l.Config().Components {
		if c.Kind == kind.Watcher && c.Name == watcher {
			return delayOf(c), c.Key() + "." + delayOption
		}
	}
	return "", ""
}

const delayOption = "delay"

func delayOf(c config.Component) string {
	text, _ := c.Options[delayOption].V.(string)
	return strings.TrimSpace(text)
}

// oneRule returns a layer of a single rule.
func oneRule(rule, value, source string) policy.Layer {
	return policy.Layer{Values: map[string]string{rule: value}, Source: func(string) string { return source }}
}

func (l *Layers) layer(prefix string, rules config.Policy) policy.Layer {
	return policy.Layer{Values: rules.Values(), Source: func(rule string) string { return prefix + "." + rule }}
}

func (l *Layers) unknown(name, source string) string {
	names := slices.Sorted(maps.Keys(l.Config().Policies))
	text := fmt.Sprintf("%s: there is no policy %q", source, name)
	switch near := option.Suggest(name, names); {
	case near != "":
		return text + ": did you mean " + near + "?"
	case len(names) == 0:
		return text + ": set policies." + name + ", or remove it"
	}
	return text + "; policies are " + strings.Join(names, ", ")
}

// Problems returns what is wrong with the rules of the configuration, for logs and reports.
func (l *Layers) Problems(now time.Time) (problems []config.Problem) {
	checkLayer := func(layer policy.Layer) {
		read := l.resolver.Resolve(layer)
		for _, found := range read.Problems {
			problems = append(problems, l.problem(found.Source, strings.TrimPrefix(found.Text, found.Source+": ")))
		}
		if never, found := read.NeverOpens(now); found {
			problems = append(problems, l.problem(never.Source, never.Text))
		}
	}
	check := func(prefix string, rules config.Policy) { checkLayer(l.layer(prefix, rules)) }
	check("policy", l.Config().Policy)
	for _, name := range slices.Sorted(maps.Keys(l.Config().Policies)) {
		check("policies."+name, l.Config().Policies[name])
	}
	for _, c := range l.Config().Components {
		if delay := delayOf(c); delay != "" && c.Kind == kind.Watcher {
			checkLayer(oneRule(policy.RuleMinAge, delay, c.Key()+"."+delayOption))
		}
		name, isText := c.Options["policy"].V.(string)
		if name = strings.ToLower(strings.TrimSpace(name)); !isText || name == "" || c.Kind != kind.Watcher {
			continue
		}
		if _, known := l.Config().Policies[name]; !known {
			source := c.Key() + ".policy"
			problems = append(problems, l.problem(source, strings.TrimPrefix(l.unknown(name, source), source+": ")))
		}
	}
	return problems
}

// problem names where the rule with a key was written.
func (l *Layers) problem(key, message string) config.Problem {
	return config.Problem{Key: key, Source: l.Config().Source(key), Message: message, Level: config.Error}
}

// Zone returns that of windows that name none. One that does not exist is reported where
// the configuration is read.
func (l *Layers) Zone() *time.Location {
	if zone, err := window.Zone(l.Config().Policy.Zone); err == nil {
		return zone
	}
	return time.Local
}
