// Package orchestrated has what updates have in common that an orchestrator carries out: the step in which it is
// watched, and the outcomes; of clusters, as those of Kubernetes and Nomad, the whole operation; and which changes of
// a list the host is notified of.
package orchestrated

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Watch takes the step in which converge waits until all runs as it should. failed is why it does not, a
// watcher.ErrStop where it was cancelled before; err is that of ctx or of the journal, after which nothing is known.
func Watch(
	ctx context.Context, journal watcher.Journal, step watcher.Step, converge func() error,
) (failed, err error) {
	if err := journal.Begin(ctx, step); err != nil {
		if errors.Is(err, watcher.ErrStop) {
			return err, nil
		}
		return nil, err
	}
	failed = converge()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return failed, journal.End(ctx, step, nil, failed)
}

// Reason says why a step did not work.
func Reason(step watcher.Step, failed error) watcher.Reason {
	if errors.Is(failed, watcher.ErrStop) {
		return watcher.Reason{Code: watcher.ReasonCancelled, Text: "it was cancelled"}
	}
	return watcher.Reason{Code: "step." + step.Code, Text: failed.Error()}
}

// Ended is the outcome of an operation.
func Ended(op watcher.Operation, state watcher.OutcomeState, code, text string) watcher.Outcome {
	return watcher.Outcome{
		State: state, Reason: watcher.Reason{Code: code, Text: text}, ContainerID: op.Request.ContainerID,
	}
}
