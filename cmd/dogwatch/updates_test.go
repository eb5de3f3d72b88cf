package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// updatesServer answers as a Dogwatch with these containers: web can be updated, db
// is blocked until that is accepted, cache returns to the old container, off may
// not be updated, app is recreated with vpn, new has no update, and pg a major and a minor one. An operation gets on
// by a step with each look at it, and one of slow never.
type updatesServer struct {
	mu         sync.Mutex
	operations []api.Operation
	stack      []sdk.Container // instead of these containers
}

// startUpdates puts the port of an updatesServer into the environment.
func startUpdates(ts *testscript.TestScript, _ bool, _ []string) {
	server := httptest.NewServer((&updatesServer{}).handler())
	ts.Defer(server.Close)
	at, err := url.Parse(server.URL)
	ts.Check(err)
	ts.Setenv("DOGWATCH_SERVER_PORT", at.Port())
}

func (s *updatesServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/containers", s.containers)
	mux.HandleFunc("POST /api/containers/{id}/plan", s.plan)
	mux.HandleFunc("POST /api/containers/{id}/update", s.begin(operation.Update))
	mux.HandleFunc("POST /api/containers/{id}/rollback", s.begin(operation.Rollback))
	mux.HandleFunc("GET /api/operations", s.list)
	mux.HandleFunc("GET /api/operations/{id}", s.get)
	mux.HandleFunc("POST /api/operations/{id}/cancel", s.cancel)
	return mux
}

func respond(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *updatesServer) containers(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []sdk.Container
	for _, c := range []struct{ name, diff string }{
		{"web", sdk.DiffPatch}, {"db", sdk.DiffMajor}, {"cache", sdk.DiffMinor}, {"off", sdk.DiffMajor},
		{"off2", sdk.DiffMajor}, {"app", sdk.DiffPrerelease}, {"vpn", sdk.DiffPrerelease}, {"new", ""},
		{"pg", sdk.DiffMajor}, {"slow", sdk.DiffPrerelease},
	} {
		all = append(all, sdk.Container{ID: s.idOf(c.name), Name: c.name, Watcher: "local", UpdateAvailable: c.diff != "",
			Image: sdk.Image{
				Name: "library/" + c.name, Registry: sdk.Registry{Host: "docker.io"}, Tag: sdk.Tag{Value: "1.0"},
			},
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "2.0", SemverDiff: c.diff}})
	}
	if s.stack != nil {
		all = s.stack
	}
	respond(w, http.StatusOK, all)
}

// idOf returns the id that a container has now.
func (s *updatesServer) idOf(name string) string {
	vpn := func(op api.Operation) bool { return op.Name == "vpn" && op.State == operation.Succeeded }
	if name == "app" && slices.ContainsFunc(s.operations, vpn) {
		return name + "9876543210"
	}
	return name + "0123456789"
}

func nameOf(r *http.Request) string { return strings.TrimRight(r.PathValue("id"), "0123456789") }

func (s *updatesServer) planOf(name string, acknowledged []string) api.Plan {
	size := int64(12_300_000)
	p := api.Plan{
		Container: api.PlanContainer{ID: name + "0123456789", Name: name}, State: "s1",
		From: api.PlanImage{Reference: "docker.io/library/" + name + ":1.0", Digest: "sha256:1a"},
		To:   api.PlanImage{Reference: "docker.io/library/" + name + ":2.0", Digest: "sha256:9f"},
		Steps: []api.PlanStep{{ID: "pull", Code: "pull", Text: "pull the image"}, {
			ID: "start", Code: "start", Text: "start the new " + name,
		}},
		Carried: []api.Setting{{Name: "env DB_PASSWORD"}, {Name: "port 80/tcp", Value: "8080"}},
		Changes: []api.ImageChange{{Name: "env VERSION", Before: "1.0", After: "2.0"}, {
			Name: "volume /cache", After: "declared",
		}},
		Files: []api.FileChange{{
			Path: "/stack/compose.yaml", Line: 4, Diff: "-    image: " + name + ":1.0\n+    image: " + name + ":2.0\n",
		}},
		Backups:  []api.Backup{{ID: "b", Name: name + "-before", Image: name + ":0.9", Size: &size}},
		Space:    api.Space{Download: &size},
		Warnings: []api.Reason{}, Blocks: []api.Reason{},
		Dependents: []api.Dependent{{ID: "v", Name: "vpn", Relation: "network_mode", Action: watcher.StepCreate}},
	}
	if name == "db" && len(acknowledged) == 0 {
		p.Blocks = []api.Reason{{
			Code: "data.writable-layer", Text: "12 MB were written into the container", Acknowledge: true,
		}}
	}
	switch name {
	case "vpn":
		p.Dependents = []api.Dependent{{
			ID: "app0123456789", Name: "app", Relation: "network_mode", Action: watcher.StepCreate,
		}}
	case "pg":
		p.Kind, p.Major, p.Dependents = sdk.DiffMajor, true, nil
		p.Levels = []api.PlanLevel{{Version: "1.6", Kind: sdk.DiffMinor},
			{Version: "2.0", Kind: sdk.DiffMajor, Chosen: true}}
		p.Releases = []api.PlanRelease{{Version: "2.0", Breaking: []string{"**adminpack** is gone"},
			Action: []string{"Dump it"}}}
		p.Warnings = []api.Reason{{Code: "major",
			Text: "it is a major update. Dump it. See https://example.org/upgrading"}}
	case "app":
		p.Dependents, p.State = nil, s.idOf(name)
	}
	return p
}

// planOfVersion is planOf, to a version that a user chose.
func (s *updatesServer) planOfVersion(name string, body change) api.Plan {
	p := s.planOf(name, body.Acknowledge)
	if body.Version != "" && body.Version != "2.0" { // which is offered
		p.Kind, p.Major, p.To.Reference = sdk.DiffMinor, false, "docker.io/library/"+name+":"+body.Version
		p.Levels = []api.PlanLevel{{Version: "1.6", Kind: sdk.DiffMinor, Chosen: true},
			{Version: "2.0", Kind: sdk.DiffMajor, SkippedBy: "ana"}}
	}
	return p
}

func (s *updatesServer) plan(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := nameOf(r)
	var body change
	if name == "new" {
		respond(w, http.StatusConflict, map[string]string{
			"detail": "local/new: there is no update: nothing newer is known", "code": "no-update",
		})
		return
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || strings.HasPrefix(name, "off") {
		paste := config.Paste{Docs: config.Docs("updating.md#allow-it"), Lines: []config.Lines{
			{Where: "In the compose file of Dogwatch", Text: "services:\n  dogwatch:\n"},
			{Where: "At the end of the file", Text: "watcher.docker.local.update: true\x1b[2J\n"}}}
		respond(w, http.StatusForbidden, map[string]any{"code": "forbidden", "paste": paste,
			"detail": "watcher local: updating is not allowed, since its option update is false: " +
				"set watcher.docker.local.update to true"})
		return
	}
	respond(w, http.StatusOK, s.planOfVersion(name, body))
}

func (s *updatesServer) begin(kind operation.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body change
		err := json.NewDecoder(r.Body).Decode(&body)
		s.mu.Lock()
		defer s.mu.Unlock()
		name := nameOf(r)
		if err != nil || r.PathValue("id") != s.idOf(name) || body.Digest != "sha256:9f" ||
			body.State != s.planOf(name, nil).State {
			respond(w, http.StatusConflict, map[string]string{
				"detail": "it has changed since it was planned", "code": "changed",
			})
			return
		}
		op := api.Operation{ID: fmt.Sprintf("op%d", len(s.operations)+1), Kind: kind, State: operation.Queued,
			Watcher: "local", Name: name, Actor: "ana",
			DryRun: body.DryRun, Plan: s.planOfVersion(name, change{Acknowledge: []string{"x"}, Version: body.Version}),
			QueuedAt: time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}
		s.operations = append(s.operations, op)
		respond(w, http.StatusAccepted, op)
	}
}

func (s *updatesServer) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	respond(w, http.StatusOK, append([]api.Operation{}, s.operations...))
}

func (s *updatesServer) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.operations {
		if op := &s.operations[i]; op.ID == r.PathValue("id") {
			advance(op)
			respond(w, http.StatusOK, op)
			return
		}
	}
	respond(w, http.StatusNotFound, map[string]string{"detail": "Operation not found"})
}

func (s *updatesServer) cancel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.operations {
		if op := &s.operations[i]; op.ID == r.PathValue("id") && !op.State.Ended() {
			op.State, op.Error = operation.Cancelled, "it was cancelled"
			respond(w, http.StatusAccepted, op)
			return
		}
	}
	respond(w, http.StatusConflict, map[string]string{"detail": "it has ended", "code": "ended"})
}

// advance begins or ends a step, or ends the operation.
func advance(op *api.Operation) {
	at := op.QueuedAt
	n := len(op.Steps)
	switch {
	case op.State.Ended(), op.Name == "slow" && n > 0:
	case n > 0 && !op.Steps[n-1].Ended:
		op.Steps[n-1].Ended, op.Steps[n-1].EndedAt = true, at.Add(2*time.Second)
		if op.Name == "cache" && n == len(op.Plan.Steps) {
			op.Steps[n-1].Error = "it exited with 1"
		}
	case n < len(op.Plan.Steps):
		op.State = operation.Running
		op.Steps = append(op.Steps, api.StepRecord{PlanStep: op.Plan.Steps[n], BeganAt: at})
		op.Progress = &api.StepProgress{Message: "Downloading", Current: 1_200_000, Total: 12_300_000}
	case op.Name == "cache":
		op.State, op.Error = operation.RolledBack, "the new cache exited with 1"
		op.Outcome = &api.Outcome{State: watcher.RolledBack, Evidence: &api.Evidence{
			Container: "cache", Status: "exited", ExitCode: 1, Error: "out of memory", Log: "starting\ncannot bind",
			Health: []api.HealthResult{{ExitCode: 7, Output: "not\ntoday"}},
		}}
	default:
		op.State, op.Outcome = operation.Succeeded, &api.Outcome{State: watcher.Updated, Downtime: 0.8}
	}
}

// serveUpdates starts the server and has commands of this test use it.
func serveUpdates(t *testing.T, h http.Handler) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOGWATCH_SERVER_PORT", at.Port())
	t.Setenv("DOGWATCH_STORE_PATH", t.TempDir())
	t.Chdir(t.TempDir())
}

func TestCancelEndsAnUpdateUnderWay(t *testing.T) {
	s := &updatesServer{}
	followed := make(chan struct{})
	var once sync.Once
	h := s.handler()
	serveUpdates(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if r.Method == http.MethodGet && r.URL.Path == "/api/operations/op1" {
			once.Do(func() { close(followed) })
		}
	}))
	var updated, updateErr, cancelled, cancelErr bytes.Buffer
	code := make(chan int, 1)
	go func() { code <- run(t.Context(), []string{"update", "slow", "--yes"}, &updated, &updateErr) }()
	<-followed
	if got := run(t.Context(), []string{"operations", "cancel", "op1"}, &cancelled, &cancelErr); got != exitOK ||
		!strings.Contains(cancelled.String(), "cancelled") {
		t.Errorf("exit code %d; %s%s", got, &cancelled, &cancelErr)
	}
	if got := <-code; got != exitFailure || !strings.Contains(updated.String(), "The reason: it was cancelled") {
		t.Errorf("exit code %d; %s%s", got, &updated, &updateErr)
	}
}

// An interrupt says that the operation goes on and how to stop it, and the command goes
// on too; SIGTERM ends it.
func TestInterruptedUpdateGoesOn(t *testing.T) {
	for name, test := range map[string]struct {
		cause error
		want  string
		code  int
	}{
		"interrupted": {nil,
			"operation op1 (web) goes on; to cancel it: dogwatch operations cancel op1\ninterrupt again to stop waiting", exitOK},
		"terminated": {errTerminated, "web: operation op1 goes on; see: dogwatch operations op1", exitFailure},
	} {
		t.Run(name, func(t *testing.T) {
			s := &updatesServer{}
			ctx, cancel := context.WithCancelCause(t.Context())
			begun := s.handler()
			serveUpdates(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				begun.ServeHTTP(w, r)
				if strings.HasPrefix(r.URL.Path, "/api/operations/") {
					cancel(test.cause)
				}
			}))
			var stdout, stderr bytes.Buffer
			code := run(ctx, []string{"update", "web", "--yes"}, &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit code %d, want %d; %s%s", code, test.code, &stdout, &stderr)
			}
			if ended := strings.Contains(stdout.String(), "local/web: web was updated to "); ended != (test.cause == nil) {
				t.Errorf("the end was shown: %t\n%s", ended, &stdout)
			}
		})
	}
}

func TestStepProgress(t *testing.T) {
	running := func(code string, p api.StepProgress) api.Operation {
		return api.Operation{Progress: &p, Steps: []api.StepRecord{{PlanStep: api.PlanStep{Code: code}}}}
	}
	ended := running(watcher.StepPull, api.StepProgress{Message: "Downloading"})
	ended.Steps[0].Ended = true
	for want, op := range map[string]api.Operation{
		"": ended,
		"Downloading, 1.2 MB of 3.0 MB": running(watcher.StepPull, api.StepProgress{
			Message: "Downloading", Current: 1_200_000, Total: 3_000_000,
		}),
		"Extracting":      running(watcher.StepPull, api.StepProgress{Message: "Extracting"}),
		"not healthy yet": running(watcher.StepHealth, api.StepProgress{Message: "not healthy yet", Current: 3}),
		"not healthy yet, 3 of 9": running(watcher.StepHealth, api.StepProgress{
			Message: "not healthy yet", Current: 3, Total: 9,
		}),
	} {
		if got := stepProgress(op); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
