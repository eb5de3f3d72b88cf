package pluginclient

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/protocol"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

var _ watcher.Updater = WatcherClient{}

// Plan says what an update would do; see watcher.Updater. A watcher that updates
// nothing is an sdk.ErrUnsupported.
func (w WatcherClient) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	resp, err := w.client.Plan(ctx, &pluginv1.PlanRequest{Instance: w.id, Update: protocol.EncodeUpdateRequest(req)})
	if err != nil {
		return watcher.Plan{}, err
	}
	return protocol.DecodePlan(resp.GetPlan()), nil
}

// Apply carries out an operation; see watcher.Updater.
func (w WatcherClient) Apply(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (watcher.Outcome, error) {
	return w.update(ctx, op, journal, false)
}

// Recover finishes an operation that was interrupted; see watcher.Updater.
func (w WatcherClient) Recover(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (watcher.Outcome, error) {
	return w.update(ctx, op, journal, true)
}

// errNoOutcome is a mistake in the plugin.
var errNoOutcome = errors.New("the plugin ended the update without an outcome")

func (w WatcherClient) update(
	ctx context.Context, op watcher.Operation, journal watcher.Journal, recover bool,
) (watcher.Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // which ends the call when the journal fails
	stream, err := w.client.Update(ctx)
	if err == nil {
		err = stream.Send(&pluginv1.UpdateRequest{Instance: w.id, Operation: protocol.EncodeOperation(op), Recover: recover})
	}
	if err != nil && !errors.Is(err, io.EOF) { // whose reason Recv returns
		return watcher.Outcome{}, err
	}
	var outcome *watcher.Outcome
	for {
		m, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && outcome != nil:
			return *outcome, nil
		case errors.Is(err, io.EOF):
			return watcher.Outcome{}, errNoOutcome
		case err != nil:
			return watcher.Outcome{}, err
		case m.GetOutcome() != nil:
			o := protocol.DecodeOutcome(m.GetOutcome())
			outcome = &o
		case m.GetProgress() != nil:
			journal.Progress(protocol.DecodeStepProgress(m.GetProgress()))
		default:
			if err := record(ctx, stream, journal, m); err != nil {
				return watcher.Outcome{}, err
			}
		}
	}
}

// record stores what the plugin says of a step and answers.
func record(
	ctx context.Context, stream grpc.BidiStreamingClient[pluginv1.UpdateRequest, pluginv1.UpdateResponse],
	journal watcher.Journal, m *pluginv1.UpdateResponse,
) error {
	response := &pluginv1.UpdateRequest{Stored: true}
	var err error
	switch {
	case m.GetBegin() != nil:
		err = journal.Begin(ctx, protocol.DecodeStep(m.GetBegin()))
	case m.GetEnd() != nil:
		r := protocol.DecodeStepRecord(m.GetEnd())
		var failed error
		if r.Error != "" {
			failed = errors.New(r.Error)
		}
		err = journal.End(ctx, r.Step, r.Facts, failed)
	default:
		return nil // what a later protocol says
	}
	if errors.Is(err, watcher.ErrStop) {
		response, err = &pluginv1.UpdateRequest{Stop: true}, nil
	}
	if err != nil {
		return fmt.Errorf("store a step of the update: %w", err)
	}
	if err := stream.Send(response); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
