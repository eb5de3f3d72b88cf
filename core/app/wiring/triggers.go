package wiring

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/statestream"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/notify/webpush"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Triggers fits the components to dispatch.Triggers.
type Triggers struct {
	Components *component.Manager
	// Labels are which labels of containers count.
	Labels label.Options
	// Devices are those that triggers of type webpush notify.
	Devices *webpush.Devices
}

// All implements dispatch.Triggers.
func (t Triggers) All() []dispatch.Trigger {
	var all []dispatch.Trigger
	for _, c := range t.Components.Triggers() {
		if c.Usable() {
			all = append(all, dispatchTrigger(c, t.Labels, t.Devices))
		}
	}
	return all
}

// Get implements dispatch.Triggers.
func (t Triggers) Get(id string) (dispatch.Trigger, bool) {
	for _, known := range t.All() {
		if known.ID == id {
			return known, true
		}
	}
	return dispatch.Trigger{}, false
}

// Proposes returns the id of a trigger that opens a pull request for the update of a container; "" for none.
func (t Triggers) Proposes(c sdk.Container) string {
	for _, known := range t.Components.Triggers() {
		if known.Usable() && proposes(known, c, t.Labels) {
			return known.ID()
		}
	}
	return ""
}

// proposes reports whether a trigger opens pull requests, runs for the update of a container, and has the repository
// that the labels of that name.
func proposes(t *component.Trigger, c sdk.Container, labels label.Options) bool {
	given := label.Read(label.Of(c), labels)
	if named, is := given.Get(label.SourceRepository); is {
		own, _ := t.Options["repository"].(string)
		address := strings.TrimSuffix(strings.TrimRight(strings.ReplaceAll(named.Value, ":", "/"), "/"), ".git")
		if !strings.HasSuffix(strings.ToLower("/"+address), strings.ToLower("/"+own)) {
			return false
		}
	}
	return t.Can(kind.CapProposals) && dispatch.Takes(dispatchTrigger(t, labels, nil), c)
}

// dispatchTrigger fits a trigger; labels are which labels of containers count, devices those that may be notified.
func dispatchTrigger(c *component.Trigger, labels label.Options, devices *webpush.Devices) dispatch.Trigger {
	o := c.Settings
	// The templates were checked when the component was made.
	messages, _ := dispatch.ParseMessages(templates(o))
	t := dispatch.Trigger{
		ID: c.ID(), Auto: o.Auto, Once: o.Once, IncludeByDefault: o.IncludeByDefault, Batch: o.Mode == component.ModeBatch,
		Threshold: o.Threshold, OnDigest: onDigest(c, labels), Backlog: dispatch.Backlog(o.Backlog),
		AtMostOnce: c.Guarantee == kind.AtMostOnce,
		Operates:   slices.Contains(c.Capabilities, kind.CapOperate), Messages: messages, Runner: c,
		Outages:    slices.Contains(o.Events, component.EventWatcher),
		Operations: slices.Contains(o.Events, component.EventOperation),
		Plugins:    slices.Contains(o.Events, component.EventPlugin),
	}
	switch {
	case !c.Can(kind.CapDevices):
	case devices == nil:
		t.Runner = webpush.None{}
	default:
		t.Runner, t.Received = devices.Notifier(c), devices.Subscribed
	}
	if o.Mode == component.ModeSummary && o.Auto && !t.Operates { // a trigger that updates containers has no reader
		if moments, err := window.ParseMoments(o.Summary, nil); err == nil {
			t.Summary, t.SummaryEmpty = moments, o.SummaryEmpty
		}
	}
	return t
}

// onDigest reports whether a trigger runs for rebuilds of a container: as the labels of the
// container say, else as the option of the trigger does.
func onDigest(t *component.Trigger, labels label.Options) func(sdk.Container) bool {
	return func(c sdk.Container) bool {
		given := label.Read(label.Of(c), labels)
		if on, ok := given.OnDigest(t.ID()); ok {
			return on
		}
		return t.Settings.OnDigest
	}
}

// CheckedAtStart returns the names of the usable watchers that are checked when Dogwatch starts.
func CheckedAtStart(components *component.Manager) []string {
	var names []string
	for _, w := range components.Watchers() {
		if w.Usable() && w.Settings.WatchAtStart {
			names = append(names, w.Name)
		}
	}
	return names
}

// TestRunner returns what runs tests of components; used reports whether a known
// container has its image from a host. links are those of sample messages.
func TestRunner(
	components *component.Manager, used func(host string) bool, links dispatch.SignedLinks, devices *webpush.Devices,
	log hclog.Logger,
) *testrun.Runner {
	fit := func(c *component.Trigger) dispatch.Trigger { return dispatchTrigger(c, label.Options{}, devices) }
	return testrun.New(testrun.Options{
		Components: components,
		Trigger:    fit,
		Updaters:   updaters(components),
		Used:       used,
		Links:      links,
		Log:        log,
	})
}

// updaters returns the watchers that can replace containers.
func updaters(components *component.Manager) func() []testrun.Updater {
	return func() (all []testrun.Updater) {
		for _, w := range components.Watchers() {
			if w.Can(kind.CapUpdate) {
				all = append(all, w)
			}
		}
		return all
	}
}

// Subscribers waits until every component is configured and returns the triggers that take a state stream.
func Subscribers(components *component.Manager) func(context.Context) []statestream.Subscriber {
	return func(ctx context.Context) []statestream.Subscriber {
		var all []statestream.Subscriber
		if components.AwaitListed(ctx) != nil {
			return nil
		}
		for _, c := range components.Triggers() {
			if slices.Contains(c.Capabilities, kind.CapStateStream) {
				all = append(all, statestream.Subscriber{
					ID: c.ID(), Component: c, MayRun: slices.Contains(c.Capabilities, kind.CapRun),
					MayDecide: slices.Contains(c.Capabilities, kind.CapDecide), Usable: c.Usable, Subscribe: c.Subscribe,
				})
			}
		}
		return all
	}
}

// RunNow has the dispatcher run a trigger on a stored container, as a user may, at the
// request of a subscriber.
func RunNow(d *dispatch.Dispatcher, s Containers) func(ctx context.Context, by, triggerID, containerID string) error {
	return func(ctx context.Context, by, triggerID, containerID string) error {
		c, known := s.ByID(containerID)
		if !known {
			return fmt.Errorf("container %s: %w", containerID, sdk.ErrNotFound)
		}
		return d.RunNow(ctx, triggerID, []sdk.Container{c}, dispatch.ManualRun{Actor: by})
	}
}

// snoozedFor is how long a snooze of a subscriber lasts, which cannot say that.
const snoozedFor = 7 * 24 * time.Hour

// Decide stores what a user of a subscriber's system decided about the update of a container.
func Decide(
	choices *choice.Choices, s Containers, now func() time.Time,
) func(ctx context.Context, by, containerID, action string) error {
	return func(ctx context.Context, by, containerID, action string) error {
		c, known := s.ByID(containerID)
		switch {
		case !known:
			return fmt.Errorf("container %s: %w", containerID, sdk.ErrNotFound)
		case !c.UpdateAvailable:
			return fmt.Errorf("%s %s: there is no update", action, event.Subject(c))
		}
		key, until := update.KeyOf(&c), time.Time{}
		if action == trigger.ActionSnooze {
			key, until = update.Key{}, now().Add(snoozedFor)
		}
		return choices.Choose(ctx, "trigger "+by, event.Subject(c), key, choice.Kind(action), until)
	}
}
