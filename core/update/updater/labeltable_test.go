package updater

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/config/label/labeltest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// automatically is a request of a trigger that ran by itself, for whose watcher everything is allowed.
func automatically(f *fixture, c sdk.Container, how string) ruleSet {
	f.Runner.opt.Labels = label.Options{Foreign: true, Image: how}
	return f.rules(Watcher{ID: "docker.local", Hooks: true}, Request{Container: c, Trigger: "docker.local",
		Rules: watcher.UpdateRules{Compose: &watcher.ComposeRules{File: "/default.yaml"}}})
}

// TestLabelsOfUpdatesAreAsDocumented: the labels about updates have an effect if the operator sets them, and as
// labels of an image as docs/security.md says.
func TestLabelsOfUpdatesAreAsDocumented(t *testing.T) {
	f := fresh(t)
	none := automatically(f, sdk.Container{}, "")
	for _, c := range labeltest.Documented(t) {
		name := c.Labels[0]
		if c.Name == label.ComposeFile {
			name = "dd.compose.file" // watchers read ours themselves
		}
		by := sdk.Container{Labels: map[string]string{name: c.Value}}
		of := sdk.Container{Labels: by.Labels, ImageLabels: []string{name}}
		operator := automatically(f, by, "")
		isOfTriggers := strings.HasPrefix(c.Name, "source.") // which say what is changed, not how a container is
		if has := !sameRules(operator, none); has != (c.Area == label.Updates && !isOfTriggers) {
			t.Errorf("%s=%s of the operator has an effect on updates: %t", name, c.Value, has)
		}
		image := automatically(f, of, "")
		want := none
		if c.Image == label.Describes || c.Name == label.UpdateAuto {
			want = operator
		}
		if !sameRules(image, want) {
			t.Errorf("%s=%s of an image: %+v, want %+v", name, c.Value, image, want)
		}
		text := ""
		for _, w := range image.warnings {
			text += w.Code + " " + w.Text + "\n"
		}
		for _, b := range image.blocks {
			text += b.Code + " " + b.Text + "\n"
		}
		if c.Area == label.Updates && !strings.Contains(text, "label "+name+" from the image") {
			t.Errorf("%s=%s of an image is not mentioned in the plan: %q", name, c.Value, text)
		}
		if ignored := strings.Contains(text,
			WarnImage+" label "+name+" from the image: ignored: "); ignored != (c.Area == label.Updates &&
			c.Image == label.Never) {
			t.Errorf("%s=%s of an image is said to be ignored: %t (%q)", name, c.Value, ignored, text)
		}
		if got := automatically(f, of, label.ImageNone); !sameRules(got, none) {
			t.Errorf("%s=%s of an image, with none: %+v", name, c.Value, got)
		}
		if got := automatically(f, of, label.ImageAll); !sameRules(got, operator) {
			t.Errorf("%s=%s of an image, with all: %+v", name, c.Value, got)
		}
	}
}

// sameRules compares what is done, not what is said about it.
func sameRules(a, b ruleSet) bool {
	codes := func(all []watcher.Reason) (codes []string) {
		for _, r := range all {
			codes = append(codes, r.Code)
		}
		return codes
	}
	return reflect.DeepEqual(a.UpdateRules, b.UpdateRules) && slices.Equal(codes(a.blocks), codes(b.blocks))
}

// TestRandomLabelsOfImagesInUpdates: whatever they are, they add a probe of the container
// itself where the operator has none, keep triggers from updating it, and nothing else.
func TestRandomLabelsOfImagesInUpdates(t *testing.T) {
	f := fresh(t)
	r := rand.New(rand.NewPCG(23, 24))
	probes := 0
	for range 1000 {
		c := labeltest.Container(r)
		with, without := automatically(f, c, ""), automatically(f, labeltest.WithoutImage(c), "")
		if own := without.Health; own.HTTP == "" && own.TCP == "" && len(own.Command) == 0 &&
			(with.Health.HTTP != "" || with.Health.TCP != "") {
			if with.Health.HTTP != "" && !strings.HasPrefix(with.Health.HTTP, "http://:") &&
				!strings.HasPrefix(with.Health.HTTP, "https://:") ||
				with.Health.TCP != "" && !strings.HasPrefix(with.Health.TCP, ":") {
				t.Fatalf("%q of %q: probes %+v", c.Labels, c.ImageLabels, with.Health)
			}
			with.Health.HTTP, with.Health.TCP = "", ""
			probes++
		}
		if !reflect.DeepEqual(with.UpdateRules, without.UpdateRules) {
			t.Fatalf("%q of %q: %+v\n%+v", c.Labels, c.ImageLabels, with.UpdateRules, without.UpdateRules)
		}
		for _, b := range without.blocks {
			if !slices.Contains(with.blocks, b) {
				t.Fatalf("%q of %q: %+v is gone", c.Labels, c.ImageLabels, b)
			}
		}
	}
	if probes < 5 {
		t.Errorf("only %d probes of images", probes)
	}
}

// TestUnattributedLabelsBlock: nothing is updated without the hooks and probes that may be the operator's.
func TestUnattributedLabelsBlock(t *testing.T) {
	f := fresh(t)
	c := sdk.Container{Labels: map[string]string{"dogwatch.hook.pre": "dump"}, ImageLabels: []string{label.Unattributed}}
	got := automatically(f, c, "")
	if len(got.blocks) != 1 || got.blocks[0].Code != BlockLabel || !strings.HasPrefix(got.blocks[0].Text,
		"label dogwatch.hook.pre: ") || len(got.Hooks.Pre) > 0 {
		t.Errorf("%+v", got)
	}
	c.Labels = map[string]string{"maintainer": "x", "dogwatch.display.name": "Web"}
	if got := automatically(f, c, ""); len(got.blocks) > 0 {
		t.Errorf("%+v", got.blocks)
	}
}
