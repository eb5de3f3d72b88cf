package wiring

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Policies gives containers their rules: those of their labels, then those of the policy
// that a label or their watcher names, then the delay of their watcher, then those of the setting policy, and then
// what is known of their image.
type Policies struct {
	// Config returns the configuration that counts now.
	Config func() *config.Config
	// PolicyOf returns the name of the policy of a watcher, and the source of that; "" for none.
	PolicyOf func(watcher string) (name, source string)

	// Presets are what is known of images; nil for nothing.
	Presets *preset.Presets

	resolver policy.Resolver
}

// PoliciesOf returns the rules of a configuration, for where no watcher runs.
func PoliciesOf(cfg *config.Config) *Policies {
	policyOf := func(watcher string) (name, source string) {
		for _, section := range cfg.Components {
			given, is := section.Options["policy"].V.(string)
			if is && section.Kind == kind.Watcher && section.Name == watcher {
				return strings.ToLower(given), section.Key() + ".policy"
			}
		}
		return "", ""
	}
	return &Policies{Presets: new(preset.Presets), Config: func() *config.Config { return cfg }, PolicyOf: policyOf}
}

// labelRules are the labels of rules, by rule.
var labelRules = map[string]string{
	policy.RuleUpdate: label.Update, policy.RuleMajor: label.UpdateMajor, policy.RuleThreshold: label.UpdateThreshold,
	policy.RuleMinAge: label.UpdateMinAge, policy.RuleSecurity: label.UpdateSecurity,
	policy.RuleWindow: label.UpdateWindow,
	policy.RuleFreeze: label.UpdateFreeze, policy.RuleSkip: label.UpdateSkip, policy.RuleZone: label.UpdateZone,
}

// Rules returns the rules of a container.
func (p *Policies) Rules(c sdk.Container) policy.Rules {
	set := label.Of(c)
	given := label.Read(set, Labels(p.Config()))
	layers := []policy.Layer{labelled(given.Get)}
	var problem *policy.Problem
	if name, source := p.named(given, c.Watcher); name != "" {
		if named, known := p.Config().Policies[name]; known {
			layers = append(layers, p.layer("policies."+name, named))
		} else {
			problem = &policy.Problem{Source: source, Text: p.unknown(name, source)}
		}
	}
	if delay, source := p.delay(c.Watcher); delay != "" {
		layers = append(layers, delayed(delay, source))
	}
	layers = append(layers, p.layer("policy", p.Config().Policy))
	known := p.Preset(c)
	if known != nil && known.Major == preset.Never {
		layers = append(layers, neverMajor(known))
	}
	rules := p.resolver.Resolve(layers...)
	rules.Preset = known
	if problem != nil {
		rules.Problems = append(slices.Clone(rules.Problems), *problem)
	}
	if source, text, is := given.Unclear(); is {
		rules.Problems = append(slices.Clone(rules.Problems), policy.Problem{Source: source, Text: text})
	}
	if len(set.Image) > 0 {
		rules = rules.Tighten(labelled(given.Tightens))
	}
	return manual(rules, given)
}

// Preset returns what is known of the image of a container; nil for nothing, or where that is switched off.
func (p *Policies) Preset(c sdk.Container) *preset.Preset {
	if p.Presets == nil || !p.Config().Presets {
		return nil
	}
	return p.Presets.Of(c.Image.Registry.Host, c.Image.Name)
}

// Advice reports whether the update of a container is a major one, and what it takes as far as that is known.
func (p *Policies) Advice(c sdk.Container) (advice string, isMajor bool) {
	rules := p.Rules(c)
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
	return policy.Layer{
		Values: map[string]string{policy.RuleMajor: string(policy.Approve)},
		Source: func(string) string { return known.Source() },
	}
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
	for _, of := range []func(string) (label.Rule, bool){given.Get, given.Tightens} {
		r, found := of(label.UpdateAuto)
		if !found || !r.IsFalse() || rules.Mode.Value != policy.Auto {
			continue
		}
		rules = rules.Tighten(policy.Layer{
			Values: map[string]string{policy.RuleUpdate: string(policy.Approve)},
			Source: func(string) string { return r.Source() },
		})
	}
	return rules
}

// named returns the name of the policy of a container.
func (p *Policies) named(given label.Reading, watcher string) (name, source string) {
	if r, found := given.Get(label.Policy); found {
		return strings.ToLower(strings.TrimSpace(r.Value)), r.Source()
	}
	if p.PolicyOf == nil {
		return "", ""
	}
	return p.PolicyOf(watcher)
}

// delay returns the minimum age that the section of a watcher sets, in the word of
// What's Up Docker 9; "" for none.
func (p *Policies) delay(watcher string) (delay, source string) {
	for _, c := range p.Config().Components {
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

func delayed(delay, source string) policy.Layer {
	return policy.Layer{Values: map[string]string{policy.RuleMinAge: delay}, Source: func(string) string { return source }}
}

func (p *Policies) layer(prefix string, rules config.Policy) policy.Layer {
	return policy.Layer{Values: rules.Values(), Source: func(rule string) string { return prefix + "." + rule }}
}

func (p *Policies) unknown(name, source string) string {
	names := slices.Sorted(maps.Keys(p.Config().Policies))
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
func (p *Policies) Problems(now time.Time) (problems []config.Problem) {
	checkLayer := func(layer policy.Layer) {
		read := p.resolver.Resolve(layer)
		for _, found := range read.Problems {
			problems = append(problems, p.problem(found.Source, strings.TrimPrefix(found.Text, found.Source+": ")))
		}
		if never, found := read.NeverOpens(now); found {
			problems = append(problems, p.problem(never.Source, never.Text))
		}
	}
	check := func(prefix string, rules config.Policy) { checkLayer(p.layer(prefix, rules)) }
	check("policy", p.Config().Policy)
	for _, name := range slices.Sorted(maps.Keys(p.Config().Policies)) {
		check("policies."+name, p.Config().Policies[name])
	}
	for _, c := range p.Config().Components {
		if delay := delayOf(c); delay != "" && c.Kind == kind.Watcher {
			checkLayer(delayed(delay, c.Key()+"."+delayOption))
		}
		name, is := c.Options["policy"].V.(string)
		if name = strings.ToLower(strings.TrimSpace(name)); !is || name == "" || c.Kind != kind.Watcher {
			continue
		}
		if _, known := p.Config().Policies[name]; !known {
			source := c.Key() + ".policy"
			problems = append(problems, p.problem(source, strings.TrimPrefix(p.unknown(name, source), source+": ")))
		}
	}
	return problems
}

// problem names where the rule with a key was written.
func (p *Policies) problem(key, message string) config.Problem {
	return config.Problem{Key: key, Source: p.Config().Source(key), Message: message, Level: config.Error}
}

// PolicyOf returns the policy that the option of a watcher names.
func PolicyOf(components *component.Manager) func(watcher string) (name, source string) {
	return func(watcher string) (string, string) {
		for _, w := range components.Watchers() {
			if w.Name == watcher && w.Settings.Policy != "" {
				return strings.ToLower(w.Settings.Policy), w.FullID() + ".policy"
			}
		}
		return "", ""
	}
}
