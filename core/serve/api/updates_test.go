package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/event"
	updates "github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/internal/imagediff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// fakeUpdates plans every update alike, and records what is started.
type fakeUpdates struct {
	mu      sync.Mutex
	failure error
	started []updater.Request
	filter  operation.Filter
	running bool // whether the operation is under way
}

func (f *fakeUpdates) Tried(context.Context, updates.Key) (operation.Trial, bool, error) {
	return operation.Trial{}, false, nil
}

func (f *fakeUpdates) Plan(_ context.Context, req updater.Request) (watcher.Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return planOf(req.Container), f.failure
}

func (f *fakeUpdates) Start(_ context.Context, req updater.Request) (operation.Operation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure != nil {
		return operation.Operation{}, f.failure
	}
	f.started = append(f.started, req)
	op := operationOf(req.Container)
	op.Kind, op.Actor, op.State, op.Steps, op.Outcome = req.Kind, req.Actor, operation.Queued, nil, nil
	return op, nil
}

func (f *fakeUpdates) Cancel(_ context.Context, id, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id != "op1" {
		return fmt.Errorf("operation %s: %w", id, operation.ErrNotFound)
	}
	return f.failure
}

func (*fakeUpdates) Allowed(string) error { return nil }

func (*fakeUpdates) UnderWay() []updater.Progress {
	return []updater.Progress{{Operation: "o1", Step: "pull the image", Current: 3, Total: 10}}
}
func (*fakeUpdates) ImageDiff(context.Context, sdk.Container) (updater.ImageDiff, error) {
	before := sdk.ImageConfig{
		User: "app", Size: 9, ExposedPorts: []string{"8080/tcp"}, Layers: []sdk.Layer{{Digest: "sha256:1", Size: 9}},
	}
	after := sdk.ImageConfig{
		Size: 12, Volumes: []string{"/data"},
		Layers: []sdk.Layer{{Digest: "sha256:1", Size: 9}, {Digest: "sha256:2", Size: 3}},
	}
	return updater.ImageDiff{
		From: watcher.PlannedImage{Reference: "nginx:1.25.0", Digest: "sha256:old"},
		To:   watcher.PlannedImage{Reference: "nginx:1.26.0", Digest: "sha256:new"},
		Diff: imagediff.Compare(before, after),
	}, nil
}
func (*fakeUpdates) Previous(context.Context, sdk.Container) (string, error) { return "", nil }

func (f *fakeUpdates) Progress(string) (watcher.StepProgress, bool) {
	return watcher.StepProgress{Message: "Downloading", Current: 3, Total: 10}, f.running
}

func (f *fakeUpdates) Operations(_ context.Context, filter operation.Filter) ([]operation.Operation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filter = filter
	return []operation.Operation{operationOf(nginx())}, nil
}

func (f *fakeUpdates) Operation(_ context.Context, id string) (operation.Operation, error) {
	if id != "op1" {
		return operation.Operation{}, store.ErrNotFound
	}
	op := operationOf(nginx())
	if f.running {
		op.State, op.Outcome, op.Error, op.Ended = operation.Running, nil, "", time.Time{}
	}
	return op, nil
}

// planOf returns a plan that fills every field.
func planOf(c sdk.Container) watcher.Plan {
	return watcher.Plan{
		ContainerID: c.ID, Name: c.Name, State: "5d41",
		From: watcher.PlannedImage{
			Reference: "docker.io/library/nginx:1.25.0", Digest: "sha256:3e2b8c", ID: "sha256:d4",
		},
		To: watcher.PlannedImage{Reference: "docker.io/library/nginx:1.26.0", Digest: "sha256:9f"},
		Steps: []watcher.Step{{ID: "pull", Code: watcher.StepPull, Text: "pull the image"}, {
			ID: "stop:web", Code: watcher.StepStop, Container: "web", Text: "stop the old web",
		}},
		Carried:  []watcher.Setting{{Name: "env DB_PASSWORD", Value: "s3cret"}, {Name: "port 80/tcp", Value: "8080"}},
		Changes:  []watcher.Change{{Name: "env NGINX_VERSION", Before: "1.25.0", After: "1.26.0"}},
		Warnings: []watcher.Reason{{Code: "tag.floating", Text: "the tag moves"}},
		Blocks: []watcher.Reason{{
			Code: "data.writable-layer", Text: "12 MB were written into the container", Acknowledge: true,
		}},
		Dependents: []watcher.Dependent{{
			ContainerID: "d1", Name: "vpn", Relation: "network_mode", Action: watcher.StepCreate,
		}},
		Files: []watcher.FileChange{{
			Path: "/stack/compose.yaml", Line: 4, Diff: "-    image: nginx:1.25.0\n+    image: nginx:1.26.0\n",
		}},
		Backups: []watcher.Backup{{
			ContainerID: "b1", Name: "web-before", Image: "nginx:1.24.0",
			Created: sdk.TimeOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)), Size: -1,
		}},
		Space: watcher.Space{Download: 1 << 20, Writable: -1},
	}
}

func operationOf(c sdk.Container) operation.Operation {
	began := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	plan := planOf(c)
	return operation.Operation{
		ID: "op1", Kind: operation.Update, Watcher: c.Watcher, Name: c.Name, ContainerID: c.ID, Project: "web",
		Actor: "ana", State: operation.RolledBack,
		Plan: plan,
		Steps: []operation.Step{{
			StepRecord: watcher.StepRecord{Step: plan.Steps[0], Ended: true, Error: "no space"}, Began: began,
			EndedAt: began.Add(time.Second),
		}},
		Outcome: &watcher.Outcome{State: watcher.RolledBack, Reason: watcher.Reason{Code: "pull.failed",
			Text: "no space"}, ContainerID: c.ID, Downtime: 1500 * time.Millisecond,
			Evidence: &watcher.Evidence{
				Container: c.Name, Status: "exited", ExitCode: 3, Log: "cannot bind",
				Health: []watcher.HealthResult{{ExitCode: 7, Output: "not today"}},
			}},
		Error: "no space", Queued: began, Began: began, Ended: began.Add(2 * time.Second),
	}
}

func TestPlanOfContainer(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	got := decodeAs[Plan](w.do("POST", "/api/containers/"+nginx().ID+"/plan", `{"acknowledge":["x"]}`).want(200))
	same(t, "carried", got.Carried, []Setting{{Name: "env DB_PASSWORD"}, {Name: "port 80/tcp", Value: "8080"}})
	same(t, "blocks", got.Blocks, []Reason{{
		Code: "data.writable-layer", Text: "12 MB were written into the container", Acknowledge: true,
	}})
	if got.Space.Writable != nil || *got.Space.Download != 1<<20 || got.To.Digest != "sha256:9f" || len(got.Steps) != 2 {
		t.Errorf("%+v", got)
	}
	if len(got.Files) != 1 || got.Files[0].Line != 4 || len(got.Backups) != 1 || got.Backups[0].Size != nil {
		t.Errorf("%+v", got)
	}
	w.do("POST", "/api/containers/"+nginx().ID+"/plan", `{"compose":"up"}`).fails(400, "want edit or command")
	w.do("POST", "/api/containers/"+nginx().ID+"/plan", `{"kind":"remove"}`).fails(400, "want update or rollback")
	w.do("POST", "/api/containers/missing/plan", "").fails(404, "Container not found")
}

// TestPlanOfALevel: a plan has its kind and the versions to choose from, and one of these can be planned and begun.
func TestPlanOfALevel(t *testing.T) {
	w := start(t, nil)
	c := nginx()
	c.UpdateAvailable, c.UpdateKind = true, sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.25.0",
		RemoteValue: "2.0.0", SemverDiff: sdk.DiffMajor}
	c.Result = &sdk.Result{Tag: "2.0.0", Levels: &sdk.Levels{Minor: &sdk.Release{Tag: "1.26.0"},
		Major: &sdk.Release{Tag: "2.0.0"}}}
	w.put(c)
	path := "/api/containers/" + c.ID
	got := decodeAs[Plan](w.do("POST", path+"/plan", "").want(200))
	same(t, "levels", got.Levels, []PlanLevel{{Version: "1.26.0", Kind: "minor"},
		{Version: "2.0.0", Kind: "major", Chosen: true}})
	if got.Kind != sdk.DiffMajor || !got.Major {
		t.Errorf("%s, major %t", got.Kind, got.Major)
	}
	got = decodeAs[Plan](w.do("POST", path+"/plan", `{"version":"1.26.0"}`).want(200))
	if got.Kind != sdk.DiffMinor || got.Major || !got.Levels[0].Chosen {
		t.Errorf("of the minor one: %+v", got)
	}
	w.do("POST", path+"/update", `{"version":"1.26.0"}`).want(202)
	if to := w.updates.started[0].Container; to.Result.Tag != "1.26.0" || to.UpdateKind.SemverDiff != sdk.DiffMinor {
		t.Errorf("started to %+v", to.Result)
	}
	w.do("POST", path+"/plan", `{"version":"1.24.0"}`).fails(400, "none of the newer versions")
	w.do("POST", path+"/update", `{"version":"1.24.0"}`).fails(400, "none of the newer versions")
	if plan := decodeAs[Plan](w.do("POST", path+"/plan", `{"kind":"rollback"}`).want(200)); plan.Kind != "" ||
		plan.Levels != nil {
		t.Errorf("of a rollback: %+v", plan)
	}
}

func TestImageDiffOfContainer(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	got := decodeAs[ImageDiff](w.do("GET", "/api/containers/"+nginx().ID+"/diff", "").want(200))
	same(t, "layers", got.Layers, &imagediff.Layers{Before: 1, After: 2, Shared: 1, Download: 3})
	var codes []string
	for _, warning := range got.Warnings {
		codes = append(codes, warning.Code)
	}
	same(t, "warnings", codes, []string{"image.user", "image.volume", "image.port"})
	if got.From.Digest != "sha256:old" || got.To.Reference != "nginx:1.26.0" || len(got.Changes) != 3 {
		t.Errorf("%+v", got)
	}
	w.do("GET", "/api/containers/missing/diff", "").fails(404, "Container not found")
}

func TestStartOperation(t *testing.T) {
	w := start(t, []string{"DOGWATCH_SERVER_BASEPATH=/dog"})
	f := w.updates
	w.put(nginx())
	path := "/api/containers/" + nginx().ID
	got := w.do("POST", path+"/update",
		`{"acknowledge":["data.writable-layer"],"digest":"sha256:9f","state":"5d41","dryRun":true}`).want(202)
	if at := got.header.Get("Location"); at != "/dog/api/operations/op1" {
		t.Errorf("Location is %q", at)
	}
	same(t, "state", decodeAs[Operation](got).State, operation.Queued)
	w.do("POST", path+"/rollback", "").want(202)
	if len(f.started) != 2 || f.started[1].Kind != operation.Rollback {
		t.Fatalf("started %+v", f.started)
	}
	first := f.started[0]
	if first.Kind != operation.Update || first.Container.ID != nginx().ID || first.Digest != "sha256:9f" ||
		first.State != "5d41" || !first.Rules.DryRun ||
		!slices.Equal(first.Rules.Acknowledged, []string{"data.writable-layer"}) {
		t.Errorf("started %+v", first)
	}
}

// TestChangeErrors: each reason has a status and a code of its own, and no secret.
func TestChangeErrors(t *testing.T) {
	w := start(t, nil)
	f := w.updates
	w.put(nginx())
	for _, test := range []struct {
		err    error
		status int
		code   string
		text   string
	}{
		{&updater.BlockedError{Plan: planOf(nginx())}, 422, "blocked", "data.writable-layer"},
		{&updater.ConflictError{Operation: operationOf(nginx())}, 409, "conflict", "operation op1 of local/nginx"},
		{fmt.Errorf("%w: set watcher.docker.local.update to true", updater.ErrForbidden), 403, "forbidden",
			"watcher.docker.local.update"},
		{updater.ErrUnsupported, 422, "unsupported", "cannot update"},
		{updater.ErrNoUpdate, 409, "no-update", "no image"},
		{updater.ErrChanged, 409, "changed", "changed since"},
		{updater.ErrUnplanned, 409, "unplanned", "no plan has this digest"},
		{updater.ErrEnded, 409, "ended", "ended"},
		{errors.New("the engine does not respond"), 502, "unreachable", "the engine does not respond"},
	} {
		f.failure = test.err
		for _, path := range []string{"/api/containers/" + nginx().ID + "/update", "/api/operations/op1/cancel"} {
			got := w.do("POST", path, "").fails(test.status, test.text)
			p := decodeAs[problem](got)
			if p.Code != test.code || (p.Plan != nil) != (test.code == "blocked") ||
				(p.Operation != nil) != (test.code == "conflict") {
				t.Errorf("%s for %v: %s", path, test.err, got.body)
			}
			if strings.Contains(string(got.body), "s3cret") {
				t.Errorf("a secret is shown: %s", got.body)
			}
		}
	}
	lines := []config.Lines{{Where: "In the file", Text: "watcher.docker.local.update: true\n"}}
	paste := config.Paste{Lines: lines, Docs: config.Docs("updating.md#allow-it")}
	f.failure = fmt.Errorf("local/nginx: %w", &updater.ForbiddenError{Watcher: "local", Paste: paste})
	refused := decodeAs[problem](w.do("POST", "/api/containers/"+nginx().ID+"/update", "").fails(403, "not allowed"))
	same(t, "lines", refused.Paste, paste)
	plan := planOf(nginx())
	plan.Blocks = []watcher.Reason{{Code: "engine.readonly", Text: "the proxy takes no changes"}}
	f.failure = &updater.BlockedError{Plan: plan}
	refused = decodeAs[problem](w.do("POST", "/api/containers/"+nginx().ID+"/update", "").fails(422, "takes no changes"))
	if len(refused.Plan.Paste.Lines) != 1 || !strings.Contains(refused.Plan.Paste.Lines[0].Text, "POST: 1") {
		t.Errorf("the plan has the lines %+v", refused.Plan.Paste)
	}
	f.failure = updater.ErrStopping
	w.do("POST", "/api/containers/"+nginx().ID+"/update", "").fails(503, "stopping")
}

// TestApproveOfABaseIsRefused with what to do; it can be skipped.
func TestApproveOfABaseIsRefused(t *testing.T) {
	w := start(t, nil)
	c := nginx()
	c.Base = &sdk.Image{Registry: sdk.Registry{Host: "docker.io"}, Name: "library/node", Tag: sdk.Tag{Value: "22"}}
	w.put(c)
	path := "/api/containers/" + c.ID + "/decision"
	w.do("POST", path, `{"action":"approve"}`).fails(400, "base image node:22 of local/nginx; rebuild the image")
	w.do("POST", path, `{"action":"skip"}`).want(200)
}

func TestOperationsFilter(t *testing.T) {
	w := start(t, nil)
	f := w.updates
	w.put(nginx())
	got := w.get("/api/operations?state=queued,running&container=" + nginx().ID + "&limit=7&before=op9").want(200)
	same(t, "filter", f.filter, operation.Filter{
		States: []operation.State{operation.Queued, operation.Running}, Watcher: "local", Name: "nginx", Before: "op9",
		Limit: 7,
	})
	same(t, "number", len(got.list()), 1)
	w.get("/api/operations?container=remote/gone").want(200)
	same(t, "filter", f.filter, operation.Filter{Watcher: "remote", Name: "gone", Limit: defaultPage})
	w.get("/api/operations?container=gone").fails(400, "container")
	w.get("/api/operations?state=done").fails(400, "state", "rolled-back")
	w.get("/api/operations?limit=0").fails(400, "limit")
	w.get("/api/operations?colour=red").fails(400, "colour")
}

func TestGetAndCancelOperation(t *testing.T) {
	w := start(t, nil)
	got := decodeAs[Operation](w.get("/api/operations/op1").want(200))
	if got.Outcome.Downtime != 1.5 || got.Outcome.Reason.Code != "pull.failed" || got.Steps[0].Error != "no space" ||
		got.State != operation.RolledBack {
		t.Errorf("%+v", got)
	}
	same(t, "evidence", got.Outcome.Evidence, &Evidence{
		Container: nginx().Name, Status: "exited", ExitCode: 3, Log: "cannot bind",
		Health: []HealthResult{{ExitCode: 7, Output: "not today"}},
	})
	w.get("/api/operations/other").fails(404, "Operation not found")
	w.do("POST", "/api/operations/other/cancel", "").fails(404, "Operation not found")
	w.do("POST", "/api/operations/op1/cancel", "").want(202)
}

// TestUpdatesWithoutUpdater: where nothing can update there are no operations, and a reason.
func TestUpdatesWithoutUpdater(t *testing.T) {
	w := start(t, nil, func(o *testOptions) { o.app.Updater, o.app.Operations = nil, nil })
	w.put(nginx())
	same(t, "operations", string(w.get("/api/operations").want(200).body), "[]")
	w.get("/api/operations/op1").fails(404)
	w.do("POST", "/api/operations/op1/cancel", "").fails(404)
	w.do("POST", "/api/containers/"+nginx().ID+"/update", "").fails(422, "local/nginx: the watcher cannot update")
}

// TestOperationEventsMatchTheDocument: events of operations are listed with what they carry.
func TestOperationEventsMatchTheDocument(t *testing.T) {
	w := start(t, nil)
	w.commitEvents(event.Event{At: time.Now(), Type: event.OperationStep, Subject: "local/nginx",
		Payload: event.Payload{Operation: &event.Operation{
			ID: "op1", Kind: "update", From: "nginx:1.25", To: "nginx:1.26", Actor: "ana", Trigger: "docker.local",
			Step: "pull", Ended: true, Code: "x", Error: "y"}}})
	if got := w.get("/api/events").want(200).list(); len(got) != 1 || got[0]["operation"].(map[string]any)["id"] != "op1" {
		t.Errorf("%v", got)
	}
}

func TestOperationUnderWayHasProgress(t *testing.T) {
	w := start(t, nil)
	if got := decodeAs[Operation](w.get("/api/operations/op1").want(200)); got.Progress != nil {
		t.Errorf("one that has ended: %+v", got.Progress)
	}
	w.updates.running = true
	if got := decodeAs[Operation](w.get("/api/operations/op1").want(200)); got.Progress == nil ||
		*got.Progress != (StepProgress{Message: "Downloading", Current: 3, Total: 10}) {
		t.Errorf("one under way: %+v", got.Progress)
	}
}
