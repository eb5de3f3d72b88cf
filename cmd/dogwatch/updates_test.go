package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dogwatch/dogwatch/core/api"
	"github.com/dogwatch/dogwatch/core/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// updatesServer answers as a Dogwatch with these containers: web can be updated, db
// is blocked until that is accepted, cache returns to the old container, and off may
// not be updated. An operation gets on by a step with each look at it.
type updatesServer struct {
	mu         sync.Mutex
	operations []api.Operation
}

// startUpdates puts the port of an updatesServer into the environment.
func startUpdates(ts *testscript.TestScript, _ bool, _ []string) {
	s := &updatesServer{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/containers", s.containers)
	mux.HandleFunc("POST /api/containers/{id}/plan", s.plan)
	mux.HandleFunc("POST /api/containers/{id}/update", s.begin(operation.Update))
	mux.HandleFunc("POST /api/containers/{id}/rollback", s.begin(operation.Rollback))
	mux.HandleFunc("GET /api/operations", s.list)
	mux.HandleFunc("GET /api/operations/{id}", s.get)
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	at, err := url.Parse(server.URL)
	ts.Check(err)
	ts.Setenv("DOGWATCH_SERVER_PORT", at.Port())
}

func respond(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *updatesServer) containers(w http.ResponseWriter, _ *http.Request) {
	var all []sdk.Container
	for name, diff := range map[string]string{"web": sdk.DiffPatch, "db": sdk.DiffMajor, "cache": sdk.DiffMinor, "off": sdk.DiffMajor} {
		all = append(all, sdk.Container{ID: name + "0123456789", Name: name, Watcher: "local", UpdateAvailable: true,
			Image:      sdk.Image{Name: "library/" + name, Registry: sdk.Registry{Host: "docker.io"}, Tag: sdk.Tag{Value: "1.0"}},
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "2.0", SemverDiff: diff}})
	}
	respond(w, http.StatusOK, all)
}

func (s *updatesServer) planOf(name string, acknowledged []string) api.Plan {
	p := api.Plan{
		Container: api.PlanContainer{ID: name + "0123456789", Name: name}, State: "s1",
		From:     api.PlanImage{Reference: "docker.io/library/" + name + ":1.0"},
		To:       api.PlanImage{Reference: "docker.io/library/" + name + ":2.0", Digest: "sha256:9f"},
		Steps:    []api.PlanStep{{ID: "pull", Code: "pull", Text: "pull the image"}, {ID: "start", Code: "start", Text: "start the new " + name}},
		Carried:  []api.Setting{{Name: "env DB_PASSWORD"}, {Name: "port 80/tcp", Value: "8080"}},
		Changes:  []api.ImageChange{{Name: "env VERSION", Before: "1.0", After: "2.0"}, {Name: "volume /cache", After: "declared"}},
		Warnings: []api.Reason{}, Blocks: []api.Reason{}, Dependents: []api.Dependent{{ID: "v", Name: "vpn", Relation: "network_mode", Action: watcher.StepCreate}},
	}
	if name == "db" && len(acknowledged) == 0 {
		p.Blocks = []api.Reason{{Code: "data.writable-layer", Text: "12 MB were written into the container", Acknowledge: true}}
	}
	return p
}

func (s *updatesServer) plan(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("id"), "0123456789")
	var body change
	if json.NewDecoder(r.Body).Decode(&body) != nil || name == "off" {
		respond(w, http.StatusForbidden, map[string]string{"detail": "watcher local: updating is not allowed: set watcher.docker.local.update to true", "code": "forbidden"})
		return
	}
	respond(w, http.StatusOK, s.planOf(name, body.Acknowledge))
}

func (s *updatesServer) begin(kind operation.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body change
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Digest != "sha256:9f" || body.State != "s1" {
			respond(w, http.StatusConflict, map[string]string{"detail": "it has changed since it was planned", "code": "changed"})
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		name := strings.TrimSuffix(r.PathValue("id"), "0123456789")
		op := api.Operation{ID: fmt.Sprintf("op%d", len(s.operations)+1), Kind: kind, State: operation.Queued, Watcher: "local", Name: name, Actor: "ana",
			DryRun: body.DryRun, Plan: s.planOf(name, []string{"x"}), QueuedAt: time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}
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

// advance begins or ends a step, or ends the operation.
func advance(op *api.Operation) {
	at := op.QueuedAt
	n := len(op.Steps)
	switch {
	case op.State.Ended():
	case n > 0 && !op.Steps[n-1].Ended:
		op.Steps[n-1].Ended, op.Steps[n-1].EndedAt = true, at.Add(2*time.Second)
		if op.Name == "cache" && n == len(op.Plan.Steps) {
			op.Steps[n-1].Error = "it exited with 1"
		}
	case n < len(op.Plan.Steps):
		op.State = operation.Running
		op.Steps = append(op.Steps, api.StepRecord{PlanStep: op.Plan.Steps[n], BeganAt: at})
	case op.Name == "cache":
		op.State, op.Error = operation.RolledBack, "the new cache exited with 1"
	default:
		op.State, op.Outcome = operation.Succeeded, &api.Outcome{State: watcher.Updated, Downtime: 0.8}
	}
}
