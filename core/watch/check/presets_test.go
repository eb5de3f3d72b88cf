package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
)

// knowing makes a checker with the rules of the images of presets, under a mode for all.
func knowing(mode policy.Mode) func(*fixture, *options) {
	var presets preset.Presets
	return func(_ *fixture, opt *options) {
		opt.Decide.Facts = func(sdk.Container) policy.Facts { return policy.Facts{MayUpdate: true} }
		opt.Decide.Rules = func(c sdk.Container) policy.Rules {
			r := policy.Rules{Mode: policy.Setting[policy.Mode]{Value: mode, Source: "policy.update"}}
			if r.Preset = presets.Of(c.Image.Registry.Host, c.Image.Name); r.Preset != nil {
				r.Major = policy.Setting[policy.Mode]{Value: policy.Approve, Source: r.Preset.Source()}
			}
			return r
		}
	}
}

// TestMajorUpdateOfDatabaseIsNotAutomatic: with everything automatic the newest minor version of a database is
// carried out and its major one, shown beside it, is not.
func TestMajorUpdateOfDatabaseIsNotAutomatic(t *testing.T) {
	w := open(t, knowing(policy.Auto))
	w.hub.tags["library/postgres"] = []string{"16.4", "16.6", "17.0", "17.2"}
	w.engine.has(container("db", "postgres:16.4"))
	w.run()
	c := w.get("id-db")
	if c.Result.Tag != "16.6" || c.Decision.State != sdk.StateAutomatic || c.Result.Levels.Major.Tag != "17.2" {
		t.Errorf("%+v, levels %+v: %+v", c.Result, c.Result.Levels, c.Decision)
	}
	said := strings.Join(phrase.Strings(w.Explain(t.Context(), c).Summary), "\n")
	for _, part := range []string{"So db can be updated to 16.6 (minor).", "Newer as well: 17.2 (major).",
		"An update to 17.2 is a major one (built-in rule for postgres). A new major version of PostgreSQL does not start on",
		"See https://www.postgresql.org/docs/current/upgrading.html."} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not in\n%s", part, said)
		}
	}
	rule := labels.Rule{Name: "update.major", Value: "approve", Source: "preset postgres"}
	if e := w.Explain(t.Context(), c); !slices.Contains(e.Rules, rule) {
		t.Errorf("rules %v", e.Rules)
	}

	w.hub.tags["library/postgres"] = []string{"16.4", "17.2"}
	w.run()
	c = w.get("id-db")
	if c.Result.Tag != "17.2" || c.Decision.State != sdk.StateOffered ||
		c.Decision.Reasons[0].Source != "preset postgres" {
		t.Errorf("alone: %+v: %+v", c.Result, c.Decision)
	}
}

// TestNoMajorVersionIsLeftOut: the next one is offered, whatever else is published, and the explanation says so.
func TestNoMajorVersionIsLeftOut(t *testing.T) {
	w := open(t, knowing(policy.Notify))
	w.hub.tags["library/nextcloud"] = []string{"28.0.1-apache", "29.0.7-apache", "30.0.2-apache", "31.0.0-apache"}
	w.hub.tags["library/nginx"] = []string{"28.0.1", "29.0.7", "30.0.2"}
	w.engine.has(container("cloud", "nextcloud:28.0.1-apache"), container("web", "nginx:28.0.1"))
	w.run()
	c := w.get("id-cloud")
	if c.Result.Tag != "29.0.7-apache" || w.get("id-web").Result.Tag != "30.0.2" {
		t.Errorf("%+v, %+v", c.Result, w.get("id-web").Result)
	}
	e := w.Explain(t.Context(), c)
	left := "Newer too, but not offered yet: 31.0.0-apache and 1 more. 29 must not be skipped, " +
		"so update to it first (built-in rule for nextcloud)."
	if !slices.Contains(phrase.Strings(e.Summary), left) {
		t.Errorf("%q is not in %q", left, e.Summary)
	}
	if image := w.ExplainImage(t.Context(), "nextcloud:28.0.1-apache"); !slices.Contains(phrase.Strings(image.Summary), left) {
		t.Errorf("of the image alone: %q", image.Summary)
	}
	if !slices.ContainsFunc(e.Tags, func(v Verdict) bool {
		return v.Tag == "30.0.2-apache" && !v.Kept && v.Reason == "step"
	}) {
		t.Errorf("%+v", e.Tags)
	}
}
