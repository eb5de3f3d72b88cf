package decision

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/config/label/labeltest"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// loose rules let anything happen that strict ones do not.
func loose() *config.Config {
	c := &config.Config{Policies: map[string]config.Policy{"careful": {Update: "approve", MinAge: "30d"}}}
	c.Policy = config.Policy{Update: "auto", Threshold: "all", MinAge: "1d", Window: "daily 02:00-05:00"}
	return c
}

func strict() *config.Config {
	c := loose()
	c.Policy.Update, c.Policy.Threshold, c.Policy.MinAge = "notify", "digest", "30d"
	return c
}

func text(r policy.Rules) string {
	return fmt.Sprint(r.Mode.Value, r.Major.Value, r.Threshold.Value, r.MinAge.Value, r.Security.Value, r.Window.Value,
		r.Freeze.Value, r.Skip.Value, len(r.Problems))
}

// TestLabelsOfPoliciesAreAsDocumented: the labels of policies have an effect if the operator sets them, and as labels
// of
// an image as docs/security.md says: at most they make loose rules tighter.
func TestLabelsOfPoliciesAreAsDocumented(t *testing.T) {
	for _, c := range labeltest.Documented(t) {
		for _, name := range c.Labels {
			by := sdk.Container{Labels: map[string]string{name: c.Value}}
			of := sdk.Container{Labels: by.Labels, ImageLabels: []string{name}}
			rulesOf := func(cfg *config.Config, c sdk.Container, how string) policy.Rules {
				cfg.Labels.Image = how
				return LayersOf(cfg).Rules(c)
			}
			none, operator := text(rulesOf(loose(), sdk.Container{}, "")), text(rulesOf(loose(), by, ""))
			if has := operator != none; has != (c.Area == label.Policies || c.Name == label.UpdateAuto) {
				t.Errorf("%s=%s of the operator has an effect on policies: %t (%s)", name, c.Value, has, operator)
			}
			want := none
			if c.Image == label.Tightens {
				want = operator
			}
			image := rulesOf(loose(), of, "")
			if got := text(image); got != want {
				t.Errorf("%s=%s of an image: %s, want %s", name, c.Value, got, want)
			}
			if c.Image == label.Tightens {
				sources := image.Mode.Source + ", " + image.Threshold.Source + ", " + image.MinAge.Source
				if !strings.Contains(sources, "label "+name+" from the image") {
					t.Errorf("%s=%s of an image: the sources are %s", name, c.Value, sources)
				}
			}
			under := rulesOf(strict(), of, "")
			if got, none := text(under), text(rulesOf(strict(), sdk.Container{}, "")); got != none {
				t.Errorf("%s=%s of an image loosens: %s, want %s", name, c.Value, got, none)
			}
			if said := len(under.Ignored) == 1; said != (c.Image == label.Tightens && c.Name != label.UpdateAuto) {
				t.Errorf("%s=%s of an image: ignored %v", name, c.Value, under.Ignored)
			}
			if got := text(rulesOf(loose(), of, label.ImageNone)); got != none {
				t.Errorf("%s=%s of an image, with none: %s", name, c.Value, got)
			}
			if got := text(rulesOf(loose(), of, label.ImageAll)); got != operator {
				t.Errorf("%s=%s of an image, with all: %s", name, c.Value, got)
			}
		}
	}
}

// freedom orders what a decision lets happen.
func freedom(d policy.Decision) int {
	waits := slices.ContainsFunc(d.Reasons, func(r policy.Reason) bool { return r.Code == policy.ReasonApproval })
	switch {
	case d.State == policy.Automatic:
		return 3
	case d.State == policy.Offered && !waits:
		return 2
	case d.State == policy.Offered:
		return 1
	}
	return 0
}

// TestRandomLabelsOfImagesAllowNoMore: whatever labels an image has beside those of the operator, no
// version is offered or carried out that these alone would hold.
func TestRandomLabelsOfImagesAllowNoMore(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	now := time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC)
	facts := policy.Facts{MayUpdate: true}
	tighter := 0
	for round := range 1000 {
		cfg := loose()
		if round%2 == 0 {
			cfg = strict()
		}
		cfg.Labels.Foreign = true
		c := labeltest.Container(r)
		with, without := LayersOf(cfg).Rules(c), LayersOf(cfg).Rules(labeltest.WithoutImage(c))
		for _, newer := range []candidate.Candidate{
			{Tag: "2.0.0", Kind: sdk.KindTag, Diff: sdk.DiffMajor, Created: now.Add(-100 * 24 * time.Hour)},
			{Tag: "1.1.0", Kind: sdk.KindTag, Diff: sdk.DiffMinor, Created: now.Add(-20 * 24 * time.Hour)},
			{Tag: "1.0.1", Kind: sdk.KindTag, Diff: sdk.DiffPatch, Created: now.Add(-2 * 24 * time.Hour)},
			{Tag: "1.0.0", Digest: "sha256:b", Kind: sdk.KindDigest, Created: now.Add(-time.Hour),
				FirstSeen: now.Add(-time.Hour)},
		} {
			u := policy.Update{Subject: "local/web", Candidates: []candidate.Candidate{newer}}
			a, b := policy.Decide(u, with, facts, nil, now), policy.Decide(u, without, facts, nil, now)
			if freedom(a) > freedom(b) {
				t.Fatalf("%q of %q: %s is %+v, and without the image %+v", c.Labels, c.ImageLabels, newer.Tag, a, b)
			}
			if freedom(a) < freedom(b) {
				tighter++
			}
		}
		if len(with.Problems) != len(without.Problems) {
			t.Fatalf("%q of %q: %v, and without the image %v", c.Labels, c.ImageLabels, with.Problems, without.Problems)
		}
	}
	if tighter < 20 {
		t.Errorf("only %d decisions are tighter", tighter)
	}
}

// TestUnattributedLabelsHold: an update is not carried out by rules that the labels of the operator, if
// they are the operator's, would keep from it.
func TestUnattributedLabelsHold(t *testing.T) {
	c := sdk.Container{Labels: map[string]string{"dogwatch.update.window": "Sat 02:00-05:00"},
		ImageLabels: []string{label.Unattributed}}
	r := LayersOf(loose()).Rules(c)
	if len(r.Problems) != 1 || !strings.HasPrefix(r.Problems[0].Text,
		"label dogwatch.update.window: whether the operator or the image says this") {
		t.Errorf("%v", r.Problems)
	}
	c.Labels = map[string]string{"maintainer": "x", "dogwatch.update.minage": "30d"}
	if r := LayersOf(loose()).Rules(c); len(r.Problems) > 0 || r.MinAge.Value != 30*24*time.Hour {
		t.Errorf("%v, %v", r.Problems, r.MinAge)
	}
}
