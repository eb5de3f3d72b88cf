package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func (s *server) Follow(stream pluginv1.Trigger_FollowServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	return serving(s, first.GetInstance(), func(i *instance, f trigger.Follower) error {
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		defer context.AfterFunc(i.ctx, cancel)()

		w := newWorld(stream)
		defer w.out.close()
		// It ends when this call has, for only then nothing is received any more.
		s.readers.Go(func() { w.read(stream) })
		err := f.Follow(ctx, w)
		if i.ctx.Err() != nil && stream.Context().Err() == nil {
			return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s was configured anew; follow again", i.id))
		}
		return err
	})
}

// world is the trigger.World of a follower: it asks the host over the stream.
type world struct {
	out     *outlet[*pluginv1.FollowResponse]
	changes chan *pluginv1.Change // room for the one that was asked for
	over    chan struct{}         // closed when the host says nothing more
	asked   atomic.Bool           // for a change that has not been taken yet

	mu   sync.Mutex
	runs map[int64]chan error
	last int64 // id of the latest run
}

func newWorld(stream pluginv1.Trigger_FollowServer) *world {
	return &world{
		out:     &outlet[*pluginv1.FollowResponse]{emit: stream.Send},
		changes: make(chan *pluginv1.Change, 1), over: make(chan struct{}), runs: map[int64]chan error{},
	}
}

// read takes what the host says until the stream ends.
func (w *world) read(stream pluginv1.Trigger_FollowServer) {
	defer close(w.over)
	for {
		m, err := stream.Recv()
		if err != nil {
			return
		}
		if c := m.GetChange(); c != nil {
			select {
			case w.changes <- c:
			default: // nobody asked for it
			}
		}
		if r := m.GetRan(); r != nil {
			w.ended(r)
		}
	}
}

// errOver ends a follower that did not notice by its context that the host is gone.
var errOver = errors.New("the host has ended the call")

func (w *world) Next(ctx context.Context) (trigger.Change, error) {
	if w.asked.CompareAndSwap(false, true) {
		w.out.send(&pluginv1.FollowResponse{Next: true})
	}
	select {
	case c := <-w.changes:
		w.asked.Store(false)
		return sdkChange(c), nil
	case <-ctx.Done():
		return trigger.Change{}, ctx.Err()
	case <-w.over:
		return trigger.Change{}, errOver
	}
}

func (w *world) Run(ctx context.Context, triggerID, containerID string) error {
	answer := make(chan error, 1)
	w.mu.Lock()
	w.last++
	id := w.last
	w.runs[id] = answer
	w.mu.Unlock()
	w.out.send(&pluginv1.FollowResponse{Run: &pluginv1.AskRun{Id: id, Trigger: triggerID, ContainerId: containerID}})
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.runs, id)
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.over:
		return errOver
	}
}

// ended gives the answer to the Run that waits for it, if one still does.
func (w *world) ended(r *pluginv1.Ran) {
	w.mu.Lock()
	answer := w.runs[r.GetId()]
	delete(w.runs, r.GetId())
	w.mu.Unlock()
	if answer == nil {
		return
	}
	if text := r.GetError(); text != "" {
		answer <- errors.New(text)
		return
	}
	answer <- nil
}

// maxRuns is how many runs of other triggers a follower may wait for at a time;
// what else it says waits too then.
const maxRuns = 16

// Follow keeps the instance informed of w until ctx ends, the instance is
// replaced or released (then the error is an sdk.ErrUnavailable) or the
// instance gives up. One that does not follow is an sdk.ErrUnsupported.
func (t TriggerClient) Follow(ctx context.Context, w trigger.World) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := t.client.Follow(ctx)
	if err != nil {
		return err
	}
	l := &leader{
		world: w, stop: cancel, wanted: make(chan struct{}, 1), free: make(chan struct{}, maxRuns),
		out: &outlet[*pluginv1.FollowRequest]{emit: stream.Send},
	}
	l.out.send(&pluginv1.FollowRequest{Instance: t.id})
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
	world  trigger.World
	out    *outlet[*pluginv1.FollowRequest]
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
		l.out.send(&pluginv1.FollowRequest{Change: wireChange(c)})
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
		ran.Error = clip(err.Error())
	}
	l.out.send(&pluginv1.FollowRequest{Ran: ran})
}
