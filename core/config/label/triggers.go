package label

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// onDigestOf returns the trigger ("smtp.main") or the type of triggers ("smtp") that a label such
// as trigger.smtp.main.ondigest is about, in lower case; is is false for every other label.
func onDigestOf(name string) (target string, ok bool) {
	rest, trigger := strings.CutPrefix(name, "trigger.")
	target, onDigest := strings.CutSuffix(rest, ".ondigest")
	if !trigger || !onDigest || target == "" || strings.Count(target, ".") > 1 {
		return "", false
	}
	return strings.ToLower(target), true
}

// onDigestFor returns the name of the label about a trigger or a type of triggers.
func onDigestFor(target string) string { return "trigger." + target + ".ondigest" }

// readOnDigest adds the labels about rebuilds that name a trigger or a type of triggers.
func (r *Reading) readOnDigest(labels map[string]string) {
	var about []string
	for full, value := range labels {
		for _, prefix := range [...]string{Prefix, WUDPrefix} {
			name, ours := strings.CutPrefix(full, prefix)
			if !ours || strings.TrimSpace(value) == "" {
				continue
			}
			if _, ok := onDigestOf(name); ok {
				about = append(about, full)
			}
		}
	}
	slices.Sort(about) // ours first
	for _, full := range about {
		_, name, _ := strings.Cut(full, ".")
		target, _ := onDigestOf(name)
		if _, set := r.Get(onDigestFor(target)); !set {
			r.rules = append(r.rules, Rule{Name: onDigestFor(target), Value: labels[full], Label: full})
		}
	}
}

// OnDigestRules returns the rules about rebuilds, whatever triggers they are about.
func (r *Reading) OnDigestRules() []Rule {
	var all []Rule
	for _, rule := range r.rules {
		if _, ok := onDigestOf(rule.Name); ok || rule.Name == TriggerOnDigest {
			all = append(all, rule)
		}
	}
	return all
}

// OnDigest returns whether a trigger ("smtp.main") runs for rebuilds of the container: as the
// label of that trigger says, else as that of its type, else as that for all. said is false where
// none does, or not readably. What's Up Docker 9 has the same labels: https://github.com/getwud/wud
func (r *Reading) OnDigest(trigger string) (on, ok bool) {
	trigger = strings.ToLower(trigger)
	kind, _, _ := strings.Cut(trigger, ".")
	for _, name := range []string{onDigestFor(trigger), onDigestFor(kind), TriggerOnDigest} {
		rule, _ := r.Get(name)
		if on, ok = flag(rule.Value); ok {
			return on, true
		}
	}
	return false, false
}

// UnknownTriggers returns a sentence for each trigger in the labels of a container that is not among the ids of those
// that are configured.
func UnknownTriggers(given Reading, ids []string) []string {
	var found []string
	check := func(rule Rule, id string) {
		if id == "" || slices.ContainsFunc(ids, func(known string) bool {
			return known == id || strings.HasPrefix(known, id+".") && rule.Name == onDigestFor(id)
		}) {
			return
		}
		text := fmt.Sprintf("%s names the trigger %q, which is not configured", rule.Source(), id)
		if near := option.Suggest(id, ids); near != "" {
			text += fmt.Sprintf(": did you mean %s?", near)
		}
		found = append(found, text)
	}
	for _, name := range []string{TriggerInclude, TriggerExclude} {
		rule, _ := given.Get(name)
		for _, item := range strings.Split(rule.Value, ",") {
			id, _, _ := strings.Cut(item, ":")
			check(rule, strings.ToLower(strings.TrimSpace(id)))
		}
	}
	for _, rule := range given.OnDigestRules() {
		target, _ := onDigestOf(rule.Name)
		check(rule, target)
	}
	return found
}
