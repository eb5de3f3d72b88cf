package pluginserver

import (
	"context"
	"errors"
	"sync"

	"github.com/dogwatch/dogwatch/internal/protocol"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func (s *Server) Plan(ctx context.Context, req *pluginv1.PlanRequest) (*pluginv1.PlanResponse, error) {
	return answering(s, req, func(u watcher.Updater) (*pluginv1.PlanResponse, error) {
		plan, err := u.Plan(ctx, protocol.DecodeUpdateRequest(req.GetUpdate()))
		return &pluginv1.PlanResponse{Plan: protocol.EncodePlan(plan)}, err
	})
}

func (s *Server) Update(stream pluginv1.Watcher_UpdateServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	return serving(s, first.GetInstance(), func(_ *instance, u watcher.Updater) error {
		j := &journal{
			responses: make(chan *pluginv1.UpdateRequest, 1), ended: make(chan struct{}), out: protocol.NewSender(stream.Send),
		}
		defer j.out.Close()
		// It ends when this call has, for only then nothing is received any more.
		s.receivers.Go(func() { j.receive(stream) })
		work := u.Apply
		if first.GetRecover() {
			work = u.Recover
		}
		outcome, err := work(stream.Context(), protocol.DecodeOperation(first.GetOperation()), j)
		if err != nil {
			return err
		}
		j.out.Send(&pluginv1.UpdateResponse{Outcome: protocol.EncodeOutcome(outcome)})
		return nil
	})
}

// journal is the watcher.Journal of an update: it has the host store over the stream.
type journal struct {
	out       *protocol.Sender[*pluginv1.UpdateResponse]
	responses chan *pluginv1.UpdateRequest // room for the one that is waited for
	ended     chan struct{}                // closed when the host says nothing more
	mu        sync.Mutex                   // one step at a time
}

// receive takes the responses of the host until the stream ends.
func (j *journal) receive(stream pluginv1.Watcher_UpdateServer) {
	defer close(j.ended)
	for {
		m, err := stream.Recv()
		if err != nil {
			return
		}
		select {
		case j.responses <- m:
		default: // it answers nothing
		}
	}
}

// Begin implements watcher.Journal.
func (j *journal) Begin(ctx context.Context, s watcher.Step) error {
	return j.store(ctx, &pluginv1.UpdateResponse{Begin: protocol.EncodeStep(s)})
}

// End implements watcher.Journal.
func (j *journal) End(ctx context.Context, s watcher.Step, facts map[string]string, err error) error {
	r := watcher.StepRecord{Step: s, Ended: true, Facts: facts}
	if err != nil {
		r.Error = protocol.Clip(err.Error())
	}
	return j.store(ctx, &pluginv1.UpdateResponse{End: protocol.EncodeStepRecord(r)})
}

// Progress implements watcher.Journal.
func (j *journal) Progress(p watcher.StepProgress) {
	j.out.Send(&pluginv1.UpdateResponse{Progress: protocol.EncodeStepProgress(p)})
}

// errHostGone ends an update whose host is gone before the next step is taken:
// only what is stored may be done.
var errHostGone = errors.New("the host has ended the call")

// store sends what the host is to store and waits until it has.
func (j *journal) store(ctx context.Context, m *pluginv1.UpdateResponse) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.out.Send(m)
	select {
	case r := <-j.responses:
		if r.GetStop() {
			return watcher.ErrStop
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-j.ended:
		return errHostGone
	}
}
