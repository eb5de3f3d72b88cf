package plugin_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// hostJournal is the host's side of an update: a list of what was stored.
type hostJournal struct {
	stored []string
	begin  func(s watcher.Step) error // nil means that every step may begin
}

func (j *hostJournal) Begin(_ context.Context, s watcher.Step) error {
	if j.begin != nil {
		if err := j.begin(s); err != nil {
			return err
		}
	}
	j.stored = append(j.stored, "begin "+s.ID)
	return nil
}

func (j *hostJournal) End(_ context.Context, s watcher.Step, facts map[string]string, err error) error {
	text := "end " + s.ID
	if facts["id"] != "" {
		text += " id=" + facts["id"]
	}
	if err != nil {
		text += ": " + err.Error()
	}
	j.stored = append(j.stored, text)
	return nil
}

func (j *hostJournal) Progress(p watcher.StepProgress) { j.stored = append(j.stored, p.Message) }

// updater serves a watcher whose Apply is the given one.
func updater(
	t *testing.T, apply func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error),
) pluginclient.WatcherClient {
	f := newFakes()
	f.apply = apply
	c, _ := f.serve(t)
	configure(t, c, kind.Watcher, "fakewatcher", "first")
	return c.Watcher(id(kind.Watcher, "fakewatcher"))
}

var operation = watcher.Operation{
	ID: "op1",
	Request: watcher.UpdateRequest{
		ContainerID: "c1", Image: watcher.TargetImage{Reference: "docker.io/library/nginx:1.26.0"},
	},
}

func TestPlanAndRecoverOfUpdater(t *testing.T) {
	w := updater(t, nil)
	if plan, err := w.Plan(t.Context(), operation.Request); err != nil || plan.ContainerID != "c1" ||
		plan.To.Reference != operation.Request.Image.Reference {
		t.Errorf("plan %+v, %v", plan, err)
	}
	if o, err := w.Recover(t.Context(), operation, &hostJournal{}); err != nil || o.State != watcher.RolledBack ||
		o.ContainerID != "c1" {
		t.Errorf("outcome %+v, %v", o, err)
	}
}

func TestApplyStoresStepsInOrder(t *testing.T) {
	var got watcher.Operation
	w := updater(t, func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		got = op
		for _, id := range []string{"pull", "create:web"} {
			s := watcher.Step{ID: id}
			if err := j.Begin(ctx, s); err != nil {
				return watcher.Outcome{}, err
			}
			j.Progress(watcher.StepProgress{Message: "half of " + id})
			if err := j.End(ctx, s, map[string]string{"id": "of-" + id}, nil); err != nil {
				return watcher.Outcome{}, err
			}
		}
		last := watcher.Step{ID: "start:web"}
		return watcher.Outcome{State: watcher.RolledBack, Reason: watcher.Reason{Code: "start", Text: "no such device"}},
			errors.Join(j.Begin(ctx, last), j.End(ctx, last, nil, errors.New("no such device")))
	})
	j := &hostJournal{}
	o, err := w.Apply(t.Context(), operation, j)
	if err != nil || o.State != watcher.RolledBack || o.Reason.Text != "no such device" {
		t.Errorf("outcome %+v, %v", o, err)
	}
	want := []string{
		"begin pull", "half of pull", "end pull id=of-pull", "begin create:web", "half of create:web",
		"end create:web id=of-create:web",
		"begin start:web", "end start:web: no such device",
	}
	if !slices.Equal(j.stored, want) {
		t.Errorf("stored %q, want %q", j.stored, want)
	}
	if !reflect.DeepEqual(got.Request, operation.Request) || got.ID != operation.ID {
		t.Errorf("the plugin got %+v", got)
	}
}

func TestApplyTakesNoStepThatIsNotStored(t *testing.T) {
	taken := make(chan error, 1)
	apply := func(ctx context.Context, _ watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		err := j.Begin(ctx, watcher.Step{ID: "stop:web"})
		taken <- err
		return watcher.Outcome{State: watcher.Unchanged}, err
	}
	t.Run("the operation is to stop", func(t *testing.T) {
		w := updater(t, func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
			o, _ := apply(ctx, op, j)
			return o, nil
		})
		o, err := w.Apply(t.Context(), operation, &hostJournal{begin: func(watcher.Step) error { return watcher.ErrStop }})
		if err != nil || o.State != watcher.Unchanged {
			t.Errorf("outcome %+v, %v", o, err)
		}
		if err := <-taken; !errors.Is(err, watcher.ErrStop) {
			t.Errorf("the plugin got %v", err)
		}
	})
	t.Run("the store fails", func(t *testing.T) {
		w := updater(t, apply)
		_, err := w.Apply(t.Context(), operation, &hostJournal{
			begin: func(watcher.Step) error { return errors.New("disk full") },
		})
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("got %v", err)
		}
		if err := <-taken; err == nil {
			t.Error("the plugin took the step")
		}
	})
}

func TestApplyWithoutOutcomeIsAnError(t *testing.T) {
	w := updater(t, func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
		return watcher.Outcome{}, protocol.ErrGone
	})
	if o, err := w.Apply(t.Context(), operation, &hostJournal{}); err == nil {
		t.Errorf("outcome %+v", o)
	}
}
