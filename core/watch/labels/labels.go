// Package labels reads what the labels of a container ask of a check: whether it is watched, which tags count, what its
// image is built on, how it is shown, and where its release notes are.
package labels

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/config/template"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Rule is one thing that a label asks for, and where it comes from.
type Rule struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// IsDefault reports whether no label sets the rule.
func (r Rule) IsDefault() bool { return r.Source == defaultSource }

// Labels is what a container's labels ask for, compiled.
type Labels struct {
	// Watch is whether the container is watched.
	Watch bool
	// Selector chooses among tags; without any rules when one of them is wrong.
	Selector *tag.Selector
	// Sources are the labels that are set, and where each comes from.
	Sources []Rule
	// TagLabels are those about tags that the operator sets, and ImageTagLabels those that the image has.
	TagLabels, ImageTagLabels []candidate.Label
	// Fatal keeps the container from being checked; Wrong is only shown.
	Fatal, Wrong []string
	// Warnings are to be logged once: labels that nothing reads.
	Warnings []string
	// Notes are for explanations: what labels of other tools do not do here.
	Notes []string

	options Options
	// digest is whether a new digest counts; nil leaves it to the kind of tag.
	digest *bool
	rules  tag.Rules
	link   *template.Template
	// implausible is whether newer tags are offered that were built long before what runs.
	implausible bool
	// base is the label that names the image that the container's is built on; see BaseOf.
	base label.Rule

	linkTemplate, displayName, displayIcon, triggerInclude, triggerExclude string
	// isImageLink is whether the linkTemplate is one of the image, which knows only that.
	isImageLink bool
}

// Options say how labels are read.
type Options struct {
	// Labels are which of them count.
	Labels label.Options
	// WatchByDefault is whether containers are watched that do not say it.
	WatchByDefault bool
	// WatchFloating makes the digests behind floating versions count where no label says otherwise.
	WatchFloating bool
	// Triggers returns the ids of those that are configured, which labels may name; nil where that is not known.
	Triggers func() []string
	// Compile makes a selector of rules; nil for tag.Compile.
	Compile func(tag.Rules) (*tag.Selector, error)
}

// Read reads the labels of a container. A wrong label is reported in what it returns and never hides the container.
func Read(set label.Set, opt Options) Labels {
	if opt.Compile == nil {
		opt.Compile = tag.Compile
	}
	given := label.Read(set, opt.Labels)
	l := Labels{options: opt, Notes: given.Notes}
	l.Watch = watched(l.flag(given, label.Watch), opt.WatchByDefault, len(l.Wrong) > 0)
	l.digest = l.flag(given, label.WatchDigest)
	l.rules = l.rulesOf(given)
	if all := l.flag(given, label.TagImplausible); all != nil {
		l.implausible = *all
	}
	l.linkTemplate = l.text(given, label.LinkTemplate)
	if rule, _ := given.Get(label.LinkTemplate); rule.FromImage && opt.Labels.Image != label.ImageAll {
		l.isImageLink = true
	}
	l.displayName = l.text(given, label.DisplayName)
	l.displayIcon = l.icon(given)
	l.triggerInclude = l.text(given, label.TriggerInclude)
	l.triggerExclude = l.text(given, label.TriggerExclude)
	onDigest := given.OnDigestRules()
	for _, rule := range onDigest {
		l.flag(given, rule.Name)
	}
	l.text(given, label.Base)
	if l.base, _ = given.Get(label.Base); opt.Labels.Image == label.ImageAll {
		l.base.FromImage = false
	}
	l.compile()
	l.Warnings = append(l.spaced(), given.Unknown...)
	for _, ignored := range given.Ignored {
		l.Warnings = append(l.Warnings, ignored.String())
	}
	if opt.Triggers != nil && (l.triggerInclude+l.triggerExclude != "" || len(onDigest) > 0) {
		l.Warnings = append(l.Warnings, label.UnknownTriggers(given, opt.Triggers())...)
	}
	return l
}

// watched decides by the label of that name, and else by the watcher. Who wrote
// something that cannot be read meant the container to be noticed.
func watched(label *bool, byDefault, unreadable bool) bool {
	if label != nil {
		return *label
	}
	return byDefault || unreadable
}

// SameRules reports whether the labels of a container ask for the same rules about tags.
func (l *Labels) SameRules(c sdk.Container) bool {
	return new(Labels).rulesOf(label.Read(label.Of(c), l.options.Labels)) == l.rules
}

// rulesOf reads the labels that decide which tags count.
func (l *Labels) rulesOf(given label.Reading) tag.Rules {
	prerelease := l.flag(given, label.TagPrerelease)
	return tag.Rules{
		Include:    l.text(given, label.TagInclude),
		Exclude:    l.text(given, label.TagExclude),
		Transform:  l.text(given, label.TagTransform),
		Prerelease: prerelease != nil && *prerelease,
	}
}

// compile makes the selector and the template of release links.
func (l *Labels) compile() {
	var err error
	if l.Selector, err = l.options.Compile(l.rules); err != nil {
		l.Fatal = append(l.Fatal, l.Blame(err).Error())
		l.Selector, _ = l.options.Compile(tag.Rules{}) // still reads what runs
	}
	if l.linkTemplate == "" {
		return
	}
	before := len(l.Wrong)
	link, err := template.Parse(l.linkTemplate)
	if err != nil {
		l.Wrong = append(l.Wrong, fmt.Sprintf("label %s: %v", l.source(label.LinkTemplate), err))
		return
	}
	shapes := linkShapes()
	if l.isImageLink {
		shapes = imageLinkShapes()
	}
	for _, problem := range link.Lint(shapes) {
		l.Wrong = append(l.Wrong, fmt.Sprintf("label %s: %s", l.source(label.LinkTemplate), problem))
	}
	if len(l.Wrong) == before { // else a link would lead nowhere
		l.link = link
	}
}

// Blame names the label behind an error of the tag rules.
func (l *Labels) Blame(err error) error {
	var rule *tag.RuleError
	if !errors.As(err, &rule) {
		return err
	}
	return fmt.Errorf("label %s: %w", l.source("tag."+rule.Rule), err)
}

// source returns the full name of the label that a value came from.
func (l *Labels) source(name string) string {
	for _, r := range l.Sources {
		if r.Name == name {
			return strings.TrimPrefix(r.Source, "label ")
		}
	}
	return label.Prefix + name
}

// text returns the value of a label, named without prefix; "" when it is absent.
func (l *Labels) text(given label.Reading, name string) string {
	rule, found := given.Get(name)
	if found {
		l.Sources = append(l.Sources, Rule{Name: name, Value: rule.Value, Source: rule.Source()})
		switch isAboutTags := name == label.WatchDigest || strings.HasPrefix(name, "tag."); {
		case isAboutTags && rule.FromImage:
			l.ImageTagLabels = append(l.ImageTagLabels, candidate.Label{Name: name, Value: rule.Value})
		case isAboutTags:
			l.TagLabels = append(l.TagLabels, candidate.Label{Name: name, Value: rule.Value})
		}
	}
	return rule.Value
}

// flag returns the value of a label that is true or false; nil when it is absent or wrong.
func (l *Labels) flag(given label.Reading, name string) *bool {
	text := l.text(given, name)
	if text == "" {
		return nil
	}
	v, err := option.Option{Type: option.Bool}.Parse(text)
	if err != nil {
		l.Wrong = append(l.Wrong, fmt.Sprintf("label %s: %v", l.source(name), err))
		return nil
	}
	set := v.(bool)
	return &set
}

// spaced finds lists of triggers that begin or end with white space,
// which as in WUD is part of the id or of the threshold there.
func (l *Labels) spaced() []string {
	var found []string
	for _, r := range l.Sources {
		if (r.Name == label.TriggerInclude || r.Name == label.TriggerExclude) && strings.TrimSpace(r.Value) != r.Value {
			found = append(found,
				fmt.Sprintf("%s begins or ends with white space, which keeps its first or last item from matching: remove it", r.Source))
		}
	}
	return found
}

// defaultSource is the source of a rule that no label sets.
const defaultSource = "default"

// Defaults are the rules of an image that no label sets, for explanations.
func (l *Labels) Defaults(img sdk.Image) []Rule {
	var rules []Rule
	add := func(name, value string) {
		if !slices.ContainsFunc(l.Sources, func(r Rule) bool { return r.Name == name }) {
			rules = append(rules, Rule{Name: name, Value: value, Source: defaultSource})
		}
	}
	if img.Tag.Semver {
		add(label.TagInclude, "every tag of the family of "+img.Tag.Value)
		add(label.TagExclude, "none")
		add(label.TagTransform, "none")
		add(label.TagPrerelease, "false")
	}
	if !candidate.IsDigestOnly(img) {
		add(label.WatchDigest, strconv.FormatBool(img.Digest.Watch))
	}
	add(label.TriggerInclude, "all")
	add(label.TriggerExclude, "none")
	return rules
}

// Problems implements decision.Labels.
func (l *Labels) Problems() []string { return l.Wrong }

// Diff implements decision.Labels.
func (l *Labels) Diff(from, to string) string { return l.Selector.Diff(from, to) }

// OffersImplausible reports whether newer tags are offered that were built long before what runs.
func (l *Labels) OffersImplausible() bool { return l.implausible }

// WatchesDigest reports whether a new digest behind the running tag counts as an update.
func (l *Labels) WatchesDigest(img sdk.Image) bool {
	watched := !img.Tag.Semver || img.Tag.Floating && l.options.WatchFloating
	if l.digest != nil {
		watched = *l.digest
	}
	return candidate.ComparesDigest(img, watched)
}

// Apply writes what the labels say into the container.
func (l *Labels) Apply(c *sdk.Container) {
	c.IncludeTags, c.ExcludeTags, c.TransformTags = l.rules.Include, l.rules.Exclude, l.rules.Transform
	c.LinkTemplate = l.linkTemplate
	c.TriggerInclude, c.TriggerExclude = l.triggerInclude, l.triggerExclude
	c.DisplayName, c.DisplayIcon = visible.Line(l.displayName), l.displayIcon
	c.DisplayName = cmp.Or(c.DisplayName, c.Name)
	if c.DisplayIcon == "" {
		c.DisplayIcon = "mdi:docker"
	}
	for _, img := range []*sdk.Image{&c.Image, c.Watched()} {
		img.Tag.Semver = candidate.ComparesVersion(*img, l.Selector.IsVersion(img.Tag.Value))
		img.Digest.Watch = l.WatchesDigest(*img)
	}
}

// Lint reads the labels of a container as a check does. wrong are mistakes that change how
// the container is checked, odd are labels without effect; each names its label.
func Lint(c sdk.Container, labels label.Options) (wrong, odd []string) {
	l := Read(label.Of(c), Options{Labels: labels, WatchByDefault: true})
	return append(l.Fatal, l.Wrong...), append(l.Warnings, l.Notes...)
}

// icon reads the label of the icon.
func (l *Labels) icon(given label.Reading) (name string) {
	name, err := icon(l.text(given, label.DisplayIcon))
	if err != nil {
		l.Notes = append(l.Notes, fmt.Sprintf("label %s: %v", l.source(label.DisplayIcon), err))
	}
	return name
}
