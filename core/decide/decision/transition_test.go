package decision

import (
	"errors"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

var noon = sdk.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

// unchecked is a container that runs a version of nginx and was never checked.
func unchecked(tag string) (c sdk.Container) {
	c.ID, c.Name, c.Watcher = "id-web", "web", "local"
	c.Image.Registry.Host, c.Image.Name, c.Image.Tag = "docker.io", "library/nginx", sdk.Tag{Value: tag, Semver: true}
	c.UpdateKind.Kind, c.Check.State = sdk.KindUnknown, sdk.CheckNever
	return c
}

// unlabelled are the labels of a container that has none.
type unlabelled struct{}

func (unlabelled) Problems() []string                     { return nil }
func (unlabelled) Diff(from, to string) string            { return new(tag.Selector).Diff(from, to) }
func (unlabelled) WriteReleaseLinks(*sdk.Container) error { return nil }

func TestTransition(t *testing.T) {
	never, p := unchecked("1.25.0"), unlabelled{}
	ok := withAnswer(never, p, candidate.Answer{}, noon)
	offer := func(tag_ string) sdk.Container {
		return withAnswer(never, p, candidate.Answer{Selection: tag.Selection{Tag: tag_, Newer: true}}, noon)
	}
	failed := func(c sdk.Container, why string) sdk.Container {
		return withAnswer(c, p, candidate.Answer{Err: errors.New(why)}, noon)
	}
	measured := offer("1.26.0")
	measured.UpdateKind.SemverDiff = sdk.DiffMajor
	wrong := ok
	wrong.Error = &sdk.ContainerError{Message: "label x"}
	for _, c := range []struct {
		about         string
		before, after sdk.Container
		want          event.Type
	}{
		{"first check, nothing newer", never, ok, ""},
		{"first check, update", never, offer("1.26.0"), event.UpdateFound},
		{"first check fails", never, failed(never, "down"), event.ContainerChanged},
		{"first check, wrong label", never, wrong, event.ContainerChanged},
		{"nothing new", ok, ok, ""},
		{"update", ok, offer("1.26.0"), event.UpdateFound},
		{"same update", offer("1.26.0"), offer("1.26.0"), ""},
		{"same update, measured otherwise", offer("1.26.0"), measured, event.ContainerChanged},
		{"another update", offer("1.26.0"), offer("1.27.0"), event.UpdateFound},
		{"no update any more", offer("1.26.0"), ok, event.UpdateCleared},
		{"fails", offer("1.26.0"), failed(offer("1.26.0"), "down"), event.ContainerChanged},
		{"fails again", failed(ok, "down"), failed(ok, "down"), ""},
		{"fails for another reason", failed(ok, "not asked again before 12:00"),
			failed(ok, "not asked again before 13:00"), ""},
		{"works again", failed(offer("1.26.0"), "down"), offer("1.26.0"), event.ContainerChanged},
		{"works again, with an update", failed(ok, "down"), offer("1.26.0"), event.UpdateFound},
		{"label corrected", wrong, ok, event.ContainerChanged},
	} {
		got, changed := transition(c.before, c.after)
		if got != c.want || changed != (c.want != "") {
			t.Errorf("%s: %q %t, want %q", c.about, got, changed, c.want)
		}
	}
}

// A rebuilt tag has the step between the versions of its images.
func TestRebuiltTagHasItsStep(t *testing.T) {
	for _, test := range []struct{ running, offered, want string }{{"1.27.2", "1.28.0", sdk.DiffMinor},
		{"", "1.28.0", ""}, {"1.27.2", "", ""}} {
		c := sdk.Container{
			Image: sdk.Image{
				ID: "sha256:a", Tag: sdk.Tag{Value: "latest"}, Version: test.running,
				Digest: sdk.Digest{Watch: true, Repo: "sha256:old"},
			},
		}
		r := candidate.Answer{Digest: &candidate.Digest{Remote: "sha256:new", Version: test.offered}}
		after := withAnswer(c, unlabelled{}, r, sdk.Time{})
		found := candidate.Search{}.Candidates(after.Image, r, candidate.Found{}, time.Time{})
		offer(&after, found.Candidates[0], found.From)
		if after.UpdateKind.Kind != sdk.KindDigest || after.UpdateKind.SemverDiff != test.want ||
			after.Result.Version != test.offered {
			t.Errorf("%+v gives %+v of %+v", test, after.UpdateKind, after.Result)
		}
		if passes := policy.Passes("patch", after.UpdateKind.Kind, after.UpdateKind.SemverDiff); passes != (test.want == "") {
			t.Errorf("%+v passes the threshold patch: %v", test, passes)
		}
	}
}
