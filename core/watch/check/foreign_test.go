package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestForeignLabelsAreOffByDefault: without the setting they have no effect at all.
func TestForeignLabelsAreOffByDefault(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	foreign := []string{"diun.enable=false", "diun.include_tags=^1\\.25", "diun.nonsense=1", "dd.watch=false",
		"dd.display.name=X", "com.centurylinklabs.watchtower.enable=false", "com.centurylinklabs.watchtower=true"}
	w.engine.list = []sdk.Container{container("web", "nginx:1.25.0", foreign...)}
	w.run()
	got := w.get("id-web")
	if got.Result.Tag != "1.26.0" || got.IncludeTags != "" || got.DisplayName != "web" || got.Error != nil {
		t.Errorf("stored: %+v", got)
	}
	if e := w.Explain(t.Context(), got); len(e.Warnings) > 0 ||
		slices.ContainsFunc(e.Rules, func(r labels.Rule) bool { return !r.IsDefault() }) {
		t.Errorf("explained: rules %v, warnings %q", e.Rules, e.Warnings)
	}
}

// TestForeignLabels: each rule is explained by the label it comes from, and a
// label that means nothing here is mentioned once, in the explanation alone.
func TestForeignLabels(t *testing.T) {
	w := open(t, func(_ *fixture, o *options) { o.Labels.Foreign = true })
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0", "1.27.0-alpine", "2.0.0"}
	w.engine.list = []sdk.Container{
		container("web", "nginx:1.25.0", "diun.include_tags=^1\\.26;^2", "diun.exclude_tags=^2",
			"diun.hub_link=https://r/a${b}", "diun.max_tags=10", "dd.display.name=Web", "dd.tag.include=^9"),
		container("off", "nginx:1.25.0", "com.centurylinklabs.watchtower.enable=false"),
		container("kept", "nginx:1.25.0", "com.centurylinklabs.watchtower.enable=false", "wud.watch=true"),
		container("bad", "nginx:1.25.0", "diun.include_tags=("),
	}
	w.run()
	w.run()
	got := w.get("id-web")
	if got.Result.Tag != "1.26.0" || got.DisplayName != "Web" || got.Link != "https://r/a${b}" || got.Error != nil {
		t.Errorf("stored: %+v, result %+v", got, got.Result)
	}
	e := w.Explain(t.Context(), got)
	var rules []string
	for _, r := range e.Rules {
		rules = append(rules, r.Name+"="+r.Value+" ("+r.Source+")")
	}
	contains(t, "rules", strings.Join(rules, "\n"),
		`tag.include=(?:^1\.26)|(?:^2) (label diun.include_tags)`, `tag.exclude=^2 (label diun.exclude_tags)`,
		`display.name=Web (label dd.display.name)`)
	contains(t, "warnings", strings.Join(phrase.Strings(e.Warnings), "\n"), "label diun.max_tags: has no effect",
		"label dd.tag.include: not used, since diun.include_tags is set")
	if len(e.Warnings) != 2 {
		t.Errorf("warnings: %q", e.Warnings)
	}
	if log := w.log.String(); strings.Contains(log, "max_tags") {
		t.Errorf("logged: %s", log)
	}
	if _, found := w.store.Snapshot().Get("id-off"); found {
		t.Error("a container that Watchtower leaves alone is watched")
	}
	w.get("id-kept")
	if bad := w.get("id-bad"); bad.Error == nil ||
		!strings.Contains(bad.Error.Message, "label diun.include_tags: tag include pattern") {
		t.Errorf("bad: %+v", bad.Error)
	}
}

// TestForeignRulesAreInherited: a result outlives an unchanged foreign rule and
// not a changed one.
func TestForeignRulesAreInherited(t *testing.T) {
	for label, kept := range map[string]bool{"diun.include_tags=^1": true, "diun.include_tags=^2": false} {
		w := open(t, func(_ *fixture, o *options) { o.Labels.Foreign = true })
		w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
		w.engine.list = []sdk.Container{container("web", "nginx:1.25.0", "diun.include_tags=^1")}
		w.run()
		w.hub.errs["tags library/nginx "] = errors.New("out of order")
		again := container("web", "nginx:1.25.0", label)
		again.ID = "id-new"
		w.engine.list = []sdk.Container{again}
		w.run()
		if got := w.get("id-new"); (got.Result != nil) != kept {
			t.Errorf("%s: result %v, kept should be %t", label, got.Result, kept)
		}
	}
}
