package check

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/config/template"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// linkShapes are the variables of a link template: the container, and the version of a tag.
var linkShapes = sync.OnceValue(func() map[string]*template.Shape { return shapesOf[sdk.Container]() })

// imageLinkShapes are those of a link template that the image brings: a link is opened by
// readers of messages, so that it is not to carry the labels of the container elsewhere.
var imageLinkShapes = sync.OnceValue(func() map[string]*template.Shape { return shapesOf[imageOnly]() })

// imageOnly is the container of such a template.
type imageOnly struct {
	Image sdk.Image `json:"image"`
}

func shapesOf[Container any]() map[string]*template.Shape {
	shapes := map[string]*template.Shape{"container": template.ShapeOf(reflect.TypeFor[Container]())}
	for _, name := range []string{"original", "raw", "transformed", "major", "minor", "patch", "prerelease"} {
		shapes[name] = template.Text
	}
	return shapes
}

// Rule is one thing that a label asks for, and where it comes from.
type Rule struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// IsDefault reports whether no label sets the rule.
func (r Rule) IsDefault() bool { return r.Source == defaultSource }

// containerLabels is what a container's labels ask for, compiled.
type containerLabels struct {
	watch bool
	// digest is whether a new digest counts; nil leaves it to the kind of tag.
	digest *bool
	// floating is whether it counts behind a version that floats, when digest is nil.
	floating bool
	rules    tag.Rules
	selector *tag.Selector // without any rules when one of them is wrong
	link     *template.Template
	// implausible is whether newer tags are offered that were built long before what runs.
	implausible bool

	linkTemplate, displayName, displayIcon, triggerInclude, triggerExclude string
	// onDigest are the labels that say which triggers run for rebuilds.
	onDigest []label.Rule
	// isImageLink is whether the linkTemplate is one of the image, which knows only that.
	isImageLink bool

	sources []Rule
	// tagLabels are those about tags that the operator sets, and imageTagLabels those that the image has.
	tagLabels, imageTagLabels []candidate.Label
	// fatal keeps the container from being checked; wrong is only shown.
	fatal []string
	wrong []string
	// warnings are logged once: labels that nothing reads.
	warnings []string
	// notes are for explanations: what labels of other tools do not do here.
	notes []string
	// options are which labels count.
	options label.Options
	// base is the label that names the image that the container's is built on; see baseOf.
	base label.Rule
}

// compiler makes a selector of the rules of a container.
type compiler func(tag.Rules) (*tag.Selector, error)

// readLabels reads the labels of a container. A wrong label is reported in what it returns and
// never hides the container.
func readLabels(set label.Set, watchByDefault bool, labels label.Options) containerLabels {
	return compileLabels(set, watchByDefault, labels, tag.Compile)
}

// labelsOf is readLabels with the options of the checker, which remembers what it has compiled.
func (c *Checker) labelsOf(container sdk.Container, watchByDefault bool) containerLabels {
	set := label.Of(container)
	p := compileLabels(set, watchByDefault, c.opt.Labels, c.selectors.Compile)
	if c.opt.Triggers != nil && (p.triggerInclude+p.triggerExclude != "" || len(p.onDigest) > 0) {
		p.warnings = append(p.warnings, label.UnknownTriggers(label.Read(set, c.opt.Labels), c.opt.Triggers())...)
	}
	return p
}

func compileLabels(set label.Set, watchByDefault bool, labels label.Options, compile compiler) containerLabels {
	given := label.Read(set, labels)
	p := containerLabels{options: labels, notes: given.Notes}
	p.watch = watched(p.flag(given, label.Watch), watchByDefault, len(p.wrong) > 0)
	p.digest = p.flag(given, label.WatchDigest)
	p.rules = p.rulesOf(given)
	if all := p.flag(given, label.TagImplausible); all != nil {
		p.implausible = *all
	}
	p.linkTemplate = p.text(given, label.LinkTemplate)
	if rule, _ := given.Get(label.LinkTemplate); rule.FromImage && labels.Image != label.ImageAll {
		p.isImageLink = true
	}
	p.displayName = p.text(given, label.DisplayName)
	p.displayIcon = p.icon(given)
	p.triggerInclude = p.text(given, label.TriggerInclude)
	p.triggerExclude = p.text(given, label.TriggerExclude)
	for _, rule := range given.OnDigestRules() {
		p.flag(given, rule.Name)
		p.onDigest = append(p.onDigest, rule)
	}
	p.text(given, label.Base)
	if p.base, _ = given.Get(label.Base); labels.Image == label.ImageAll {
		p.base.FromImage = false
	}
	p.compile(compile)
	p.warnings = append(spacedLabels(&p), given.Unknown...)
	for _, ignored := range given.Ignored {
		p.warnings = append(p.warnings, ignored.String())
	}
	return p
}

// watched decides by the label of that name, and else by the watcher. Who wrote
// something that cannot be read meant the container to be noticed.
func watched(label *bool, byDefault, unreadable bool) bool {
	if label != nil {
		return *label
	}
	return byDefault || unreadable
}

// rulesOf reads the labels that decide which tags count.
func (p *containerLabels) rulesOf(given label.Reading) tag.Rules {
	prerelease := p.flag(given, label.TagPrerelease)
	return tag.Rules{
		Include:    p.text(given, label.TagInclude),
		Exclude:    p.text(given, label.TagExclude),
		Transform:  p.text(given, label.TagTransform),
		Prerelease: prerelease != nil && *prerelease,
	}
}

func (p *containerLabels) compile(compile compiler) {
	var err error
	if p.selector, err = compile(p.rules); err != nil {
		p.fatal = append(p.fatal, p.Blame(err).Error())
		p.selector, _ = compile(tag.Rules{}) // still reads what runs
	}
	if p.linkTemplate == "" {
		return
	}
	before := len(p.wrong)
	link, err := template.Parse(p.linkTemplate)
	if err != nil {
		p.wrong = append(p.wrong, fmt.Sprintf("label %s: %v", p.source(label.LinkTemplate), err))
		return
	}
	shapes := linkShapes()
	if p.isImageLink {
		shapes = imageLinkShapes()
	}
	for _, problem := range link.Lint(shapes) {
		p.wrong = append(p.wrong, fmt.Sprintf("label %s: %s", p.source(label.LinkTemplate), problem))
	}
	if len(p.wrong) == before { // else a link would lead nowhere
		p.link = link
	}
}

// Blame names the label behind an error of the tag rules.
func (p *containerLabels) Blame(err error) error {
	var rule *tag.RuleError
	if !errors.As(err, &rule) {
		return err
	}
	return fmt.Errorf("label %s: %w", p.source("tag."+rule.Rule), err)
}

// source returns the full name of the label that a value came from.
func (p *containerLabels) source(name string) string {
	for _, r := range p.sources {
		if r.Name == name {
			return strings.TrimPrefix(r.Source, "label ")
		}
	}
	return label.Prefix + name
}

// text returns the value of a label, named without prefix; "" when it is absent.
func (p *containerLabels) text(given label.Reading, name string) string {
	rule, found := given.Get(name)
	if found {
		p.sources = append(p.sources, Rule{Name: name, Value: rule.Value, Source: rule.Source()})
		switch isAboutTags := name == label.WatchDigest || strings.HasPrefix(name, "tag."); {
		case isAboutTags && rule.FromImage:
			p.imageTagLabels = append(p.imageTagLabels, candidate.Label{Name: name, Value: rule.Value})
		case isAboutTags:
			p.tagLabels = append(p.tagLabels, candidate.Label{Name: name, Value: rule.Value})
		}
	}
	return rule.Value
}

// flag returns the value of a label that is true or false; nil when it is absent or wrong.
func (p *containerLabels) flag(given label.Reading, name string) *bool {
	text := p.text(given, name)
	if text == "" {
		return nil
	}
	v, err := option.Option{Type: option.Bool}.Parse(text)
	if err != nil {
		p.wrong = append(p.wrong, fmt.Sprintf("label %s: %v", p.source(name), err))
		return nil
	}
	set := v.(bool)
	return &set
}

// spacedLabels finds lists of triggers that begin or end with white space,
// which as in WUD is part of the id or of the threshold there.
func spacedLabels(p *containerLabels) []string {
	var found []string
	for _, r := range p.sources {
		if (r.Name == label.TriggerInclude || r.Name == label.TriggerExclude) && strings.TrimSpace(r.Value) != r.Value {
			found = append(found,
				fmt.Sprintf("%s begins or ends with white space, which keeps its first or last item from matching: remove it", r.Source))
		}
	}
	return found
}

// defaultSource is the source of a rule that no label sets.
const defaultSource = "default"

// byDefault are the rules of an image that no label sets, for explanations.
func (p *containerLabels) byDefault(img sdk.Image) []Rule {
	var rules []Rule
	add := func(name, value string) {
		if !slices.ContainsFunc(p.sources, func(r Rule) bool { return r.Name == name }) {
			rules = append(rules, Rule{Name: name, Value: value, Source: defaultSource})
		}
	}
	if img.Tag.Semver {
		add(label.TagInclude, "every tag of the family of "+img.Tag.Value)
		add(label.TagExclude, "none")
		add(label.TagTransform, "none")
		add(label.TagPrerelease, "false")
	}
	if !candidate.IsUntagged(img) {
		add(label.WatchDigest, strconv.FormatBool(img.Digest.Watch))
	}
	add(label.TriggerInclude, "all")
	add(label.TriggerExclude, "none")
	return rules
}

// Problems implements decision.Labels.
func (p *containerLabels) Problems() []string { return p.wrong }

// Diff implements decision.Labels.
func (p *containerLabels) Diff(from, to string) string { return p.selector.Diff(from, to) }

// OffersImplausible reports whether newer tags are offered that were built long before what runs.
func (p *containerLabels) OffersImplausible() bool { return p.implausible }

// WatchesDigest reports whether a new digest behind the running tag counts as an
// update. What has no tag has none that could move.
func (p *containerLabels) WatchesDigest(img sdk.Image) bool {
	switch {
	case candidate.IsUntagged(img):
		return false
	case p.digest != nil:
		return *p.digest
	}
	return !img.Tag.Semver || img.Tag.Floating && p.floating
}

// apply writes what the labels say into the container.
func (p *containerLabels) apply(c *sdk.Container) {
	c.IncludeTags, c.ExcludeTags, c.TransformTags = p.rules.Include, p.rules.Exclude, p.rules.Transform
	c.LinkTemplate = p.linkTemplate
	c.TriggerInclude, c.TriggerExclude = p.triggerInclude, p.triggerExclude
	c.DisplayName, c.DisplayIcon = visible.Line(p.displayName), p.displayIcon
	if c.DisplayName == "" {
		c.DisplayName = c.Name
	}
	if c.DisplayIcon == "" {
		c.DisplayIcon = "mdi:docker"
	}
	for _, img := range []*sdk.Image{&c.Image, c.Watched()} {
		img.Tag.Semver = !candidate.IsUntagged(*img) && p.selector.IsVersion(img.Tag.Value)
		img.Digest.Watch = p.WatchesDigest(*img)
	}
}

// Lint reads the labels of a container as a check does. wrong are mistakes that change how
// the container is checked, odd are labels without effect; each names its label.
func Lint(c sdk.Container, labels label.Options) (wrong, odd []string) {
	p := readLabels(label.Of(c), true, labels)
	return append(p.fatal, p.wrong...), append(p.warnings, p.notes...)
}

// icon reads the label of the icon.
func (p *containerLabels) icon(given label.Reading) (name string) {
	name, err := icon(p.text(given, label.DisplayIcon))
	if err != nil {
		p.notes = append(p.notes, fmt.Sprintf("label %s: %v", p.source(label.DisplayIcon), err))
	}
	return name
}
