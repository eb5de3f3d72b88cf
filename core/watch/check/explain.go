package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// Explanation says why a container has the result it has: the rules that apply
// and where they come from, what became of every tag, and what follows.
type Explanation struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	Image    string `json:"image"`
	Registry string `json:"registry,omitempty"`
	// Summary is the decision in sentences for users.
	Summary []phrase.Text `json:"summary"`
	// Rules are those of labels, then those that apply by default.
	Rules []labels.Rule `json:"rules"`
	// Warnings are labels without effect and other oddities.
	Warnings []phrase.Text `json:"warnings,omitempty"`
	Tags     []Verdict     `json:"tags"`
	// Omitted is how many tags have no verdict because there are too many.
	Omitted         int            `json:"omitted,omitempty"`
	Result          *sdk.Result    `json:"result,omitempty"`
	UpdateAvailable bool           `json:"updateAvailable"`
	UpdateKind      sdk.UpdateKind `json:"updateKind,omitzero"`
	// Decision is what becomes of the update.
	Decision *sdk.Decision `json:"decision,omitempty"`
	Error    string        `json:"error,omitempty"`
}

// Verdict says what became of one tag.
type Verdict struct {
	Tag    string      `json:"tag"`
	Kept   bool        `json:"kept"`
	Reason string      `json:"reason"`
	Detail phrase.Text `json:"detail"`
}

// Explain makes the decision of a check for one stored container again,
// stores nothing, and says how it came about.
func (c *Checker) Explain(ctx context.Context, container sdk.Container) Explanation {
	c.mu.Lock()
	problem, broken := c.state(container.Watcher).broken[container.ID]
	c.mu.Unlock()
	container.Error = nil // of the last check, which is made again
	if broken {
		container.Error = &sdk.ContainerError{Message: problem}
	}
	s := c.target(container, c.labelsOf(container, true))
	_ = c.decideBy(ctx, s) // without what is known everything is seen for the first time
	return c.explain(ctx, s)
}

// ExplainImage does the same for an image that no engine runs, such as "nginx:1.25".
func (c *Checker) ExplainImage(ctx context.Context, text string) Explanation {
	s, err := c.imageTarget(text)
	if err != nil {
		return Explanation{
			Image: text, Rules: []labels.Rule{}, Tags: []Verdict{}, Error: err.Error(),
			Summary: phrase.Texts(phrase.New("The check failed: %s.", phrase.Quote(err.Error()))),
		}
	}
	e := c.explain(ctx, s)
	if err := incomparable(*s.Image()); err != nil && e.Error == "" {
		e.Error = err.Error()
	}
	return e
}

// Images checks images that no engine runs, in the order given. A digest can
// be compared only with a running image, so tags that are no versions end with an error that says so.
func (c *Checker) Images(ctx context.Context, references []string) []sdk.Container {
	var targets []*target
	var questions []*registryquery.Question
	for _, text := range references {
		s, err := c.imageTarget(text)
		if err != nil {
			s = &target{Question: registryquery.Question{Container: sdk.Container{Name: text}}}
			s.Answer.Err = err
		}
		targets, questions = append(targets, s), append(questions, &s.Question)
	}
	c.opt.Queries.Batch(questions).Ask(ctx, func([]*registryquery.Question) {})
	now := sdk.TimeOf(c.opt.Now()).Time
	var checked []sdk.Container
	for _, s := range targets {
		s.Answer.Err = cmp.Or(s.Answer.Err, incomparable(*s.Image()))
		checked = append(checked, c.opt.Decisions.Judge(s.answered(), s.Known, now))
	}
	return checked
}

// incomparable says why nothing can be found out of an image that no engine runs.
func incomparable(img sdk.Image) error {
	if img.Tag.Semver || candidate.IsDigestOnly(img) {
		return nil
	}
	return fmt.Errorf("tag %q is no version, and without an engine there is no running image to compare its digest with", img.Tag.Value)
}

// Describe returns a listed container with what its labels and the name of its
// image say of it, such as its display name and its registry.
func (c *Checker) Describe(listed sdk.Container) sdk.Container {
	return c.target(listed, c.labelsOf(listed, true)).Container
}

func (c *Checker) imageTarget(text string) (*target, error) {
	ref, err := reference.Parse(text)
	if err != nil {
		return nil, err
	}
	img := sdk.Image{Registry: sdk.Registry{Host: ref.Domain}, Name: ref.Path, Tag: sdk.Tag{Value: ref.Tag}, OS: "linux"}
	img.Digest.Pinned = ref.Digest != ""
	if ref.Tag == "" {
		img.Tag.Value = ref.Digest
	}
	opt := labels.Options{WatchByDefault: true, WatchFloating: c.opt.WatchFloating}
	s := c.target(sdk.Container{Name: text, Image: img}, labels.Read(label.Set{}, opt))
	s.Rules.Preset = c.opt.Decisions.Rules(s.Container).Preset
	return s, nil
}

func (c *Checker) explain(ctx context.Context, s *target) Explanation {
	s.Explained = true
	c.opt.Queries.Batch([]*registryquery.Question{&s.Question}).Ask(ctx, func([]*registryquery.Question) {})
	// The decision is that of a check, so that the explanation cannot differ from it.
	after := c.opt.Decisions.Judge(s.answered(), s.Known, c.opt.Now())
	// Of what is postponed only the check keeps what was known before; this is about now.
	if after.Check.Postponed() {
		after.Error = &sdk.ContainerError{Message: s.Answer.Err.Error()}
	}
	e := Explanation{
		ID: after.ID, Name: after.Name, Image: imageName(after.Image), Registry: s.Match.ID,
		Rules:  slices.Concat(s.labels.Sources, rulesOfUpdates(s.Rules), s.labels.Defaults(*after.Watched())),
		Tags:   []Verdict{},
		Result: after.Result, UpdateAvailable: after.UpdateAvailable, UpdateKind: after.UpdateKind,
		Decision: after.Decision, Error: decision.Problem(after),
		Summary: phrase.Texts(summary(after, s)...),
	}
	if after.Watched().Built {
		e.Registry = "" // which is not asked
	}
	for _, text := range slices.Concat(s.labels.Warnings, s.labels.Wrong, s.labels.Notes) {
		e.Warnings = append(e.Warnings, phrase.Text{Phrase: phrase.Stored("labels", text)})
	}
	for _, ignored := range s.Rules.Ignored {
		e.Warnings = append(e.Warnings, phrase.Text{Phrase: phrase.Stored("labels", ignored.Text)})
	}
	if why := s.Answer.Why; why != nil {
		for _, v := range why.Verdicts {
			e.Tags = append(e.Tags, Verdict{v.Tag, v.Kept, string(v.Reason), phrase.Text{Phrase: v.Detail}})
		}
		e.Omitted = why.Omitted
		e.Warnings = append(e.Warnings, phrase.Texts(why.Warnings...)...)
	}
	return e
}

// imageName writes an image in its usual short form.
func imageName(img sdk.Image) string {
	separator := ":"
	if candidate.IsDigestOnly(img) {
		separator = "@"
	}
	return img.Registry.Host + "/" + img.Name + separator + img.Tag.Value
}

// allTags is how many tags a version is compared with.
func allTags(n int) phrase.Phrase {
	if n == 1 {
		return phrase.New("the only tag")
	}
	return phrase.New("the %d tags", n)
}

// summary renders the decision in a few sentences.
func summary(c sdk.Container, s *target) []phrase.Phrase {
	if c.Check.Postponed() {
		return []phrase.Phrase{phrase.New("The check is postponed: %s.", phrase.Quote(c.Error.Message))}
	}
	if c.Check.State == sdk.CheckFailed {
		return []phrase.Phrase{phrase.New("The check failed: %s.", phrase.Quote(c.Error.Message))}
	}
	var say []phrase.Phrase
	add := func(sentence phrase.Phrase) { say = append(say, sentence) }
	img := *c.Watched()
	if c.Base != nil {
		add(phrase.New("It is built on %s, which is watched instead.", imageName(img)))
	}
	switch {
	case img.Built:
		add(phrase.New("The image was built on the machine of its engine, so no registry is asked about it."))
	case candidate.IsDigestOnly(img):
		add(phrase.New("The image is pinned to a digest without a tag, so nothing can be newer."))
	case img.Tag.Semver:
		add(phrase.New("Dogwatch compares %s with %s of %s.", img.Tag.Value, allTags(s.Answer.Tags), img.Name))
		if img.Tag.Floating {
			add(phrase.New("It floats: the registry has more specific tags of its family, and the image behind %s changes with them.", img.Tag.Value))
		}
		add(phrase.New("Newer versions that the rules allow: %d.", s.Answer.Selection.Kept))
		say = append(say, skippedSentences(c)...)
		if base := s.Answer.Selection.LeftBase; base != "" {
			add(phrase.New("Nothing newer is published on its base %s, so another base is offered.", base))
		}
	default:
		add(phrase.New("%s is not a version, so no other tag can be newer.", img.Tag.Value))
	}
	if img.Digest.Pinned && !candidate.IsDigestOnly(img) {
		add(phrase.New("The container is pinned to a digest: it stays on this image of %s until its reference is changed.",
			img.Tag.Value))
	}
	switch d := s.Answer.Digest; {
	case d != nil && d.Same:
		add(phrase.New("The digest behind %s is that of the running image.", img.Tag.Value))
	case d != nil:
		add(phrase.New("The digest behind %s is not that of the running image.", img.Tag.Value))
	case img.Digest.Watch && img.ID == "":
		add(phrase.New("Its digest can only be compared with that of a running image."))
	case !img.Digest.Watch && (!img.Tag.Semver || img.Tag.Floating) && !candidate.IsDigestOnly(img):
		add(phrase.New("Its digest is not watched: set the label %s%s=true to watch it.", label.Prefix, label.WatchDigest))
	}
	switch kind := c.UpdateKind.Kind; {
	case c.Base != nil && kind != sdk.KindUnknown:
		add(phrase.New("So base image %s → %s: rebuild %s.", tally.Base(&c), c.Result.Tag, strings.TrimPrefix(c.Name, "/")))
	case kind == sdk.KindTag:
		add(phrase.New("So %s can be updated to %s (%s).", cmp.Or(c.DisplayName, strings.TrimPrefix(c.Name, "/")), c.Result.Tag, stepOf(c.UpdateKind.SemverDiff)))
		say = append(say, otherLevels(c)...)
	case kind == sdk.KindDigest:
		add(phrase.New("So there is a newer image of the same tag."))
		if running, offered := tally.Versions(&c); running != "" {
			add(phrase.New("By their labels, or tags with the same digest, %s runs and %s is offered.", running, offered))
		}
	case img.Built && c.Check.State == sdk.CheckUnknown:
		add(phrase.New("What it is built on is watched instead if the label %s%s names that.", label.Prefix, label.Base))
	case c.Check.State == sdk.CheckUnknown:
		add(phrase.New("Nothing could be compared: %s.", preview.Uncompared(c.Check.Reason)))
	default:
		add(phrase.New("So nothing newer is known."))
	}
	say = append(say, presetSentences(c, s)...)
	say = append(say, decisionSentences(c.Decision)...)
	if c.Error != nil {
		add(phrase.New("What a label asks for was left out: %s.", phrase.Quote(c.Error.Message)))
	}
	return say
}
