package pluginserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Follow serves a subscription: on the wire it has the name that it had in SDK 1.0.0.
func (s *Server) Follow(stream pluginv1.Trigger_FollowServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	return serving(s, first.GetInstance(), func(i *instance, t trigger.Subscriber) error {
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		defer context.AfterFunc(i.ctx, cancel)()

		state := newStateStream(stream)
		defer state.out.Close()
		// It ends when this call has, for only then nothing is received any more.
		s.receivers.Go(func() { state.receive(stream) })
		err := t.Subscribe(ctx, state)
		if i.ctx.Err() != nil && stream.Context().Err() == nil {
			return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s was configured anew; follow again", i.id))
		}
		return err
	})
}

// stateStream is the trigger.StateStream of a subscriber, over the stream of its call.
type stateStream struct {
	out     *protocol.Sender[*pluginv1.FollowResponse]
	changes chan *pluginv1.Change // has room for the one that was requested
	closed  chan struct{}         // closed when the host's side has ended
	pending atomic.Bool           // a change was requested and has not been taken yet

	mu    sync.Mutex
	runs  map[int64]chan error
	runID int64 // the latest
}

func newStateStream(stream pluginv1.Trigger_FollowServer) *stateStream {
	return &stateStream{
		out:     protocol.NewSender(stream.Send),
		changes: make(chan *pluginv1.Change, 1), closed: make(chan struct{}), runs: map[int64]chan error{},
	}
}

// receive takes the host's messages until the stream ends.
func (s *stateStream) receive(stream pluginv1.Trigger_FollowServer) {
	defer close(s.closed)
	for {
		m, err := stream.Recv()
		if err != nil {
			return
		}
		if c := m.GetChange(); c != nil {
			select {
			case s.changes <- c:
			default: // it was not requested
			}
		}
		if r := m.GetRan(); r != nil {
			s.finish(r)
		}
	}
}

// errClosed ends a subscriber that did not notice by its context that the host is gone.
var errClosed = errors.New("the host has ended the call")

// Next implements trigger.StateStream. A change that a caller did not wait for is the next one's.
func (s *stateStream) Next(ctx context.Context) (trigger.Change, error) {
	if s.pending.CompareAndSwap(false, true) {
		s.out.Send(&pluginv1.FollowResponse{Next: true})
	}
	select {
	case c := <-s.changes:
		s.pending.Store(false)
		return protocol.DecodeChange(c), nil
	case <-ctx.Done():
		return trigger.Change{}, ctx.Err()
	case <-s.closed:
		return trigger.Change{}, errClosed
	}
}

// Run implements trigger.StateStream.
func (s *stateStream) Run(ctx context.Context, triggerID, containerID string) error {
	return s.request(ctx, &pluginv1.AskRun{Trigger: triggerID, ContainerId: containerID})
}

// Decide implements trigger.Decider.
func (s *stateStream) Decide(ctx context.Context, containerID, action string) error {
	return s.request(ctx, &pluginv1.AskRun{ContainerId: containerID, Decision: action})
}

// request has the host do something, and waits for the result.
func (s *stateStream) request(ctx context.Context, run *pluginv1.AskRun) error {
	if err := ctx.Err(); err != nil {
		return err // the host is not asked for what nobody waits for
	}
	result := make(chan error, 1)
	s.mu.Lock()
	s.runID++
	id := s.runID
	s.runs[id] = result
	s.mu.Unlock()
	run.Id = id
	s.out.Send(&pluginv1.FollowResponse{Run: run})
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.runs, id)
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return errClosed
	}
}

// finish hands a result to the Run that waits for it, if one still does.
func (s *stateStream) finish(r *pluginv1.Ran) {
	s.mu.Lock()
	result := s.runs[r.GetId()]
	delete(s.runs, r.GetId())
	s.mu.Unlock()
	if result == nil {
		return
	}
	if text := r.GetError(); text != "" {
		result <- errors.New(text)
		return
	}
	result <- nil
}
