//go:build unix

package plugin

import (
	"context"
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// changes is a world that tells these changes and then no more.
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

// following follows until the follower has asked for its first change. A
// process that has just died may be found dead once more.
func following(ctx context.Context, t *testing.T, in Trigger) (told changes, ended chan error) {
	t.Helper()
	eventually(t, "it follows", func() bool {
		told, ended = make(changes), make(chan error, 1)
		go func(told changes, ended chan<- error) { ended <- in.Subscribe(ctx, told) }(told, ended)
		select {
		case told <- trigger.Change{All: true}:
			return true
		case err := <-ended:
			if !errors.Is(err, sdk.ErrUnavailable) {
				t.Fatal(err)
			}
			return false
		}
	})
	return told, ended
}

func TestFollowEndsWithItsProcessOrItsContext(t *testing.T) {
	h := newHost(t, testOptions(t))
	in, err := configureTrigger(t, h, "trigger.act.main", nil)
	must(t, err)
	for range 3 {
		told, ended := following(t.Context(), t, in)
		told <- trigger.Change{Put: []sdk.Container{{ID: "1"}}}
		if err := <-ended; !Exited(err) {
			t.Fatalf("the process died, and Follow returned %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, ended := following(ctx, t, in)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
