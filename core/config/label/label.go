// Package label knows the labels by which containers say how they want to be
// watched: ours, those of What's Up Docker, which mean the same, and those of
// other tools, as far as something here means the same.
package label

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// Prefix is that of our labels; see WUDPrefix.
const Prefix = "dogwatch."

// The labels, without prefix.
const (
	Watch          = "watch"
	WatchDigest    = "watch.digest"
	TagInclude     = "tag.include"
	TagExclude     = "tag.exclude"
	TagTransform   = "tag.transform"
	TagPrerelease  = "tag.prerelease"
	TagImplausible = "tag.implausible"
	LinkTemplate   = "link.template"
	DisplayName    = "display.name"
	DisplayIcon    = "display.icon"
	TriggerInclude = "trigger.include"
	TriggerExclude = "trigger.exclude"
	// TriggerOnDigest is whether triggers run for rebuilds; see Reading.OnDigest.
	TriggerOnDigest = "trigger.ondigest"
	ComposeFile     = "compose.file" // read by triggers that edit compose files
	// SourceFile is the path of the file in which the image of a container is written, SourceRepository the address or
	// name of the repository that has it: triggers that propose updates change it there.
	SourceFile       = "source.file"
	SourceRepository = "source.repository"
	// Base names the image that the container's is built on, whose newer versions are looked for instead.
	Base = "base"
)

// Rule is one thing that labels ask for.
type Rule struct {
	// Name is the label without prefix: "tag.include".
	Name string
	// Value is never blank, and written as ours is.
	Value string
	// Label is the full name of the label that asks: "diun.include_tags". Lists of triggers
	// and of what is skipped may come from several, whose names are then joined by " and ".
	Label string
	// FromImage is whether the image brings the label.
	FromImage bool
}

// Source says where the rule comes from: "label dogwatch.tag.include", or the same with
// "from the image".
func (r Rule) Source() string { return sourceOf(r.Label, r.FromImage) }

func sourceOf(label string, fromImage bool) string {
	if fromImage {
		return "label " + label + " from the image"
	}
	return "label " + label
}

// Reading is what the labels of one container ask for.
type Reading struct {
	// Unknown describes labels under our prefixes that are not read, such as misspelt ones.
	Unknown []string
	// Notes describe labels that other programs read and that have no effect or
	// another meaning here.
	Notes []string
	// Ignored are labels of the image that ask for what an image may not.
	Ignored []Ignored

	rules, tighter []Rule
	unattributed   bool
}

// Get returns the rule of a label, named without prefix: the operator's, or the image's if
// that may say it.
func (r *Reading) Get(name string) (Rule, bool) { return find(r.rules, name) }

// Tightens returns the rule of a label of the image, named without prefix, that counts only
// where less happens with it than without.
func (r *Reading) Tightens(name string) (Rule, bool) { return find(r.tighter, name) }

func find(rules []Rule, name string) (Rule, bool) {
	for _, rule := range rules {
		if rule.Name == name {
			return rule, true
		}
	}
	return Rule{}, false
}

// IsFalse reports whether the value of a rule is a false one.
func (r Rule) IsFalse() bool {
	on, readable := flag(r.Value)
	return readable && !on
}

// Read returns what the labels of a container ask for: those of the operator, and of those
// of the image what an image may say and the operator does not. Labels of other tools count
// as the option says, and yield to ours, to those of What's Up Docker, and then to each other
// in the order Diun, Drydock, Watchtower. An empty value counts as absent.
func Read(s Set, opt Options) Reading {
	r := read(s.Operator, opt.Foreign, false)
	if len(s.Image) > 0 {
		r.addImage(read(s.Image, opt.Foreign, true), opt.Image)
		r.Ignored = append(r.Ignored, s.outsiders()...)
	}
	r.unattributed = s.Unattributed
	return r
}

// Unclear says which label counts if it is the operator's and does not if it is the image's,
// as long as that is not known: see Set.Unattributed. Nothing is to be done without it meanwhile.
func (r *Reading) Unclear() (label, text string, unclear bool) {
	i := slices.IndexFunc(r.Ignored, func(i Ignored) bool { return r.unattributed && i.Name != "" })
	if i < 0 {
		return "", "", false
	}
	label = sourceOf(r.Ignored[i].Label, false)
	text = label +
		": whether the operator or the image says this is known once its watcher lists the container again: check it"
	return label, text, true
}

// read returns what labels of one side ask for.
func read(labels map[string]string, foreign, fromImage bool) Reading {
	r := Reading{}
	if hasOurs(labels) {
		r.readOurs(labels)
		r.readDelay(labels)
		r.readOnDigest(labels)
		r.Unknown, r.Notes = unknown(labels, fromImage)
	}
	if foreign {
		r.readForeign(labels, fromImage)
	}
	for i := range r.rules {
		r.rules[i].FromImage = fromImage
	}
	return r
}

// unknown finds labels of ours that are not read, and those below wud.trigger
// that integrations of What's Up Docker may read.
func unknown(labels map[string]string, fromImage bool) (found, private []string) {
	for name := range labels {
		for _, prefix := range []string{Prefix, WUDPrefix} {
			rest, ours := strings.CutPrefix(name, prefix)
			switch {
			case !ours || isOf(prefix, rest):
			case Private(name):
				private = append(private, fmt.Sprintf("%s: has no effect here; triggers are chosen by %s and %s",
					sourceOf(name, fromImage), Prefix+TriggerInclude, Prefix+TriggerExclude))
			default:
				found = append(found, fmt.Sprintf("unknown %s, ignored%s",
					sourceOf(name, fromImage), suggestion(prefix, rest, namesUnder(prefix))))
			}
		}
	}
	slices.Sort(found)
	slices.Sort(private)
	return found, private
}

// suggestion completes a complaint about an unknown name with the nearest known one.
func suggestion(prefix, name string, known []string) string {
	near := option.Suggest(name, known)
	if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, name+".") }); near == "" && i >= 0 {
		near = known[i]
	}
	if near == "" {
		return ""
	}
	return ": did you mean " + prefix + near + "?"
}

// readForeign adds the rules of other tools' labels.
func (r *Reading) readForeign(labels map[string]string, fromImage bool) {
	own := len(r.rules)
	for _, f := range families() {
		from := len(r.rules)
		for _, name := range slices.Sorted(f.labelsIn(labels)) {
			value := labels[name]
			if strings.TrimSpace(value) == "" {
				continue
			}
			t := f.translate(name, value)
			if t.Note != "" {
				r.Notes = append(r.Notes, sourceOf(name, fromImage)+": "+t.Note)
			}
			if t.Name != "" && strings.TrimSpace(t.Value) != "" {
				r.add(Rule{Name: t.Name, Value: t.Value, Label: name}, own, from)
			}
		}
	}
}

// add adds a rule unless there is a better one. Rules from index own on are
// foreign, those from index family on are of the same tool as the new one.
func (r *Reading) add(rule Rule, own, family int) {
	i := slices.IndexFunc(r.rules, func(have Rule) bool { return have.Name == rule.Name })
	switch {
	case i < 0:
		r.rules = append(r.rules, rule)
	case i >= family && (rule.Name == TriggerInclude || rule.Name == TriggerExclude):
		r.rules[i].Value += "," + rule.Value
		r.rules[i].Label += " and " + rule.Label
	case i >= family && rule.Name == UpdateSkip:
		r.rules[i].Value += "|" + rule.Value
		r.rules[i].Label += " and " + rule.Label
	case i >= family && rule.Name == Watch && rule.Value == "false",
		i >= family && rule.Name == UpdateMinAge && rule.Value == noAge:
		r.rules[i] = rule // whatever else it says, it is not to be watched, or not to wait
	case i >= family && rule.Name == UpdateMinAge: // the days were read before the mode
	case i < own || r.rules[i].Value != rule.Value:
		r.Notes = append(r.Notes, "label "+rule.Label+": not used, since "+r.rules[i].Label+" is set")
	}
}
