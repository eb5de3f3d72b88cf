package updater

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestStartTakesOnlyDigestsOfPlansAndTags: who may write cannot have any image of a repository run.
func TestStartTakesOnlyDigestsOfPlansAndTags(t *testing.T) {
	f := fresh(t)
	req := Request{Container: container("web"), Kind: operation.Update, Actor: "token deploy", Digest: "sha256:evil"}
	for what, ask := range map[string]func() error{
		"plan":  func() error { _, err := f.Plan(t.Context(), req); return err },
		"start": func() error { _, err := f.Start(t.Context(), req); return err },
	} {
		if err := ask(); !errors.Is(err, ErrUnplanned) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(f.engine.planned) > 0 {
		t.Errorf("the engine was asked: %v", f.engine.planned)
	}
	if all, err := f.store.Operations(t.Context(), operation.Filter{}); err != nil || len(all) > 0 {
		t.Fatalf("%v, %v", all, err)
	}
	req.Digest = "sha256:new" // what the tag is now
	op, err := f.Start(t.Context(), req)
	if err != nil || op.Image.Digest != "sha256:new" {
		t.Fatalf("%+v, %v", op.Image, err)
	}
}

func TestStartWithTheDigestOfAPlan(t *testing.T) {
	f := fresh(t)
	req := Request{Container: container("web"), Kind: operation.Update, Actor: "ana"}
	p, err := f.Plan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	f.tag = "sha256:moved"
	req.Digest = p.To.Digest
	other := req
	other.Container = container("db")
	if _, err := f.Start(t.Context(), other); !errors.Is(err, ErrUnplanned) {
		t.Errorf("of another container: %v", err)
	}
	other = req
	other.Container.Result.Tag, other.Container.UpdateKind.RemoteValue = "1.27.0", "1.27.0"
	if _, err := f.Start(t.Context(), other); !errors.Is(err, ErrUnplanned) {
		t.Errorf("of another tag: %v", err)
	}
	req.Container = container("web")
	asked := f.resolved.Load()
	op, err := f.Start(t.Context(), req)
	if err != nil || op.Image.Digest != "sha256:new" {
		t.Fatalf("%+v, %v", op.Image, err)
	}
	if f.resolved.Load() != asked {
		t.Errorf("the registry was asked for a digest that is known")
	}
}

// TestPlansOutliveARestartButNotADay: a plan that was made with a digest does not make it good for longer.
func TestPlansOutliveARestartButNotADay(t *testing.T) {
	now := time.Now()
	path := filepath.Join(t.TempDir(), "store.db")
	open := func() (*store.Store, *Runner, *parts) {
		var bus event.Bus
		s, err := store.Open(t.Context(), path, store.Options{Bus: &bus, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		p := &parts{engine: &engine{}}
		return s, p.runner(s, &bus), p
	}
	req := Request{Container: container("web"), Kind: operation.Update}
	s, r, _ := open()
	if _, err := r.Plan(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	s.Close()

	s, r, p := open()
	defer s.Close()
	p.tag, req.Digest = "sha256:moved", "sha256:new"
	now = now.Add(23 * time.Hour)
	if _, err := r.Plan(t.Context(), req); err != nil {
		t.Errorf("within a day: %v", err)
	}
	now = now.Add(2 * time.Hour)
	if _, err := r.Start(t.Context(), req); !errors.Is(err, ErrUnplanned) {
		t.Errorf("after a day: %v", err)
	}
}

// TestRollbackTakesOnlyTheDigestBefore: a rollback returns to one image, whatever is asked for.
func TestRollbackTakesOnlyTheDigestBefore(t *testing.T) {
	f := fresh(t)
	f.run(t)
	if op := f.outcome(t, f.begin(t, "web").ID); op.State != operation.Succeeded {
		t.Fatalf("%+v", op)
	}
	req := Request{Container: f.containers["web"], Kind: operation.Rollback, Digest: "sha256:evil"}
	if _, err := f.Start(t.Context(), req); !errors.Is(err, ErrUnplanned) {
		t.Errorf("%v", err)
	}
	req.Digest = ""
	if _, err := f.Start(t.Context(), req); err != nil {
		t.Error(err)
	}
}

// TestStartWithAResolvedDigest: what was scanned is what is pulled, also after the tag has moved.
func TestStartWithAResolvedDigest(t *testing.T) {
	f := fresh(t)
	req := Request{Container: container("web"), Kind: operation.Update, Digest: "sha256:scanned", Resolved: true}
	op, err := f.Start(t.Context(), req)
	if want := (watcher.TargetImage{
		Reference: "docker.io/library/nginx:1.26.0", Digest: "sha256:scanned",
	}); err != nil || op.Image != want {
		t.Errorf("%+v, %v", op.Image, err)
	}
}

// TestPlanLeadsToThePinnedImage: the image whose age a rule asks for is what is planned, whatever the tag holds by
// now, unless another one is asked for whose plan was shown.
func TestPlanLeadsToThePinnedImage(t *testing.T) {
	f := fresh(t)
	aged, failure := "sha256:aged", error(nil)
	f.opt.AgedDigest = func(context.Context, *sdk.Container) (string, error) { return aged, failure }
	req := Request{Container: container("web"), Kind: operation.Update}
	planned := func() string {
		t.Helper()
		p, err := f.Plan(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return p.To.Digest
	}
	if got := planned(); got != "sha256:aged" || f.resolved.Load() != 0 {
		t.Errorf("planned %s, the tag was resolved %d times", got, f.resolved.Load())
	}
	aged = ""
	if got := planned(); got != "sha256:new" {
		t.Errorf("without an age: %s", got)
	}
	aged, req.Digest = "sha256:other", "sha256:aged"
	if op, err := f.Start(t.Context(), req); err != nil || op.Image.Digest != "sha256:aged" {
		t.Errorf("what was planned before: %s, %v", op.Image.Digest, err)
	}
	req, failure = Request{Container: container("db"), Kind: operation.Update}, errors.New("the store is closed")
	if _, err := f.Start(t.Context(), req); !errors.Is(err, failure) {
		t.Errorf("%v, want %v", err, failure)
	}
}
