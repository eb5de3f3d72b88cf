package mqtt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// maxWait bounds every wait of these tests. A wait reaches it only in a failure.
const maxWait = 30 * time.Second

// stream is the host's side of a subscription.
type stream struct {
	changes chan trigger.Change
	run     func(ctx context.Context, triggerID, containerID string) error
	decide  func(containerID, action string) error
}

func (s *stream) Decide(_ context.Context, containerID, action string) error {
	return s.decide(containerID, action)
}

func (s *stream) Next(ctx context.Context) (trigger.Change, error) {
	select {
	case c := <-s.changes:
		return c, nil
	case <-ctx.Done():
		return trigger.Change{}, ctx.Err()
	}
}

func (s *stream) Run(ctx context.Context, triggerID, containerID string) error {
	return s.run(ctx, triggerID, containerID)
}

// instance is a trigger in a plugin that subscribes to a stream.
type instance struct {
	t *testing.T
	plugintest.TriggerInstance
	stream *stream
	// stop ends it, as the end of the host does.
	stop func()
}

// subscribe starts an instance with a state stream.
func subscribe(t *testing.T, options map[string]any) *instance {
	t.Helper()
	i := &instance{t: t, stream: &stream{changes: make(chan trigger.Change)}}
	i.stream.run = func(context.Context, string, string) error { return errors.New("nothing is to be run here") }
	i.stream.decide = func(string, string) error { return errors.New("nothing is to be decided here") }
	i.TriggerInstance = plugintest.Trigger(t, Type(), options)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Subscribe(ctx, i.stream) }()
	i.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Subscribe returned %v", err)
		}
	})
	t.Cleanup(i.stop)
	return i
}

func (i *instance) send(c trigger.Change) {
	i.t.Helper()
	select {
	case i.stream.changes <- c:
	case <-time.After(maxWait):
		i.t.Fatal("the change is not received")
	}
}

// with returns options with more of them.
func with(options map[string]any, more map[string]any) map[string]any {
	all := maps.Clone(options)
	maps.Copy(all, more)
	return all
}

func withHass(url string) map[string]any {
	return map[string]any{"url": url, "hass.enabled": "true"}
}

// named returns a container with an id of its own.
func named(id, name string) sdk.Container {
	c := triggertest.Container(name)
	c.ID = id
	return c
}

func all(cs ...sdk.Container) trigger.Change {
	return trigger.Change{All: true, Put: cs, Watchers: []trigger.WatcherState{{Name: "local"}}}
}

// untilPublished waits until the totals show that a number of containers has been published.
func untilPublished(o *mqtttest.Observer, containers int) {
	o.UntilHolds("wud/container/total_count", fmt.Sprint(containers))
	o.UntilHolds("wud/container/local/running", "false") // which comes last
}
