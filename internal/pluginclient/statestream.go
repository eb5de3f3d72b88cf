package pluginclient

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/internal/wake"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxRuns is how many runs of other triggers a subscriber may wait for at a time;
// its other requests wait too then.
const maxRuns = 16

// Subscribe sends the state to the instance until ctx ends, the instance is
// replaced or released (then the error is an sdk.ErrUnavailable), the instance
// returns or state fails. An instance that is no trigger.Subscriber is an sdk.ErrUnsupported.
func (t TriggerClient) Subscribe(ctx context.Context, state trigger.StateStream) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := t.client.Follow(ctx)
	if err != nil {
		return err
	}
	p := &publisher{
		state: state, stop: cancel, wanted: wake.New(), runs: make(chan struct{}, maxRuns),
		out: protocol.NewSender(stream.Send),
	}
	p.out.Send(&pluginv1.FollowRequest{Instance: t.id})
	var wait sync.WaitGroup
	wait.Go(func() { p.publish(ctx) })
	err = p.serve(ctx, stream, &wait)
	cancel(err)
	wait.Wait()
	var failed stateError
	if errors.As(context.Cause(ctx), &failed) {
		return failed.error
	}
	return err
}

// publisher is the host's side of a subscription.
type publisher struct {
	state  trigger.StateStream
	out    *protocol.Sender[*pluginv1.FollowRequest]
	stop   context.CancelCauseFunc
	wanted wake.Signal   // has an entry when the subscriber waits for a change
	runs   chan struct{} // holds an entry for each run under way
}

// stateError marks an error of the host's own state stream.
type stateError struct{ error }

// publish sends one change each time the subscriber requests one.
func (p *publisher) publish(ctx context.Context) {
	for {
		select {
		case <-p.wanted:
		case <-ctx.Done():
			return
		}
		c, err := p.state.Next(ctx)
		if err != nil {
			p.stop(stateError{err})
			return
		}
		p.out.Send(&pluginv1.FollowRequest{Change: protocol.EncodeChange(c)})
	}
}

// serve handles the subscriber's requests until the stream ends.
func (p *publisher) serve(
	ctx context.Context, stream grpc.BidiStreamingClient[pluginv1.FollowRequest, pluginv1.FollowResponse],
	wait *sync.WaitGroup,
) error {
	return receive(stream, nil, func(m *pluginv1.FollowResponse) {
		if m.GetNext() {
			p.wanted.Set()
		}
		if r := m.GetRun(); r != nil {
			select {
			case p.runs <- struct{}{}:
				wait.Go(func() { p.run(ctx, r) })
			case <-ctx.Done():
			}
		}
	})
}

// run runs a trigger, or decides about an update, and sends the result.
func (p *publisher) run(ctx context.Context, r *pluginv1.AskRun) {
	defer func() { <-p.runs }()
	result := &pluginv1.Ran{Id: r.GetId()}
	if err := p.perform(ctx, r); err != nil {
		result.Error = protocol.Clip(err.Error())
	}
	p.out.Send(&pluginv1.FollowRequest{Ran: result})
}

func (p *publisher) perform(ctx context.Context, r *pluginv1.AskRun) error {
	if r.GetDecision() == "" {
		return p.state.Run(ctx, r.GetTrigger(), r.GetContainerId())
	}
	decider, can := p.state.(trigger.Decider)
	if !can {
		return errors.New("this host does not let subscribers decide about updates")
	}
	return decider.Decide(ctx, r.GetContainerId(), r.GetDecision())
}
