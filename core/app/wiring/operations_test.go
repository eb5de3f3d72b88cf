package wiring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func web() sdk.Container {
	return sdk.Container{
		ID: "id-web", Name: "web", Watcher: "local", UpdateAvailable: true,
		Image: sdk.Image{
			Registry: sdk.Registry{Host: "docker.io"}, Name: "library/nginx", Tag: sdk.Tag{Value: "1.25.0"},
		},
		Result:     &sdk.Result{Tag: "1.26.0"},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.25.0", RemoteValue: "1.26.0"},
	}
}

func blocked(codes ...string) error {
	var plan watcher.Plan
	for _, code := range codes {
		plan.Blocks = append(plan.Blocks, watcher.Reason{Code: code, Text: "no"})
	}
	return &updater.BlockedError{Plan: plan}
}

// TestBeginErrorSaysWhatToDo: what may be gone later is tried again, what is for users is left to them.
func TestBeginErrorSaysWhatToDo(t *testing.T) {
	conflict := &updater.ConflictError{Operation: operation.Operation{ID: "op1", Watcher: "local", Name: "web"}}
	for name, c := range map[string]struct {
		err             error
		retried, byHand bool
		text            string
	}{
		"another operation": {
			err: conflict, retried: true, text: "operation op1 of local/web has not ended: wait for it, or cancel it",
		},
		"stopping": {err: updater.ErrStopping, retried: true, text: "local/web: dogwatch is stopping"},
		"only users may": {
			err: blocked(updater.BlockManual), byHand: true, text: "local/web: the update is blocked: no (update.manual)",
		},
		"no compose file": {
			err: blocked(watcher.BlockComposeAbsent), byHand: true,
			text: "local/web: the update is blocked: no (compose.absent)",
		},
		"both": {
			err: blocked(updater.BlockManual, watcher.BlockComposeAbsent), byHand: true,
			text: "local/web: the update is blocked: no (update.manual); no (compose.absent)",
		},
		"another reason too": {
			err:  blocked(updater.BlockManual, "data.writable-layer"),
			text: "local/web: the update is blocked: no (update.manual); no (data.writable-layer)",
		},
		"a reason of the image": {
			err: blocked("image.platform"), text: "local/web: the update is blocked: no (image.platform)",
		},
		"forbidden": {
			err:  fmt.Errorf("watcher local: %w", updater.ErrForbidden),
			text: "local/web: watcher local: updating is not allowed",
		},
	} {
		err := beginError(web(), c.err)
		if !errors.Is(err, c.err) || sdk.Retryable(err) != c.retried ||
			errors.Is(err, dispatch.ErrByHand) != c.byHand || err.Error() != c.text {
			t.Errorf("%s: %v, tried again: %v, by hand: %v", name, err, sdk.Retryable(err), errors.Is(err, dispatch.ErrByHand))
		}
	}
	if err := beginError(web(), nil); err != nil {
		t.Error(err)
	}
}

// stored is a store of operations, the newest first.
type stored struct {
	updater.Store
	all   []operation.Operation
	tried []operation.Trial
}

func (s stored) Operations(_ context.Context, f operation.Filter) ([]operation.Operation, error) {
	return slices.DeleteFunc(slices.Clone(s.all), func(op operation.Operation) bool {
		return len(f.States) > 0 && !slices.Contains(f.States, op.State)
	}), nil
}

func (s stored) Tried(context.Context, string, string) ([]operation.Trial, error) {
	return s.tried, nil
}

// TestStartedAreThoseOfTheDelivery: a delivery with several requests numbers them.
func TestStartedAreThoseOfTheDelivery(t *testing.T) {
	o := Operations{
		Store: stored{
			all: []operation.Operation{{ID: "5", IdempotencyKey: "d1.2"}, {ID: "4", IdempotencyKey: "d12"}, {ID: "3", IdempotencyKey: "d1"}, {
				ID: "2",
			}, {ID: "1", IdempotencyKey: "d2.1"}},
		},
	}
	all, err := o.Started(t.Context(), web(), "d1")
	var ids []string
	for _, op := range all {
		ids = append(ids, op.ID)
	}
	if err != nil || strings.Join(ids, " ") != "5 3" {
		t.Errorf("%v, %v", ids, err)
	}
}

func TestTriedSaysHowItEnded(t *testing.T) {
	this := update.KeyOf(new(web())).String()
	later := web()
	later.Result, later.UpdateKind.RemoteValue = &sdk.Result{Tag: "1.27.0"}, "1.27.0"
	other := update.KeyOf(&later).String()
	at := time.Date(2024, 5, 14, 9, 30, 0, 0, time.UTC)
	const before, after = "local/web is not updated to 1.26.0 by itself: that ", "; update it by hand to try again"
	undone := &operation.Undo{By: "ana", At: at}
	for name, c := range map[string]struct {
		tried []operation.Trial
		want  string
	}{
		"never":           {},
		"another version": {tried: []operation.Trial{{Update: other}}},
		"it came back":    {tried: []operation.Trial{{Update: this}}, want: before + "did not work before" + after},
		"a user rolled it": {tried: []operation.Trial{{Update: this, Undone: undone}},
			want: before + "was rolled back by ana on 2024-05-14 09:30 UTC" + after},
		"another was undone": {tried: []operation.Trial{{Update: other, Undone: undone}, {Update: this}},
			want: before + "did not work before" + after},
		"it was undone first": {tried: []operation.Trial{{Update: this}, {Update: this, Undone: undone}},
			want: before + "did not work before" + after},
	} {
		s := stored{tried: c.tried}
		o := Operations{Runner: updater.New(updater.Options{Store: s, Log: hclog.NewNullLogger(), Now: time.Now}), Store: s}
		if got, err := o.Tried(t.Context(), web()); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}
