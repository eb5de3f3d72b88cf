package labels

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/config/label/labeltest"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/sdk"
)

// effects are what labels change in checks and messages.
type effects struct {
	Watch       bool
	Digest      *bool
	Rules       tag.Rules
	Implausible bool
	Strings     []string
	Base        string
}

func effectsOf(c sdk.Container, how string) (effects, Labels) {
	p := Read(label.Of(c), Options{WatchByDefault: true, Labels: label.Options{Foreign: true, Image: how}})
	onDigest := slices.ContainsFunc(p.Sources, func(r Rule) bool { return strings.Contains(r.Name, "ondigest") })
	return effects{p.Watch, p.digest, p.rules, p.implausible, []string{p.linkTemplate, p.displayName, p.displayIcon,
		p.triggerInclude, p.triggerExclude, fmt.Sprint(onDigest)}, p.base.Value}, p
}

// TestLabelsOfChecksAreAsDocumented: the labels of checks and messages have an effect if the operator sets
// them, and as labels of an image as docs/security.md says.
func TestLabelsOfChecksAreAsDocumented(t *testing.T) {
	none, _ := effectsOf(sdk.Container{}, "")
	for _, c := range labeltest.Documented(t) {
		for _, name := range c.Labels {
			if strings.HasSuffix(name, ".delay") {
				continue // has another name in WUD, and is of policies
			}
			by := sdk.Container{Labels: map[string]string{name: c.Value}}
			of := sdk.Container{Labels: by.Labels, ImageLabels: []string{name}}
			operator, _ := effectsOf(by, "")
			if has := !reflect.DeepEqual(operator, none); has != (c.Area == label.Checks) {
				t.Errorf("%s=%s of the operator has an effect on checks: %t", name, c.Value, has)
			}
			image, policy := effectsOf(of, "")
			want := none
			if c.Image == label.Describes {
				want = operator
			}
			if !reflect.DeepEqual(image, want) {
				t.Errorf("%s=%s of an image: %+v, want %+v", name, c.Value, image, want)
			}
			said := slices.ContainsFunc(policy.Warnings, func(w string) bool {
				return strings.HasPrefix(w,
					"label "+name+" from the image: ignored: ")
			})
			if said != (c.Image == label.Never) {
				t.Errorf("%s=%s of an image is said to be ignored: %t (%q)", name, c.Value, said, policy.Warnings)
			}
			if got, _ := effectsOf(of, label.ImageNone); !reflect.DeepEqual(got, none) {
				t.Errorf("%s=%s of an image, with none: %+v", name, c.Value, got)
			}
			if got, _ := effectsOf(of, label.ImageAll); !reflect.DeepEqual(got, operator) {
				t.Errorf("%s=%s of an image, with all: %+v", name, c.Value, got)
			}
		}
	}
}

// TestRandomLabelsOfImagesInChecks: whatever they are, they neither watch nor hide a
// container, and choose no trigger.
func TestRandomLabelsOfImagesInChecks(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 1000 {
		c := labeltest.Container(r)
		with, _ := effectsOf(c, "")
		without, _ := effectsOf(labeltest.WithoutImage(c), "")
		if with.Watch != without.Watch || !slices.Equal(with.Strings[3:], without.Strings[3:]) {
			t.Fatalf("%q of %q: %+v\n%+v", c.Labels, c.ImageLabels, with, without)
		}
		Lint(c, label.Options{Foreign: true})
	}
}
