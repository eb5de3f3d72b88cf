package plugin_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// requesting runs a trigger for two containers on a host that takes operations, and
// returns what the host received.
func requesting(
	t *testing.T, run func(context.Context, trigger.Request) error, take func(trigger.OperationRequest) error,
) (got []trigger.OperationRequest, err error) {
	t.Helper()
	f := newFakes()
	f.run = func(ctx context.Context, _ *fake, req trigger.Request) error { return run(ctx, req) }
	c, _ := f.serve(t)
	req := trigger.Request{Containers: []sdk.Container{{ID: "c1"}, {ID: "c2"}}}
	if take != nil {
		req = req.WithOperate(func(o trigger.OperationRequest) error {
			got = append(got, o)
			return take(o)
		})
	}
	return got, c.Trigger(mainTrigger).Run(t.Context(), req)
}

func accepting(trigger.OperationRequest) error { return nil }

func TestOperationsReachTheHostAfterTheRun(t *testing.T) {
	want := []trigger.OperationRequest{{
		ContainerID: "c2",
		Rules: watcher.UpdateRules{
			Keep: 2, Prune: true, Compose: &watcher.ComposeRules{File: "/stack/compose.yaml", Backup: true},
		},
	}, {ContainerID: "c1", Rules: watcher.UpdateRules{DryRun: true}}}
	ended := false
	got, err := requesting(t, func(ctx context.Context, req trigger.Request) error {
		for _, o := range want {
			if err := req.Operate(ctx, o); err != nil {
				return err
			}
		}
		req.Report(trigger.Progress{Phase: "ends"})
		ended = true
		return nil
	}, func(trigger.OperationRequest) error {
		if !ended {
			t.Error("an operation was requested before the run has ended")
		}
		return nil
	})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestOperationsOfAFailedRunAreDropped: the host may call it again.
func TestOperationsOfAFailedRunAreDropped(t *testing.T) {
	got, err := requesting(t, func(ctx context.Context, req trigger.Request) error {
		return errors.Join(req.Operate(ctx, trigger.OperationRequest{ContainerID: "c1"}), sdk.ErrUnavailable)
	}, accepting)
	if len(got) > 0 || !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestOperateOnlyWhereTheHostTakesIt(t *testing.T) {
	got, err := requesting(t, func(ctx context.Context, req trigger.Request) error {
		if req.CanOperate() {
			t.Error("the request takes operations")
		}
		return req.Operate(ctx, trigger.OperationRequest{ContainerID: "c1"})
	}, nil)
	if len(got) > 0 || !errors.Is(err, sdk.ErrUnsupported) || sdk.Remedy(err) == "" {
		t.Errorf("got %+v, %v, remedy %q", got, err, sdk.Remedy(err))
	}
}

func TestOperateRefusesInvalidRequests(t *testing.T) {
	for about, requests := range map[string][]trigger.OperationRequest{
		"another container": {{ContainerID: "c3"}},
		"no container":      {{}},
		"negative keep":     {{ContainerID: "c1", Rules: watcher.UpdateRules{Keep: -1}}},
		"one twice":         {{ContainerID: "c1"}, {ContainerID: "c1", Rules: watcher.UpdateRules{DryRun: true}}},
	} {
		t.Run(about, func(t *testing.T) {
			got, err := requesting(t, func(ctx context.Context, req trigger.Request) (err error) {
				for _, o := range requests {
					err = req.Operate(ctx, o)
				}
				return err
			}, accepting)
			var invalid *sdk.InvalidError
			if len(got) > 0 || !errors.As(err, &invalid) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestOperateAfterTheRun: a goroutine that the run left behind is refused, as its request would be lost.
func TestOperateAfterTheRun(t *testing.T) {
	late := make(chan trigger.Request, 1)
	got, err := requesting(t, func(_ context.Context, req trigger.Request) error {
		late <- req
		return nil
	}, accepting)
	if err != nil || len(got) > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := (<-late).Operate(t.Context(), trigger.OperationRequest{ContainerID: "c1"}); err == nil {
		t.Error("an operation was taken after the run")
	}
}

// TestRunFailsWhenTheHostRefusesAnOperation, so that it does not pass for done.
func TestRunFailsWhenTheHostRefusesAnOperation(t *testing.T) {
	refused := errors.New("not this one")
	_, err := requesting(t, func(ctx context.Context, req trigger.Request) error {
		return req.Operate(ctx, trigger.OperationRequest{ContainerID: "c1"})
	}, func(trigger.OperationRequest) error { return refused })
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}
