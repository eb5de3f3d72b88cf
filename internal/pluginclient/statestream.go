package pluginclient

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/protocol"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxRuns is how many runs of other triggers a follower may wait for at a time;
// what else it says waits too then.
const maxRuns = 16

// Follow keeps the instance informed of w until ctx ends, the instance is
// replaced or released (then the error is an sdk.ErrUnavailable) or the
// instance gives up. One that does not follow is an sdk.ErrUnsupported.
func (t TriggerClient) Subscribe(ctx context.Context, w trigger.StateStream) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := t.client.Follow(ctx)
	if err != nil {
		return err
	}
	l := &leader{
		world: w, stop: cancel, wanted: make(chan struct{}, 1), free: make(chan struct{}, maxRuns),
		out: protocol.NewSender(stream.Send),
	}
	l.out.Send(&pluginv1.FollowRequest{Instance: t.id})
	var wait sync.WaitGroup
	wait.Go(func() { l.tell(ctx) })
	err = l.hear(ctx, stream, &wait)
	cancel(err)
	wait.Wait()
	var broken worldError
	if errors.As(context.Cause(ctx), &broken) {
		return broken.error
	}
	return err
}

// leader is the host's side of a follower.
type leader struct {
	world  trigger.StateStream
	out    *protocol.Sender[*pluginv1.FollowRequest]
	stop   context.CancelCauseFunc
	wanted chan struct{} // one change, to be told
	free   chan struct{} // holds an entry for each run under way
}

// worldError marks an error of the host's own world.
type worldError struct{ error }

// tell sends a change whenever the follower wants one.
func (l *leader) tell(ctx context.Context) {
	for {
		select {
		case <-l.wanted:
		case <-ctx.Done():
			return
		}
		c, err := l.world.Next(ctx)
		if err != nil {
			l.stop(worldError{err})
			return
		}
		l.out.Send(&pluginv1.FollowRequest{Change: protocol.EncodeChange(c)})
	}
}

// hear does what the follower asks for until the stream ends.
func (l *leader) hear(ctx context.Context, stream grpc.BidiStreamingClient[pluginv1.FollowRequest, pluginv1.FollowResponse], wait *sync.WaitGroup) error {
	return receive(stream, nil, func(m *pluginv1.FollowResponse) {
		if m.GetNext() {
			select {
			case l.wanted <- struct{}{}:
			default: // it has asked for one already
			}
		}
		if r := m.GetRun(); r != nil {
			select {
			case l.free <- struct{}{}:
				wait.Go(func() { l.run(ctx, r) })
			case <-ctx.Done():
			}
		}
	})
}

// run runs a trigger and tells how that ended.
func (l *leader) run(ctx context.Context, r *pluginv1.AskRun) {
	defer func() { <-l.free }()
	ran := &pluginv1.Ran{Id: r.GetId()}
	if err := l.world.Run(ctx, r.GetTrigger(), r.GetContainerId()); err != nil {
		ran.Error = protocol.Clip(err.Error())
	}
	l.out.Send(&pluginv1.FollowRequest{Ran: ran})
}
