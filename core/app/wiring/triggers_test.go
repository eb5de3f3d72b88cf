package wiring

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestProposes: a plan names a trigger only where that opens a pull request for the container by itself.
func TestProposes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*component.Trigger, *sdk.Container)
		want   bool
	}{
		"any repository":  {func(*component.Trigger, *sdk.Container) {}, true},
		"no such ability": {func(t *component.Trigger, _ *sdk.Container) { t.Capabilities = nil }, false},
		"by hand":         {func(t *component.Trigger, _ *sdk.Container) { t.Settings.Auto = false }, false},
		"a summary": {func(t *component.Trigger, _ *sdk.Container) {
			t.Settings.Mode, t.Settings.Summary = component.ModeSummary, "daily 08:00"
		}, false},
		"a smaller step": {func(t *component.Trigger, _ *sdk.Container) { t.Settings.Threshold = "patch" }, false},
		"excluded":       {func(_ *component.Trigger, c *sdk.Container) { c.TriggerExclude = "gitea.homelab" }, false},
		"held": {func(_ *component.Trigger, c *sdk.Container) {
			c.Decision = &sdk.Decision{State: sdk.StateHeld}
		}, false},
		"nothing newer": {func(_ *component.Trigger, c *sdk.Container) { c.UpdateAvailable = false }, false},
		"its repository": {func(_ *component.Trigger, c *sdk.Container) {
			c.Labels = map[string]string{"dogwatch.source.repository": "Ana/Homelab"}
		}, true},
		"its address": {func(_ *component.Trigger, c *sdk.Container) {
			c.Labels = map[string]string{"dogwatch.source.repository": "https://git.example.org/ana/homelab.git"}
		}, true},
		"its address for SSH": {func(_ *component.Trigger, c *sdk.Container) {
			c.Labels = map[string]string{"dogwatch.source.repository": "git@git.example.org:ana/homelab.git"}
		}, true},
		"another repository": {func(_ *component.Trigger, c *sdk.Container) {
			c.Labels = map[string]string{"dogwatch.source.repository": "https://git.example.org/diana/homelab"}
		}, false},
		"another one, says the image": {func(_ *component.Trigger, c *sdk.Container) {
			c.Labels, c.ImageLabels = map[string]string{"dogwatch.source.repository": "x/y"}, []string{"dogwatch.source.repository"}
		}, true},
	} {
		known := &component.Trigger{
			Component: component.Component{Kind: kind.Trigger, Type: "gitea", Name: "homelab",
				Capabilities: []string{kind.CapProposals}, Options: map[string]any{"repository": "ana/homelab"}},
			Settings: component.TriggerOptions{Auto: true, IncludeByDefault: true, Threshold: "all", OnDigest: true},
		}
		found := sdk.Container{
			Watcher: "local", Name: "web", UpdateAvailable: true, Result: &sdk.Result{Tag: "1.28"},
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.27", RemoteValue: "1.28", SemverDiff: "minor"},
		}
		c.change(known, &found)
		if got := proposes(known, found, label.Options{}); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
