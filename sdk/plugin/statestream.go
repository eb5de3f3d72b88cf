package plugin

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

func (s *server) Follow(stream pluginv1.Trigger_FollowServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	return serving(s, first.GetInstance(), func(i *instance, f trigger.Subscriber) error {
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		defer context.AfterFunc(i.ctx, cancel)()

		w := newWorld(stream)
		defer w.out.Close()
		// It ends when this call has, for only then nothing is received any more.
		s.readers.Go(func() { w.read(stream) })
		err := f.Subscribe(ctx, w)
		if i.ctx.Err() != nil && stream.Context().Err() == nil {
			return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s was configured anew; follow again", i.id))
		}
		return err
	})
}

// world is the trigger.StateStream of a follower: it asks the host over the stream.
type world struct {
	out     *protocol.Sender[*pluginv1.FollowResponse]
	changes chan *pluginv1.Change // room for the one that was asked for
	over    chan struct{}         // closed when the host says nothing more
	asked   atomic.Bool           // for a change that has not been taken yet

	mu   sync.Mutex
	runs map[int64]chan error
	last int64 // id of the latest run
}

func newWorld(stream pluginv1.Trigger_FollowServer) *world {
	return &world{
		out:     protocol.NewSender(stream.Send),
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
		w.out.Send(&pluginv1.FollowResponse{Next: true})
	}
	select {
	case c := <-w.changes:
		w.asked.Store(false)
		return protocol.DecodeChange(c), nil
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
	w.out.Send(&pluginv1.FollowResponse{Run: &pluginv1.AskRun{Id: id, Trigger: triggerID, ContainerId: containerID}})
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
