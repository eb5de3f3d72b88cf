package decision

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

func runs(repository string, labels map[string]string) sdk.Container {
	c := sdk.Container{Watcher: "local", Name: "db", Labels: labels}
	c.Image = sdk.Image{Registry: sdk.Registry{Host: "docker.io"}, Name: repository}
	return c
}

// TestPresetIsTheLowestLayer: what is known of an image counts where no rule of that name is written, and nowhere
// once presets are switched off.
func TestPresetIsTheLowestLayer(t *testing.T) {
	for about, c := range map[string]struct {
		image  string
		labels map[string]string
		change func(*config.Config)
		want   string
	}{
		"postgres":      {image: "library/postgres", want: "approve preset postgres"},
		"a derivative":  {image: "postgis/postgis", want: "approve preset postgres"},
		"another image": {image: "library/nginx", want: " default"},
		"switched off": {image: "library/postgres", change: func(c *config.Config) { c.Presets = false },
			want: " default"},
		"a rule for all": {image: "library/postgres", change: func(c *config.Config) { c.Policy.Major = "auto" },
			want: "auto policy.major"},
		"a rule of its policy": {"library/postgres", map[string]string{"dogwatch.policy": "db"}, nil,
			"notify policies.db.major"},
		"a label": {"library/postgres", map[string]string{"dogwatch.update.major": "auto"}, nil,
			"auto label dogwatch.update.major"},
		"another rule": {"library/postgres", map[string]string{"dogwatch.update": "auto"}, nil,
			"approve preset postgres"},
	} {
		cfg := &config.Config{Policies: map[string]config.Policy{"db": {Major: "notify"}}}
		cfg.Presets = true
		if c.change != nil {
			c.change(cfg)
		}
		r := LayersOf(cfg).Rules(runs(c.image, c.labels))
		if got := string(r.Major.Value) + " " + r.Major.Source; got != c.want {
			t.Errorf("%s: %q, want %q", about, got, c.want)
		}
		if known := r.Preset != nil; known != (cfg.Presets && c.image != "library/nginx") {
			t.Errorf("%s: the preset is %+v", about, r.Preset)
		}
	}
}

// TestPresetIsNoLooserThanLabelsOfImages: an image cannot say that its own major updates are harmless.
func TestPresetIsNoLooserThanLabelsOfImages(t *testing.T) {
	cfg := &config.Config{}
	cfg.Presets, cfg.Policy.Update = true, "auto"
	c := runs("library/postgres", map[string]string{"dogwatch.update.major": "auto"})
	c.ImageLabels = []string{"dogwatch.update.major"}
	if r := LayersOf(cfg).Rules(c); r.Major.Value != policy.Approve || r.Mode.Value != policy.Auto {
		t.Errorf("%+v, %+v", r.Major, r.Mode)
	}
}
