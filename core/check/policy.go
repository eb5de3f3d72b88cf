package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/tag"
	"github.com/dogwatch/dogwatch/core/template"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// The prefixes of labels. Every label exists under both; the first wins.
const (
	labelPrefix = "dogwatch."
	wudPrefix   = "wud."
)

// The labels, without prefix.
const (
	labelWatch          = "watch"
	labelWatchDigest    = "watch.digest"
	labelInclude        = "tag.include"
	labelExclude        = "tag.exclude"
	labelTransform      = "tag.transform"
	labelPrerelease     = "tag.prerelease"
	labelLinkTemplate   = "link.template"
	labelDisplayName    = "display.name"
	labelDisplayIcon    = "display.icon"
	labelTriggerInclude = "trigger.include"
	labelTriggerExclude = "trigger.exclude"
	labelComposeFile    = "compose.file" // read by triggers that edit compose files
)

var labels = []string{
	labelWatch, labelWatchDigest, labelInclude, labelExclude, labelTransform, labelPrerelease, labelLinkTemplate,
	labelDisplayName, labelDisplayIcon, labelTriggerInclude, labelTriggerExclude, labelComposeFile,
}

// linkNames are the variables of a link template.
var linkNames = []string{"container", "original", "raw", "transformed", "major", "minor", "patch", "prerelease"}

// Rule is one thing a policy says and where it comes from.
type Rule struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// policy is what a container's labels ask for, compiled.
type policy struct {
	watch bool
	// digest is whether a new digest counts; nil leaves it to the kind of tag.
	digest   *bool
	rules    tag.Rules
	selector *tag.Selector // without any rules when one of them is wrong
	link     *template.Template

	linkTemplate, displayName, displayIcon, triggerInclude, triggerExclude string

	sources []Rule
	// fatal keeps the container from being checked; wrong is only told.
	fatal []string
	wrong []string
	// warnings are told once: labels that nobody reads.
	warnings []string
}

// policyOf reads the labels of a container. A wrong label is reported in the
// policy and never hides the container.
func policyOf(labelled map[string]string, watchByDefault bool) policy {
	var p policy
	p.watch = watched(p.flag(labelled, labelWatch), watchByDefault, len(p.wrong) > 0)
	p.digest = p.flag(labelled, labelWatchDigest)
	p.rules = p.rulesOf(labelled)
	p.linkTemplate = p.text(labelled, labelLinkTemplate)
	p.displayName = p.text(labelled, labelDisplayName)
	p.displayIcon = p.text(labelled, labelDisplayIcon)
	p.triggerInclude = p.text(labelled, labelTriggerInclude)
	p.triggerExclude = p.text(labelled, labelTriggerExclude)
	p.compile()
	p.warnings = append(spacedLabels(&p), unknownLabels(labelled)...)
	return p
}

// watched decides by the label, and else by the watcher. Whoever wrote
// something that cannot be read meant the container to be noticed.
func watched(label *bool, byDefault, unreadable bool) bool {
	if label != nil {
		return *label
	}
	return byDefault || unreadable
}

// rulesOf reads the labels that decide which tags count.
func (p *policy) rulesOf(labelled map[string]string) tag.Rules {
	prerelease := p.flag(labelled, labelPrerelease)
	return tag.Rules{
		Include:    p.text(labelled, labelInclude),
		Exclude:    p.text(labelled, labelExclude),
		Transform:  p.text(labelled, labelTransform),
		Prerelease: prerelease != nil && *prerelease,
	}
}

func (p *policy) compile() {
	var err error
	if p.selector, err = tag.Compile(p.rules); err != nil {
		p.fatal = append(p.fatal, p.blame(err))
		p.selector, _ = tag.Compile(tag.Rules{}) // still reads what runs
	}
	if p.linkTemplate == "" {
		return
	}
	link, err := template.Parse(p.linkTemplate)
	if err != nil {
		p.wrong = append(p.wrong, fmt.Sprintf("label %s: %v", p.source(labelLinkTemplate), err))
		return
	}
	p.link = link
	for _, name := range link.Names() {
		if !slices.Contains(linkNames, name) {
			p.wrong = append(p.wrong, fmt.Sprintf("label %s: unknown name %q (known: %s)", p.source(labelLinkTemplate), name, strings.Join(linkNames, ", ")))
			p.link = nil
		}
	}
}

// blame names the label behind an error of the tag rules.
func (p *policy) blame(err error) string {
	var rule *tag.RuleError
	if !errors.As(err, &rule) {
		return err.Error()
	}
	return fmt.Sprintf("label %s: %v", p.source("tag."+rule.Rule), err)
}

// source returns the full name of the label that a value came from.
func (p *policy) source(label string) string {
	for _, r := range p.sources {
		if r.Name == label {
			return strings.TrimPrefix(r.Source, "label ")
		}
	}
	return labelPrefix + label
}

// text returns the value of a label; an empty value counts as absent.
func (p *policy) text(labelled map[string]string, label string) string {
	for _, prefix := range []string{labelPrefix, wudPrefix} {
		if v := labelled[prefix+label]; strings.TrimSpace(v) != "" {
			p.sources = append(p.sources, Rule{Name: label, Value: v, Source: "label " + prefix + label})
			return v
		}
	}
	return ""
}

// flag returns the value of a label that is true or false; nil when it is absent or wrong.
func (p *policy) flag(labelled map[string]string, label string) *bool {
	text := p.text(labelled, label)
	if text == "" {
		return nil
	}
	v, err := option.Option{Type: option.Bool}.Parse(text)
	if err != nil {
		p.wrong = append(p.wrong, fmt.Sprintf("label %s: %v", p.source(label), err))
		return nil
	}
	is := v.(bool)
	return &is
}

// spacedLabels finds lists of triggers that begin or end with white space,
// which as in WUD is part of the id or of the threshold there.
func spacedLabels(p *policy) []string {
	var found []string
	for _, r := range p.sources {
		if (r.Name == labelTriggerInclude || r.Name == labelTriggerExclude) && strings.TrimSpace(r.Value) != r.Value {
			found = append(found, fmt.Sprintf("%s begins or ends with white space, which keeps its first or last item from matching: remove it", r.Source))
		}
	}
	return found
}

// unknownLabels finds labels of ours that nobody reads, such as misspelt ones.
func unknownLabels(labelled map[string]string) []string {
	var found []string
	for name := range labelled {
		for _, prefix := range []string{labelPrefix, wudPrefix} {
			rest, ours := strings.CutPrefix(name, prefix)
			if !ours || slices.Contains(labels, rest) || prefix == wudPrefix && strings.HasPrefix(rest, "trigger.") {
				continue
			}
			message := fmt.Sprintf("unknown label %s, ignored", name)
			if near := option.Suggest(rest, labels); near != "" {
				message += fmt.Sprintf(": did you mean %s?", prefix+near)
			}
			found = append(found, message)
		}
	}
	slices.Sort(found)
	return found
}

// watchesDigest is whether a new digest behind the running tag counts as an update.
func (p *policy) watchesDigest(semver bool) bool {
	if p.digest != nil {
		return *p.digest
	}
	return !semver
}

// apply writes what the labels say into the container.
func (p *policy) apply(c *sdk.Container) {
	c.IncludeTags, c.ExcludeTags, c.TransformTags = p.rules.Include, p.rules.Exclude, p.rules.Transform
	c.LinkTemplate = p.linkTemplate
	c.TriggerInclude, c.TriggerExclude = p.triggerInclude, p.triggerExclude
	c.DisplayName, c.DisplayIcon = p.displayName, p.displayIcon
	if c.DisplayName == "" {
		c.DisplayName = c.Name
	}
	if c.DisplayIcon == "" {
		c.DisplayIcon = "mdi:docker"
	}
	// What is pinned by digest alone has no tag that could move.
	c.Image.Tag.Semver = !pinned(c.Image) && p.selector.IsVersion(c.Image.Tag.Value)
	c.Image.Digest.Watch = !pinned(c.Image) && p.watchesDigest(c.Image.Tag.Semver)
}
