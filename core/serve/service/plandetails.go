package service

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// PlanDetails is what a user should know before an update beside its plan.
type PlanDetails struct {
	// Kind is how much it changes; see tally.Kind. "" for a rollback.
	Kind string
	// Major is whether it is a major one by the rules of the container; see policy.Rules.IsMajor.
	Major bool
	// Levels are the versions that there are to choose from, the smallest step first; nil where there is one only.
	Levels []Level
	// Warnings are the releases on the way whose notes warn of something, the newest first.
	Warnings []ReleaseWarning
	// Version is what a choice about the update names, and Window the next one in which it is carried out once it is
	// approved; zero where approving it would not make it wait for one.
	Version string
	Window  preview.Opening
}

// Level is a version that a container can be updated to.
type Level struct {
	Tag  string
	Kind string // as of PlanDetails
	// Chosen is whether the plan is about it.
	Chosen bool
	// Skipped says who skipped it: a user or a rule; "" for nobody.
	Skipped string
}

// ReleaseWarning is what the notes of a release warn of, and what they demand, as Markdown.
type ReleaseWarning struct {
	Version, URL     string
	Breaking, Action []string
}

const (
	// notesPatience is how long a plan waits for release notes, without which it is as good.
	notesPatience = 5 * time.Second
	// maxReleaseWarnings is how many releases are named with their warnings.
	maxReleaseWarnings = 10
)

// PlanDetails returns what a user should know before a change beside its plan. Release notes are read where they can be
// within five seconds. The errors are those of Plan.
func (s *Service) PlanDetails(ctx context.Context, actor auth.Actor, change Change) (PlanDetails, error) {
	if err := allow(actor, auth.Read, "see plans"); err != nil {
		return PlanDetails{}, err
	}
	rec, err := s.Container(change.Container)
	if err != nil || change.Kind != operation.Update || !rec.Container.UpdateAvailable {
		return PlanDetails{}, err
	}
	c, err := s.changed(ctx, rec.Container, change.Version)
	if err != nil {
		return PlanDetails{}, err
	}
	rules := s.rulesOf(c)
	o := PlanDetails{
		Kind: tally.Kind(&c), Major: rules.IsMajorUpdate(&c), Levels: s.levels(&c, rules), Version: update.KeyOf(&c).To(),
		Window: nextWindow(rules, s.opt.Now()),
	}
	if s.HasNotes() {
		ctx, cancel := context.WithTimeout(ctx, notesPatience)
		defer cancel()
		o.Warnings = releaseWarnings(s.Notes(ctx, c))
	}
	return o, nil
}

// nextWindow returns the next time in which rules let updates pass; zero where one does now, or none ever will.
func nextWindow(rules policy.Rules, now time.Time) preview.Opening {
	if next := window.Next(rules.Window.Value, rules.Freeze.Value, now, 1); len(next) > 0 && next[0].Start.After(now) {
		return preview.Opening{From: sdk.TimeOf(next[0].Start), Until: sdk.TimeOf(next[0].End)}
	}
	return preview.Opening{}
}

// levels returns the versions to choose from.
func (s *Service) levels(c *sdk.Container, rules policy.Rules) []Level {
	var all []Level
	chosen := update.KeyOf(c).To()
	add := func(tag, kind string) {
		if l := (Level{Tag: tag, Kind: kind, Chosen: tag == chosen}); l.Tag != "" {
			l.Skipped = s.skipped(c, tag, rules)
			all = append(all, l)
		}
	}
	if tally.Rebuilt(c) {
		add(chosen, tally.Kind(c))
	}
	for _, level := range tally.Levels(c) {
		add(level.Tag, level.Step)
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// SkippedBy says who skipped a version of a container: a user or a rule; "" for nobody.
func (s *Service) SkippedBy(c *sdk.Container, version string) string {
	return s.skipped(c, version, s.rulesOf(*c))
}

// skipped says who skipped a version of a container; "" for nobody.
func (s *Service) skipped(c *sdk.Container, version string, rules policy.Rules) string {
	for _, chosen := range s.ChoicesOf(event.Subject(*c)) {
		if chosen.Kind == choice.Skip && chosen.Version() == version {
			if chosen.Actor == "" || chosen.Actor == auth.AnonymousName {
				return "a user"
			}
			return chosen.Actor
		}
	}
	if skip := rules.Skip; skip.Value != nil && skip.Value.Match(version) {
		return skip.Source
	}
	return ""
}

// KnownWarnings returns the releases on the way to a version of a container whose notes warn of something, the newest
// first, as far as they were read before: nobody is asked. "" is the version that is offered.
func (s *Service) KnownWarnings(ctx context.Context, c sdk.Container, version string) []ReleaseWarning {
	if version != "" {
		chosen, err := toVersion(c, version)
		if err != nil {
			return nil
		}
		c = chosen
	}
	return releaseWarnings(s.opt.Notes.Known(ctx, &c))
}

func releaseWarnings(read notes.Notes) (all []ReleaseWarning) {
	for _, n := range read.Notes {
		if len(n.Breaking)+len(n.Action) > 0 && len(all) < maxReleaseWarnings {
			all = append(all, ReleaseWarning{Version: n.Version, URL: n.URL, Breaking: n.Breaking, Action: n.Action})
		}
	}
	return all
}

// changed returns a container as it is when the version that a change asks for is its update; "" for that of ByHand.
// The error is an *sdk.InvalidError.
func (s *Service) changed(ctx context.Context, c sdk.Container, version string) (sdk.Container, error) {
	if version == "" {
		return s.ByHand(ctx, c), nil
	}
	return toVersion(c, version)
}

// ByHand returns a container as it is when what a user updates it to is its update: a version is named for anything
// else. Where that of its result waits for an approval since it is a major update, it is the newest smaller one that
// nobody skipped, and that did not fail or was rolled back before, if any.
func (s *Service) ByHand(ctx context.Context, c sdk.Container) sdk.Container {
	rules := s.rulesOf(c)
	if c.Result == nil || c.Result.Levels == nil || s.opt.Updater == nil || !tally.Approval(&c) ||
		!rules.IsMajorUpdate(&c) {
		return c
	}
	for _, l := range slices.Backward(tally.Levels(&c)) {
		smaller, err := toVersion(c, l.Tag)
		if err != nil {
			continue
		}
		if rules.IsMajorUpdate(&smaller) || s.skipped(&c, l.Tag, rules) != "" {
			continue
		}
		if _, tried, err := s.opt.Updater.Tried(ctx, update.KeyOf(&smaller)); !tried && err == nil {
			return smaller
		}
	}
	return c
}

func (s *Service) rulesOf(c sdk.Container) policy.Rules {
	if s.opt.Rules == nil {
		return policy.Rules{}
	}
	return s.opt.Rules(c)
}

// toVersion returns a container as it is when one of the versions that its update is shown with is its update. The
// error is an *sdk.InvalidError.
func toVersion(c sdk.Container, version string) (sdk.Container, error) {
	key, err := keyOf(&c, version)
	if err != nil || key == update.KeyOf(&c) {
		return c, err
	}
	result := *c.Result
	for _, l := range tally.Levels(&c) {
		if l.Tag == version {
			result.Tag, result.Created, result.Link = version, l.Created, l.Link
			c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: key.FromTag, RemoteValue: version,
				SemverDiff: l.Step}
		}
	}
	result.Digest, result.Version = "", ""
	c.Result = &result
	return c, nil
}
