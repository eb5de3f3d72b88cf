package service

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// skippedBy are choices against versions, by who made them.
type skippedBy map[string]string

func (s skippedBy) Of(subject string) (all []choice.Choice) {
	for version, actor := range s {
		all = append(all, choice.Choice{Subject: subject, Kind: choice.Skip, Actor: actor,
			Update: update.Key{Subject: subject, Kind: sdk.KindTag, ToTag: version}})
	}
	return all
}

func (skippedBy) All() []choice.Choice { return nil }
func (skippedBy) Choose(context.Context, string, string, update.Key, choice.Kind, time.Time) error {
	return nil
}
func (skippedBy) Undo(context.Context, string, string) (int, error) { return 0, nil }

// notesOf are the notes of the versions that a container is offered.
type notesOf struct{ asked *[]string }

func (notesOf) Enabled() bool { return true }

func (n notesOf) Of(ctx context.Context, c *sdk.Container) notes.Notes {
	if _, bounded := ctx.Deadline(); bounded {
		*n.asked = append(*n.asked, c.Result.Tag)
	}
	return notes.Notes{Notes: []notes.Note{
		{Version: c.Result.Tag, URL: "https://r/1", Breaking: []string{"**x** is gone"}}, {Version: "16.5"}}}
}

func (n notesOf) Known(ctx context.Context, c *sdk.Container) notes.Notes { return n.Of(ctx, c) }

// database is a container with an update to 17.2 and, below it, 16.6.
func database() sdk.Container {
	c := sdk.Container{ID: "c1", Name: "db", Watcher: "local", UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "16.4", RemoteValue: "17.2",
			SemverDiff: sdk.DiffMajor}}
	c.Image.Tag.Value = "16.4"
	c.Result = &sdk.Result{Tag: "17.2", Link: "https://r/17.2", Levels: &sdk.Levels{
		Minor: &sdk.Release{Tag: "16.6", Link: "https://r/16.6"},
		Major: &sdk.Release{Tag: "17.2", Link: "https://r/17.2"}}}
	return c
}

func withDatabase(t *testing.T, f *fakeUpdater, change func(*Options)) *Service {
	t.Helper()
	s, stored := newService(t, func(o *Options) {
		o.Updater, o.Operations = f, f
		change(o)
	})
	if err := stored.Commit(t.Context(), event.Change{Put: []sdk.Container{database()}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPlanDetailsOfferTheLevels: beside a plan there are its kind, the versions to choose from with who skipped them,
// and what the release notes of the chosen one warn of.
func TestPlanDetailsOfferTheLevels(t *testing.T) {
	var asked []string
	skip, _ := policy.ParsePattern("^17")
	s := withDatabase(t, &fakeUpdater{}, func(o *Options) {
		o.Notes, o.Choices = notesOf{&asked}, skippedBy{"17.2": "ana"}
		o.Rules = func(sdk.Container) policy.Rules { return policy.Rules{} }
	})
	for version, want := range map[string]PlanDetails{
		"": {Kind: "major", Major: true, Levels: []Level{{"16.6", "minor", false, ""}, {"17.2", "major", true, "ana"}},
			Warnings: []ReleaseWarning{{"17.2", "https://r/1", []string{"**x** is gone"}, nil}}},
		"16.6": {Kind: "minor", Levels: []Level{{"16.6", "minor", true, ""}, {"17.2", "major", false, "ana"}},
			Warnings: []ReleaseWarning{{"16.6", "https://r/1", []string{"**x** is gone"}, nil}}},
	} {
		o, err := s.PlanDetails(t.Context(), reader, Change{Container: "c1", Kind: operation.Update, Version: version})
		if err != nil || o.Kind != want.Kind || o.Major != want.Major || !slices.Equal(o.Levels, want.Levels) ||
			len(o.Warnings) != 1 || o.Warnings[0].Version != want.Warnings[0].Version {
			t.Errorf("%q: %+v, %v, want %+v", version, o, err, want)
		}
	}
	for version, want := range map[string]string{"": "17.2", "16.6": "16.6", "15": ""} {
		got := ""
		for _, w := range s.KnownWarnings(t.Context(), database(), version) {
			got += w.Version
		}
		if got != want {
			t.Errorf("%q: warnings of %q are known, want %q", version, got, want)
		}
	}
	if len(asked) != 2 {
		t.Errorf("notes were read %v times with a deadline", asked)
	}
	s.opt.Choices, s.opt.Rules = nil, func(sdk.Container) policy.Rules {
		return policy.Rules{Skip: policy.Setting[policy.Pattern]{Value: skip, Source: "policy.skip"}}
	}
	o, err := s.PlanDetails(t.Context(), reader, Change{Container: "c1", Kind: operation.Update})
	if err != nil || o.Levels[1].Skipped != "policy.skip" {
		t.Errorf("skipped by a rule: %+v, %v", o, err)
	}
	if o, err := s.PlanDetails(t.Context(), reader, Change{Container: "c1", Kind: operation.Rollback}); err != nil ||
		o.Kind != "" {
		t.Errorf("of a rollback: %+v, %v", o, err)
	}
	_, err = s.PlanDetails(t.Context(), unknown, Change{Container: "c1", Kind: operation.Update})
	if !errors.Is(err, ErrForbidden) {
		t.Errorf("without a scope: %v", err)
	}
}

// TestPlanDetailsNameTheNextWindow, and what approving it names; none where the update would not wait for one.
func TestPlanDetailsNameTheNextWindow(t *testing.T) {
	var window policy.Rules
	s := withDatabase(t, &fakeUpdater{}, func(o *Options) {
		o.Rules = func(sdk.Container) policy.Rules { return window }
	})
	now := s.opt.Now().UTC()
	hours := func(from, until int) string {
		return now.Add(time.Duration(from)*time.Hour).Format("15:04") + "-" + now.Add(time.Duration(until)*time.Hour).Format("15:04")
	}
	for name, test := range map[string]struct {
		rule, value, version string
		want                 time.Time
	}{
		"no window":    {version: "17.2"},
		"later":        {policy.RuleWindow, hours(2, 4), "17.2", now.Add(2 * time.Hour).Truncate(time.Minute)},
		"of a version": {policy.RuleWindow, hours(2, 4), "16.6", now.Add(2 * time.Hour).Truncate(time.Minute)},
		"open":         {policy.RuleWindow, hours(-2, 4), "17.2", time.Time{}},
	} {
		window = policy.Rules{}
		if test.rule != "" {
			if err := window.Set(test.rule, test.value, "policy."+test.rule, time.UTC); err != nil {
				t.Fatal(err)
			}
		}
		o, err := s.PlanDetails(t.Context(), reader, Change{Container: "c1", Kind: operation.Update, Version: test.version})
		if err != nil || o.Version != test.version || !o.Window.From.Equal(test.want) {
			t.Errorf("%s: %s in %v, %v, want %v", name, o.Version, o.Window, err, test.want)
		}
	}
}

// TestUpdateToALevel: the chosen version is the one that is updated to, and only one that is shown can be.
func TestUpdateToALevel(t *testing.T) {
	f := &fakeUpdater{}
	s := withDatabase(t, f, func(*Options) {})
	if _, err := s.StartOperation(t.Context(), writer, Change{Container: "c1", Kind: operation.Update,
		Version: "16.6"}); err != nil {
		t.Fatal(err)
	}
	c := f.started[0].Container
	want := update.Key{Subject: "local/db", Kind: sdk.KindTag, FromTag: "16.4", ToTag: "16.6"}
	if update.KeyOf(&c) != want || c.UpdateKind.SemverDiff != sdk.DiffMinor || c.Result.Link != "https://r/16.6" {
		t.Errorf("%+v to %+v", c.UpdateKind, c.Result)
	}
	var invalid *sdk.InvalidError
	if _, err := s.Plan(t.Context(), reader, Change{Container: "c1", Kind: operation.Update,
		Version: "15.0"}); !errors.As(err, &invalid) {
		t.Errorf("another version: %v", err)
	}
	if rec, _ := s.Container("c1"); rec.Container.Result.Tag != "17.2" {
		t.Errorf("the stored container was changed: %+v", rec.Container.Result)
	}
}

// TestUpdateByHandLeavesWhatWaitsForApproval: without a version, a user gets the largest smaller step of a major update
// that waits for an approval, unless somebody skipped it.
func TestUpdateByHandLeavesWhatWaitsForApproval(t *testing.T) {
	waits := &sdk.Decision{State: sdk.StateOffered, Reasons: []sdk.Reason{{Code: sdk.ReasonApproval}}}
	for about, c := range map[string]struct {
		decision  *sdk.Decision
		patch     string
		skipped   skippedBy
		failed    string // before
		version   string
		line      int // how many numbers of a version name a release line
		leadsTo   string
		leadsKind string
	}{
		"waits":               {waits, "16.4.1", nil, "", "", 0, "16.6", sdk.DiffMinor},
		"does not wait":       {nil, "", nil, "", "", 0, "17.2", sdk.DiffMajor},
		"named":               {waits, "", nil, "", "17.2", 0, "17.2", sdk.DiffMajor},
		"skipped":             {waits, "16.4.1", skippedBy{"16.6": "ana"}, "", "", 0, "16.4.1", sdk.DiffPatch},
		"all skipped":         {waits, "", skippedBy{"16.6": "ana"}, "", "", 0, "17.2", sdk.DiffMajor},
		"failed before":       {waits, "", nil, "16.6", "", 0, "17.2", sdk.DiffMajor},
		"a minor is no minor": {waits, "16.4.1", nil, "", "", 2, "16.4.1", sdk.DiffPatch},
	} {
		f := &fakeUpdater{tried: c.failed}
		s, stored := newService(t, func(o *Options) {
			o.Updater, o.Operations = f, f
			if c.skipped != nil {
				o.Choices = c.skipped
			}
			o.Rules = func(sdk.Container) policy.Rules {
				return policy.Rules{Preset: &preset.Preset{Line: max(c.line, 1)}}
			}
		})
		db := database()
		db.Decision = c.decision
		if c.patch != "" {
			db.Result.Levels.Patch = &sdk.Release{Tag: c.patch}
		}
		if err := stored.Commit(t.Context(), event.Change{Put: []sdk.Container{db}}); err != nil {
			t.Fatal(err)
		}
		change := Change{Container: "c1", Kind: operation.Update, Version: c.version}
		if _, err := s.StartOperation(t.Context(), writer, change); err != nil {
			t.Fatal(err)
		}
		details, err := s.PlanDetails(t.Context(), reader, change)
		if got := f.started[0].Container; err != nil || got.Result.Tag != c.leadsTo || details.Kind != c.leadsKind {
			t.Errorf("%s: it leads to %s, %s, %v", about, got.Result.Tag, details.Kind, err)
		}
	}
}
