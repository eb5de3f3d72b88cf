package service

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/internal/imagediff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// fakeUpdater returns what it is given, and counts what is done with it.
type fakeUpdater struct {
	op      operation.Operation
	failure error
	started []updater.Request
	done    int
	tried   string // the version that was tried in vain
}

func (f *fakeUpdater) Tried(_ context.Context, key update.Key) (operation.Trial, bool, error) {
	return operation.Trial{}, f.tried != "" && key.ToTag == f.tried, nil
}

func (f *fakeUpdater) Plan(context.Context, updater.Request) (watcher.Plan, error) {
	return f.op.Plan, f.failure
}

func (f *fakeUpdater) Start(_ context.Context, req updater.Request) (operation.Operation, error) {
	f.done++
	f.started = append(f.started, req)
	return f.op, f.failure
}

func (f *fakeUpdater) Cancel(context.Context, string, string) error { f.done++; return f.failure }

func (f *fakeUpdater) Allowed(string) error { return f.failure }

func (f *fakeUpdater) UnderWay() []updater.Progress { return nil }
func (f *fakeUpdater) ImageDiff(context.Context, sdk.Container) (updater.ImageDiff, error) {
	change := imagediff.Change{Kind: imagediff.Env, Name: "TOKEN", After: secret}
	return updater.ImageDiff{
		Diff: imagediff.Diff{
			Changes: []imagediff.Change{change}, Warnings: []imagediff.Warning{{Code: "image.user", Text: "runs as " + secret}},
		},
	}, f.failure
}
func (f *fakeUpdater) Previous(context.Context, sdk.Container) (string, error) {
	return "nginx:1", f.failure
}

func (f *fakeUpdater) Progress(string) (watcher.StepProgress, bool) {
	return watcher.StepProgress{Message: secret}, true
}

func (f *fakeUpdater) Operations(context.Context, operation.Filter) ([]operation.Operation, error) {
	return []operation.Operation{f.op}, nil
}

func (f *fakeUpdater) Operation(context.Context, string) (operation.Operation, error) {
	return f.op, f.failure
}

// secretOperation has a secret in each text that comes from elsewhere.
func secretOperation() operation.Operation {
	reasons := []watcher.Reason{{Code: "c", Text: secret}}
	return operation.Operation{
		ID: "op1", Watcher: "local", Name: "web", Error: secret,
		Image: watcher.TargetImage{Reference: "nginx:1", Config: &sdk.ImageConfig{Env: []string{secret}}},
		Rules: watcher.UpdateRules{Health: watcher.HealthGate{HTTP: secret, Command: []string{secret}}},
		Plan: watcher.Plan{
			Steps:   []watcher.Step{{ID: "pull", Text: secret}},
			Carried: []watcher.Setting{{Name: "env A", Value: "of the user"}, {Name: "label b", Value: secret}},
			Changes: []watcher.Change{{Name: "env C", Before: secret, After: secret}}, Warnings: reasons, Blocks: reasons,
			Files: []watcher.FileChange{{Path: "compose.yaml", Diff: secret}},
		},
		Steps: []operation.Step{{StepRecord: watcher.StepRecord{Step: watcher.Step{Text: secret}, Error: secret,
			Facts: map[string]string{"id": secret}}}},
		Outcome: &watcher.Outcome{
			Reason: watcher.Reason{Code: "c", Text: secret}, Warnings: reasons,
			Evidence: &watcher.Evidence{Error: secret, Log: secret, Health: []watcher.HealthResult{{Output: secret}}},
		},
	}
}

func withContainer(t *testing.T, f *fakeUpdater) *Service {
	t.Helper()
	s, stored := newService(t, func(o *Options) { o.Updater, o.Operations = f, f })
	if err := stored.Commit(t.Context(), event.Change{
		Put: []sdk.Container{{ID: "c1", Name: "web", Watcher: "local"}},
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOperationsRequireScopes(t *testing.T) {
	f := &fakeUpdater{}
	s := withContainer(t, f)
	for _, actor := range []auth.Actor{unknown, reader} {
		_, err := s.StartOperation(t.Context(), actor, Change{Container: "c1", Kind: operation.Update})
		if !errors.Is(err, ErrForbidden) || !errors.Is(s.CancelOperation(t.Context(), actor, "op1"), ErrForbidden) ||
			f.done > 0 {
			t.Errorf("with the scope %s: %v, %d done", actor.Scope, err, f.done)
		}
	}
	if _, err := s.Plan(t.Context(), unknown, Change{Container: "c1"}); !errors.Is(err, ErrForbidden) {
		t.Errorf("a plan without a scope: %v", err)
	}
	if _, err := s.Plan(t.Context(), reader, Change{Container: "c1"}); err != nil {
		t.Errorf("a plan of a reader: %v", err)
	}
	if _, err := s.StartOperation(t.Context(), loggedIn, Change{
		Container: "C1", Kind: operation.Rollback, Digest: "d", State: "s",
	}); err != nil {
		t.Fatal(err)
	}
	if got := f.started[0]; got.Actor != "ana" || got.Container.ID != "c1" || got.Kind != operation.Rollback ||
		got.Digest != "d" || got.State != "s" {
		t.Errorf("started %+v", got)
	}
}

func TestOperationsAreRedacted(t *testing.T) {
	f := &fakeUpdater{op: secretOperation()}
	s := withContainer(t, f)
	plan, err := s.Plan(t.Context(), reader, Change{Container: "c1"})
	started, err2 := s.StartOperation(t.Context(), writer, Change{Container: "c1"})
	listed, err3 := s.Operations(t.Context(), operation.Filter{})
	got, err4 := s.Operation(t.Context(), "op1")
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	diff, err := s.ImageDiff(t.Context(), reader, "c1")
	if err != nil || len(diff.Changes) != 1 || len(diff.Warnings) != 1 {
		t.Fatalf("%+v, %v", diff, err)
	}
	for name, v := range map[string]any{"diff": diff, "plan": plan, "started": started, "listed": listed[0], "one": got,
		"outcome": *got.Outcome, "evidence": *got.Outcome.Evidence} {
		if text := fmt.Sprintf("%+v", v); strings.Contains(text, secret) || strings.Contains(text, "of the user") {
			t.Errorf("the %s shows a secret: %s", name, text)
		}
	}
	if before, after := asText(secretOperation()), asText(f.op); before != after {
		t.Error("the operation of the store was changed")
	}
}

func asText(op operation.Operation) string {
	outcome := *op.Outcome
	outcome.Evidence = nil
	return fmt.Sprintf("%+v %+v %+v", op.Plan, outcome, *op.Outcome.Evidence)
}

func TestOperationErrorsKeepTheirKind(t *testing.T) {
	f := &fakeUpdater{}
	s := withContainer(t, f)
	for _, test := range []struct{ err, kind error }{
		{&updater.BlockedError{Plan: secretOperation().Plan}, updater.ErrBlocked},
		{&updater.ConflictError{Operation: secretOperation()}, updater.ErrConflict},
		{fmt.Errorf("%w: %s", updater.ErrForbidden, secret), ErrForbidden},
		{fmt.Errorf("%w: %s", operation.ErrNotFound, secret), ErrNotFound},
		{fmt.Errorf("%w: %s", updater.ErrNoUpdate, secret), updater.ErrNoUpdate},
	} {
		f.failure = test.err
		_, err := s.StartOperation(t.Context(), writer, Change{Container: "c1"})
		if !errors.Is(err, test.kind) || strings.Contains(fmt.Sprintf("%v %+v", err, err), secret) {
			t.Errorf("%T: %v", test.err, err)
		}
	}
	if _, err := s.Operation(t.Context(), "op1"); errors.Is(err, ErrNotFound) {
		t.Errorf("a failing store says that there is no operation: %v", err)
	}
	if _, err := s.Plan(t.Context(), writer, Change{Container: "missing"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing container: %v", err)
	}
}

func TestUpdatePermission(t *testing.T) {
	f := &fakeUpdater{}
	s := withContainer(t, f)
	may := func(who string, actor auth.Actor, want Permission) {
		t.Helper()
		if got := s.UpdatePermission(actor, "local"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", who, got)
		}
	}
	may("one that may write", writer, Permission{Allowed: true})
	may("one that may read", reader,
		Permission{Why: "only a login, or a token that may write, allows to update containers"})
	const remedy = "set watcher.docker.local.update to true"
	lines := []config.Lines{{Where: "In the file", Text: "watcher.docker.local.update: true\n"}}
	paste := config.Paste{Lines: lines, Docs: config.Docs("updating.md")}
	refused := &updater.ForbiddenError{Why: "its option update is " + secret, Remedy: remedy, Paste: paste}
	f.failure = fmt.Errorf("plan it: %w", refused)
	may("a watcher that may not", writer, Permission{Why: "its option update is ***", Remedy: remedy, Paste: paste})
	f.failure = updater.ErrUnsupported
	may("a watcher that cannot", writer, Permission{Why: "its watcher is of a type that only lists containers"})
	if p, _ := s.OperationProgress("op1"); strings.Contains(p.Message, secret) {
		t.Errorf("the progress shows a secret: %s", p.Message)
	}
}
