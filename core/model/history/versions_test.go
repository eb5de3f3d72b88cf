package history

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// running is a container with a tag, and a newer one unless that is "".
func running(tag, newer string) *sdk.Container {
	c := &sdk.Container{
		Image: sdk.Image{Tag: sdk.Tag{Value: tag, Semver: true}}, UpdateKind: sdk.UpdateKind{Kind: sdk.KindUnknown},
	}
	if newer != "" {
		c.Result, c.UpdateAvailable, c.UpdateKind = &sdk.Result{Tag: newer}, true, sdk.UpdateKind{
			Kind: sdk.KindTag, SemverDiff: sdk.DiffMinor,
		}
	}
	return c
}

func was(days int, t event.Type, c *sdk.Container) event.Event {
	return event.Event{At: ago(days), Type: t, Payload: event.Payload{Container: c}}
}

// made returns what the result of a container says.
func made(c *sdk.Container) time.Time {
	if c.Result == nil {
		return time.Time{}
	}
	return c.Result.Created.Time
}

func TestVersions(t *testing.T) {
	dated := running("1.1", "1.2")
	dated.Result.Created = sdk.TimeOf(ago(4))
	rebuilt := &sdk.Container{Image: sdk.Image{
		Tag: sdk.Tag{Value: "latest"}, Digest: sdk.Digest{Watch: true, Value: "sha256:a"},
	}, UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: "sha256:a", RemoteValue: "sha256:b"}}
	pulled := &sdk.Container{
		Image: sdk.Image{Tag: sdk.Tag{Value: "latest"}, Digest: sdk.Digest{Watch: true, Value: "sha256:b"}},
	}
	loaded := &sdk.Container{Image: sdk.Image{ID: "sha256:c", Tag: sdk.Tag{Value: "latest"},
		Digest: sdk.Digest{Watch: true}}}
	compared := &sdk.Container{Image: sdk.Image{ID: "sha256:c", Tag: sdk.Tag{Value: "latest"},
		Digest: sdk.Digest{Watch: true, Value: "sha256:c"}}}
	for _, c := range []struct {
		name   string
		events []event.Event
		now    *sdk.Container
		want   []Version
	}{
		{"nothing is recorded", nil, running("1.0", ""), []Version{{Name: "1.0", From: noon}}},
		{"updated", []event.Event{
			was(9, event.ContainerAdded, running("1.0", "")), was(8, event.UpdateFound, running("1.0", "1.1")),
			was(7, event.ContainerChanged, running("1.0", "1.1")),
			was(6, event.ContainerReplaced, running("1.1", "")), was(3, event.UpdateFound, running("1.1", "1.2")),
			was(2, event.ContainerChanged, dated),
		}, dated, []Version{
			{Name: "1.0", From: ago(9), Until: ago(6)}, {Name: "1.1", Kind: sdk.DiffMinor, Found: ago(8), From: ago(6)},
			{Name: "1.2", Kind: sdk.DiffMinor, Found: ago(3), Released: ago(4)},
		}},
		{"rolled back",
			[]event.Event{was(3, event.ContainerAdded, running("1.0", "1.1")),
				was(2, event.ContainerReplaced, running("1.1", "")), was(1, event.ContainerReplaced, running("1.0", "1.1"))},
			running("1.0", "1.1"),
			[]Version{{Name: "1.0", From: ago(3)}, {
				Name: "1.1", Kind: sdk.DiffMinor, Found: ago(3), From: ago(2), Until: ago(1),
			}}},
		{"rebuilt", []event.Event{was(2, event.UpdateFound, rebuilt), was(1, event.ContainerReplaced, pulled)}, pulled,
			[]Version{{Name: "sha256:a", From: ago(2), Until: ago(1)}, {
				Name: "sha256:b", Kind: sdk.KindDigest, Found: ago(2), From: ago(1),
			}}},
		{"what it is compared by becomes known", []event.Event{was(2, event.ContainerAdded, loaded)}, compared,
			[]Version{{Name: "sha256:c", From: ago(2)}}},
		{"removed, and made anew",
			[]event.Event{was(2, event.ContainerRemoved, running("0.9", "")),
				was(1, event.ContainerAdded, running("1.0", ""))}, running("1.0", ""), []Version{{Name: "1.0", From: ago(1)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Versions(States(c.events, c.now, noon, made)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestOneVersionRunsAtATime in whatever order versions came and went: the last that runs is the running one.
func TestOneVersionRunsAtATime(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var events []event.Event
		c := running("1.0", "")
		for i := range 20 {
			tag, newer := fmt.Sprint("1.", rnd.IntN(5)), ""
			if rnd.IntN(2) > 0 {
				newer = fmt.Sprint("2.", rnd.IntN(5))
			}
			c = running(tag, newer)
			events = append(events, was(40-i, event.ContainerReplaced, c))
		}
		still := 0
		for _, v := range Versions(States(events, c, noon, made)) {
			if v.From.IsZero() && v.Found.IsZero() {
				t.Errorf("seed %d: %s neither ran nor was it found", seed, v.Name)
			}
			if !v.Until.IsZero() && v.Until.Before(v.From.Add(time.Hour)) {
				t.Errorf("seed %d: %s ran from %v until %v", seed, v.Name, v.From, v.Until)
			}
			if !v.From.IsZero() && v.Until.IsZero() {
				if still++; v.Name != c.Image.Tag.Value {
					t.Errorf("seed %d: %s still runs, want %s", seed, v.Name, c.Image.Tag.Value)
				}
			}
		}
		if still != 1 {
			t.Errorf("seed %d: %d versions still run", seed, still)
		}
	}
}
