//go:build unix

package plugin

import (
	"context"
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// changes is a state stream of these changes.
type changes chan trigger.Change

func (c changes) Next(ctx context.Context) (trigger.Change, error) {
	select {
	case change := <-c:
		return change, nil
	case <-ctx.Done():
		return trigger.Change{}, ctx.Err()
	}
}

func (c changes) Run(context.Context, string, string) error { return nil }

// subscribed subscribes until the subscriber has received its first change. A
// process that has just exited may be called once more.
func subscribed(ctx context.Context, t *testing.T, in TriggerHandle) (stream changes, ended chan error) {
	t.Helper()
	eventually(t, "it subscribes", func() bool {
		stream, ended = make(changes), make(chan error, 1)
		go func(stream changes, ended chan<- error) { ended <- in.Subscribe(ctx, stream) }(stream, ended)
		select {
		case stream <- trigger.Change{All: true}:
			return true
		case err := <-ended:
			if !errors.Is(err, sdk.ErrUnavailable) {
				t.Fatal(err)
			}
			return false
		}
	})
	return stream, ended
}

func TestSubscribeEndsWithItsProcessOrItsContext(t *testing.T) {
	h := newHost(t, testOptions(t))
	in, err := configureTrigger(t, h, "trigger.act.main", nil)
	must(t, err)
	for range 3 {
		stream, ended := subscribed(t.Context(), t, in)
		stream <- trigger.Change{Put: []sdk.Container{{ID: "1"}}}
		if err := <-ended; !Exited(err) {
			t.Fatalf("the process exited, and Subscribe returned %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, ended := subscribed(ctx, t, in)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
