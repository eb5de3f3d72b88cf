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

// patience bounds every wait of these tests; nothing waits this long unless something is broken.
const patience = 30 * time.Second

// world is the host's side of a follower.
type world struct {
	changes chan trigger.Change
	run     func(ctx context.Context, triggerID, containerID string) error
}

func (w *world) Next(ctx context.Context) (trigger.Change, error) {
	select {
	case c := <-w.changes:
		return c, nil
	case <-ctx.Done():
		return trigger.Change{}, ctx.Err()
	}
}

func (w *world) Run(ctx context.Context, triggerID, containerID string) error {
	return w.run(ctx, triggerID, containerID)
}

// instance is a trigger in a plugin that follows a world.
type instance struct {
	t *testing.T
	plugintest.TriggerInstance
	world *world
	// stop ends it, as the end of the host does.
	stop func()
}

// follow starts an instance that follows.
func follow(t *testing.T, options map[string]any) *instance {
	t.Helper()
	i := &instance{t: t, world: &world{changes: make(chan trigger.Change)}}
	i.world.run = func(context.Context, string, string) error { return errors.New("nothing is to be run here") }
	i.TriggerInstance = plugintest.Trigger(t, Type(), options)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Subscribe(ctx, i.world) }()
	i.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Subscribe returned %v", err)
		}
	})
	t.Cleanup(i.stop)
	return i
}

func (i *instance) tell(c trigger.Change) {
	i.t.Helper()
	select {
	case i.world.changes <- c:
	case <-time.After(patience):
		i.t.Fatal("nobody wants to know what changes")
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

// told waits until the sums show that a number of containers has been published.
func told(o *mqtttest.Observer, containers int) {
	o.UntilHolds("wud/container/total_count", fmt.Sprint(containers))
	o.UntilHolds("wud/container/local/running", "false") // which comes last
}
