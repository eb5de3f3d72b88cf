package check

import (
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestTransition(t *testing.T) {
	never, p := running("nginx:1.25.0")
	ok := withResponse(never, p, response{}, noon)
	offer := func(tag_ string) sdk.Container {
		return withResponse(never, p, response{selection: tag.Selection{Tag: tag_, Newer: true}}, noon)
	}
	failed := func(c sdk.Container, why string) sdk.Container {
		return withResponse(c, p, response{err: errors.New(why)}, noon)
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
