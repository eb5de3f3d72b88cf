package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// policiesSection holds the named policies: policies.careful.minage.
const policiesSection = "policies"

// Policy is rules about which updates are offered, and when. They are texts here, and
// read by core/decide/policy; "" is a rule that is not set.
type Policy struct {
	Update    string `option:"update" help:"What becomes of an update that nothing holds: notify (triggers run), approve (triggers that update wait for the approval of a user), auto (it is carried out, where the watcher may update); notify when not set"`
	Major     string `option:"major" help:"What becomes of a major update, where that lets less happen than update: notify, approve, auto (as any other update); as known of its image (presets) when not set"`
	Threshold string `option:"threshold" help:"Largest step between versions that is offered: all, versions (no rebuilds, which are new images of the same tag), major, minor (minor versions and smaller ones), patch, major-only, minor-only (minor versions alone), or digest (rebuilds only); -no-digest behind a step leaves out rebuilds; all when not set"`
	MinAge    string `option:"minage" help:"How old a version must be to be offered, such as 7d, 36h or 2w; the newest that is old enough is offered"`
	Security  string `option:"security" help:"Least severity of vulnerabilities whose fix has a version offered whatever its age, as far as images were scanned: critical, high, medium, low; none when not set"`
	Window    string `option:"window" help:"When updates are offered and carried out, such as Sat,Sun 02:00-05:00; always when not set"`
	Freeze    string `option:"freeze" help:"Days on which none is, such as 2026-12-20..2027-01-05, or 12-20..01-05 for every year"`
	Skip      string `option:"skip" help:"Regular expression of tags and digests that are never offered"`
	Zone      string `option:"zone" help:"Time zone of windows and freezes that name none, such as Europe/Paris; that of the machine (TZ) when not set"`
}

// policySchema is never wrong: its declarations are constant, and tested.
func policySchema() option.Schema {
	s, err := option.Of[Policy]()
	if err != nil {
		panic("config: policy: " + err.Error())
	}
	return s
}

// Values returns the rules that are set, by name.
func (p Policy) Values() map[string]string {
	all := map[string]string{
		"update": p.Update, "major": p.Major, "threshold": p.Threshold, "minage": p.MinAge, "security": p.Security,
		"window": p.Window, "freeze": p.Freeze, "skip": p.Skip, "zone": p.Zone,
	}
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}

// placePolicy gives a value to a named policy.
func (l *loader) placePolicy(path string, v Value) {
	parts := strings.SplitN(path, ".", 3)
	switch {
	case len(parts) < 3 && v.V == "":
		return
	case len(parts) < 3 || !nameForm().MatchString(parts[1]):
		l.report(Problem{
			Key: path, Source: v.Source, Message: "is no rule of a named policy",
			Remedy: "write " + spell(policiesSection+".careful.minage", v.Source) +
				", with a name of your own of a-z, 0-9 and -", Level: Warning,
		})
		return
	}
	schema := policySchema()
	if _, known := schema.Find(parts[2]); !known {
		p := Problem{Key: path, Source: v.Source, Message: "there is no such rule", Level: Warning}
		var names []string
		for _, o := range schema {
			names = append(names, o.Name)
		}
		if near := option.Suggest(parts[2], names); near != "" {
			p.Remedy = meant(policiesSection+"."+parts[1]+"."+near, v.Source)
		}
		l.report(p)
		return
	}
	if l.policies[parts[1]] == nil {
		l.policies[parts[1]] = map[string]Value{}
	}
	l.policies[parts[1]][parts[2]] = v
}

// namedPolicies decodes the named policies.
func (l *loader) namedPolicies() {
	l.config.Policies = map[string]Policy{}
	for _, name := range slices.Sorted(maps.Keys(l.policies)) {
		raw := map[string]any{}
		for rule, v := range l.policies[name] {
			if v.problem != nil {
				l.report(*v.problem)
				continue
			}
			raw[rule] = v.V
			l.config.sources[strings.Join([]string{policiesSection, name, rule}, ".")] = v.Source
		}
		p, err := option.Decode[Policy](raw)
		if err != nil {
			l.report(Problem{Key: policiesSection + "." + name, Message: err.Error(), Level: Error})
		}
		l.config.Policies[name] = p
	}
}
