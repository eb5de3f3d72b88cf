package mqtt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const (
	statusTopic = "wud/container/status"
	nginxTopic  = "wud/container/local/nginx"
	nginxConfig = "homeassistant/update/wud_container_local_nginx/config"
	updates     = "wud/container/update_count"
)

// checked sends that a check begins and ends, and waits until that was published.
func (i *instance) checked(o *mqtttest.Observer) {
	i.t.Helper()
	i.send(trigger.Change{Watchers: []trigger.WatcherState{{Name: "local", Checking: true}}})
	o.UntilHolds("wud/container/local/running", "true")
	i.send(trigger.Change{Watchers: []trigger.WatcherState{{Name: "local"}}})
	o.UntilHolds("wud/container/local/running", "false")
}

// What the broker holds is the same as with WUD, topic by topic.
func TestSubscribePublishesTheState(t *testing.T) {
	upToDate := named("2", "my.app")
	upToDate.UpdateAvailable, upToDate.UpdateKind, upToDate.Result = false, sdk.UpdateKind{}, nil
	upToDate.DisplayIcon = "si-redis"
	for name, test := range map[string]struct {
		options map[string]any
		topics  int
	}{
		"plain": {nil, 2},
		"hass":  {map[string]any{"hass.enabled": "true"}, 20},
		"install": {map[string]any{
			"hass.enabled": "true", "hass.install": "Docker.Local", "hass.prefix": "ha", "topic": "home",
		}, 20},
		"decide": {map[string]any{"hass.enabled": "true", "hass.decide": "true"}, 23},
		"values": {map[string]any{"hass.enabled": "true", "hass.discovery": "false", "exclude": "labels_*,image_*"}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFake(t)
			o := mqtttest.Observe(t, b.URL())
			i := subscribe(t, with(map[string]any{"url": b.URL()}, test.options))
			i.send(all(named("1", "nginx"), upToDate))
			o.Until("all is there", func(retained map[string]string, _ []string) bool { return len(retained) == test.topics })
			var text strings.Builder
			for _, topic := range slices.Sorted(maps.Keys(o.Topics())) {
				fmt.Fprintf(&text, "%s\n%s\n", topic, o.Topics()[topic])
			}
			golden.Check(t, "stream-"+name+".txt", text.String())
		})
	}
}

func TestSubscribePublishesOnlyChanges(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		const many = 50
		o := mqtttest.Observe(t, b.URL())
		var cs []sdk.Container
		for n := range many {
			cs = append(cs, named(fmt.Sprint("id", n), fmt.Sprint("app", n)))
		}
		i := subscribe(t, withHass(b.URL()))
		i.send(all(cs...))
		untilPublished(o, many)
		// Two for each container, and for the connection; two times three counts, each with its discovery; what the
		// watcher does.
		if got, want := o.Count(), 2*many+2+12+2; got != want {
			t.Errorf("%d messages at first, want %d", got, want)
		}
		i.checked(o)
		if got := o.Count(); got != 2 {
			t.Errorf("%d messages for a check that found nothing, want 2", got)
		}
		changed := cs[7]
		same := cs[8]
		same.Check.At = sdk.Time{}
		changed.Status = "exited"
		i.send(trigger.Change{Put: []sdk.Container{changed, same}})
		i.checked(o)
		if got := o.Count(); got != 3 {
			t.Errorf("%d messages when a container has stopped, want 3", got)
		}
		changed.UpdateAvailable, changed.UpdateKind, changed.Result = false, sdk.UpdateKind{}, nil
		i.send(trigger.Change{Put: []sdk.Container{changed}})
		i.checked(o)
		// Its state and, as the link to the release is gone, its discovery; two counts of updates.
		if got := o.Count(); got != 6 {
			t.Errorf("%d messages when a container is up to date, want 6", got)
		}
	})
}

func TestSubscribeClearsRemovedContainers(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		o := mqtttest.Observe(t, b.URL())
		// What an earlier process, or WUD, has left behind.
		o.Say("wud/container/local/old-one", `{"name":"old.one"}`, true)
		o.Say("homeassistant/update/wud_container_local_old-one/config", `{}`, true)
		o.Say("wud/container/elsewhere/app", "of another Dogwatch", true)
		i := subscribe(t, withHass(b.URL()))
		first := all(named("1", "nginx"), named("2", "redis"))
		first.Removed = []sdk.Container{named("0", "old.one"), named("9", "redis")}
		i.send(first)
		untilPublished(o, 2)
		o.UntilHolds("wud/container/local/old-one", "")
		o.UntilHolds("homeassistant/update/wud_container_local_old-one/config", "")
		o.UntilHolds("wud/container/elsewhere/app", "of another Dogwatch")
		o.UntilHas("wud/container/local/redis", `"id":"2"`)

		i.send(trigger.Change{Removed: []sdk.Container{named("1", "nginx")}})
		untilPublished(o, 1)
		o.UntilHolds(nginxTopic, "")
		o.UntilHolds(nginxConfig, "")

		// One that is made anew keeps its topic, and one that is renamed does not.
		i.send(trigger.Change{
			Removed: []sdk.Container{named("2", "redis")}, Put: []sdk.Container{named("2", "redis.old"), named("3", "redis")},
		})
		untilPublished(o, 2)
		o.UntilHas("wud/container/local/redis", `"id":"3"`)
		o.UntilHas("wud/container/local/redis-old", `"id":"2"`)
		i.send(trigger.Change{Removed: []sdk.Container{named("2", "redis.old"), named("3", "redis")}})
		untilPublished(o, 0)
		o.Until("no container is left", func(retained map[string]string, _ []string) bool {
			return !slices.ContainsFunc(slices.Collect(maps.Keys(retained)), func(topic string) bool {
				return strings.Contains(topic, "redis")
			})
		})
	})
}

func TestSubscribeReconnectsToTheBroker(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		b.Stop()
		i := subscribe(t, withHass(b.URL()))
		if err := i.Run(t.Context(), triggertest.Request("nginx")); !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("a delivery while the broker is away: %v", err)
		}
		b.Start()
		i.send(all(named("1", "nginx")))
		o := mqtttest.Observe(t, b.URL())
		untilPublished(o, 1)

		// It comes back without anything of what it held.
		b.Stop()
		b.Start()
		o = mqtttest.Observe(t, b.URL())
		untilPublished(o, 1)
		o.UntilHolds(statusTopic, online)
		o.UntilHas(nginxTopic, `"id":"1"`)
		o.UntilHas(nginxConfig, `"unique_id"`)
		i.send(trigger.Change{Put: []sdk.Container{named("2", "redis")}})
		untilPublished(o, 2)
		i.stop()
		if n := strings.Count(i.Log.String(), `"@level":"warn"`); n != 1 {
			t.Errorf("%d warnings, want one: %s", n, i.Log)
		}
	})
}

func TestSubscribePublishesAvailability(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		o := mqtttest.Observe(t, b.URL())
		i := subscribe(t, withHass(b.URL()))
		o.UntilHolds(statusTopic, online)
		i.stop()
		o.UntilHolds(statusTopic, offline)
		if err := i.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("last will", func(t *testing.T) {
		b := newFake(t)
		o := mqtttest.Observe(t, b.URL())
		subscribe(t, withHass(b.URL()))
		o.UntilHolds(statusTopic, online)
		b.breakSubscribers()
		o.Until("it goes offline and comes back", func(_ map[string]string, received []string) bool {
			at := slices.Index(received, statusTopic+" "+offline)
			return at >= 0 && slices.Contains(received[at:], statusTopic+" "+online)
		})
	})
	t.Run("not without Home Assistant", func(t *testing.T) {
		b := newFake(t)
		o := mqtttest.Observe(t, b.URL())
		i := subscribe(t, map[string]any{"url": b.URL()})
		i.send(all(named("1", "nginx")))
		o.UntilHas(nginxTopic, "nginx")
		i.stop()
		if got := o.Count(); got != 1 {
			t.Errorf("%d messages, want 1", got)
		}
	})
}

func TestHomeAssistantBirthPublishesEverything(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		o := mqtttest.Observe(t, b.URL())
		o.Say("homeassistant/status", online, true) // it was there before
		i := subscribe(t, withHass(b.URL()))
		i.send(all(named("1", "nginx")))
		untilPublished(o, 1)
		i.checked(o)
		o.Count()
		o.Say("homeassistant/status", "offline", false)
		i.checked(o)
		if got := o.Count(); got != 3 {
			t.Errorf("%d messages, want what this test says, and that the watcher checked", got)
		}
		o.Say("homeassistant/status", online, false)
		o.Until("everything is published again", func(_ map[string]string, received []string) bool {
			return slices.ContainsFunc(received, func(m string) bool { return strings.HasPrefix(m, nginxConfig+" ") }) &&
				slices.ContainsFunc(received, func(m string) bool { return strings.HasPrefix(m, "wud/container/local/running ") })
		})
		if got, want := o.Count(), 1+2+2+12+2; got != want {
			t.Errorf("%d messages, want %d", got, want)
		}
	})
}

func TestInstall(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		o := mqtttest.Observe(t, b.URL())
		type call struct {
			trigger, container string
			end                chan error
		}
		calls := make(chan call, 10)
		i := subscribe(t, with(withHass(b.URL()), map[string]any{"hass.install": "Docker.local"}))
		i.stream.run = func(ctx context.Context, triggerID, containerID string) error {
			c := call{triggerID, containerID, make(chan error)}
			calls <- c
			select {
			case err := <-c.end:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		i.send(all(named("1", "nginx"), named("2", "my.app")))
		untilPublished(o, 2)
		o.Say("wud/container/local/my-app/install", "install", false) // which is not what the button says
		o.Say("wud/container/local/nosuch/install", install, false)
		for range 3 {
			o.Say(nginxTopic+"/install", install, false)
		}
		o.Say("wud/container/local/my-app/install", install, false)
		first := <-calls
		if first.trigger != "docker.local" || first.container != "1" {
			t.Errorf("ran %s on %s", first.trigger, first.container)
		}
		o.UntilHas(nginxTopic, `"in_progress":true`)
		o.UntilHas("wud/container/local/my-app", `"in_progress":true`) // it waits for its turn
		// The update gives the container another id.
		updated := named("3", "nginx")
		updated.UpdateAvailable = false
		i.send(trigger.Change{Removed: []sdk.Container{named("1", "nginx")}, Put: []sdk.Container{updated}})
		o.UntilHas(nginxTopic, `"id":"3"`)
		o.UntilHas(nginxTopic, `"in_progress":true`)
		if len(calls) != 0 {
			t.Error("two updates at a time")
		}
		first.end <- nil
		second := <-calls
		if second.container != "2" {
			t.Errorf("ran on %s", second.container)
		}
		second.end <- errors.New("fails by request")
		// Home Assistant hears why.
		o.UntilHas("wud/container/local/my-app",
			`"install_error":"fails by request","release_summary":"Install failed: fails by request"`)
		o.Until("no update is under way", func(retained map[string]string, _ []string) bool {
			return !strings.Contains(retained[nginxTopic]+retained["wud/container/local/my-app"], "in_progress")
		})
		o.Say(nginxTopic+"/install", install, false)
		if again := <-calls; again.container != "3" {
			t.Errorf("ran on %s", again.container)
		}
		i.stop() // which does not wait for the update
		if len(calls) != 0 {
			t.Error("an update without a command")
		}
	})
}

// TestOperationsOfOthersAreShown: an update that was begun elsewhere is in progress too,
// also while its container has no id that is known.
func TestOperationsOfOthersAreShown(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		o := mqtttest.Observe(t, b.URL())
		i := subscribe(t, withHass(b.URL()))
		state := func(running bool, percent int) trigger.Change {
			return trigger.Change{
				Operations: []trigger.OperationState{{Watcher: "local", Name: "nginx", Running: running, Percent: percent}},
			}
		}
		i.send(all(named("1", "nginx"), named("2", "my.app")))
		untilPublished(o, 2)
		i.send(state(true, 0))
		o.UntilHas(nginxTopic, `"in_progress":true,"update_percentage":0`)
		i.send(trigger.Change{Removed: []sdk.Container{named("1", "nginx")}})
		i.send(trigger.Change{Put: []sdk.Container{named("3", "nginx")}})
		i.send(state(true, 60))
		o.UntilHas(nginxTopic, `"in_progress":true,"update_percentage":60`)
		i.send(state(true, -1)) // it returns to the old container
		o.Until("the percentage is not known", func(retained map[string]string, _ []string) bool {
			return strings.Contains(retained[nginxTopic], `"in_progress":true`) &&
				!strings.Contains(retained[nginxTopic], "update_percentage")
		})
		i.send(state(false, 0))
		o.Until("no update is under way", func(retained map[string]string, _ []string) bool {
			return retained[nginxTopic] != "" &&
				!strings.Contains(retained[nginxTopic]+retained["wud/container/local/my-app"], "in_progress")
		})
		i.stop()
	})
}

// A command that the broker retains is ignored at every new connection.
func TestInstallIgnoresRetainedCommands(t *testing.T) {
	b := newFake(t)
	o := mqtttest.Observe(t, b.URL())
	calls := make(chan string, 10)
	i := subscribe(t, with(withHass(b.URL()), map[string]any{"hass.install": "docker.local"}))
	i.stream.run = func(_ context.Context, _, containerID string) error {
		calls <- containerID
		return nil
	}
	i.send(all(named("1", "nginx")))
	untilPublished(o, 1)
	o.Say(nginxTopic+"/install", install, true)
	<-calls
	b.breakSubscribers()
	o.Until("it comes back", func(_ map[string]string, received []string) bool {
		at := slices.Index(received, statusTopic+" "+offline)
		return at >= 0 && slices.Contains(received[at:], statusTopic+" "+online)
	})
	i.checked(o)
	if len(calls) != 0 {
		t.Error("the press is repeated")
	}
}

// A delivery that comes late does not undo what is newer.
func TestRunDuringSubscribe(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		o := mqtttest.Observe(t, b.URL())
		i := subscribe(t, withHass(b.URL()))
		now := triggertest.Container("nginx")
		now.Status = "exited"
		i.send(all(now))
		untilPublished(o, 1)
		o.UntilHas(nginxTopic, `"status":"exited"`)
		o.Count()
		if err := i.Run(t.Context(), triggertest.Request("nginx")); err != nil {
			t.Fatal(err)
		}
		o.Until("the delivery arrives, and then what is true", func(retained map[string]string, received []string) bool {
			return len(received) == 2 && strings.Contains(received[0], `"status":"running"`) &&
				strings.Contains(received[1], `"status":"exited"`)
		})
		gone := triggertest.Request("redis")
		if err := i.Run(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		o.Until("the delivery of what is gone arrives, and is cleared",
			func(retained map[string]string, received []string) bool {
				return len(received) == 4 && retained["wud/container/local/redis"] == ""
			})
	})
}

// BenchmarkChange is what one change of 200 containers costs when the broker has the rest.
func BenchmarkChange(b *testing.B) {
	m, err := New(sdk.Env{}, Options{
		URL: mustURL("mqtt://broker"), Topic: "wud/container", Hass: Hass{Enabled: true, Prefix: "homeassistant"},
	})
	if err != nil {
		b.Fatal(err)
	}
	sub := &subscription{
		mqtt: m, known: true, cards: map[string]*card{}, watchers: map[string]trigger.WatcherState{"local": {Name: "local"}},
	}
	for n := range 200 {
		c := triggertest.Container(fmt.Sprint("app", n))
		c.ID = fmt.Sprint(n)
		sub.cards[c.ID] = &card{Container: c}
	}
	b.ReportAllocs()
	for b.Loop() {
		sub.cards["7"] = &card{Container: sub.cards["7"].Container}
		for _, message := range sub.desired() {
			sub.retained.hash(message)
		}
	}
}
