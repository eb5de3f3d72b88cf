package api

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// changeBody is the body of requests to plan, update and roll back.
type changeBody struct {
	Kind        operation.Kind `json:"kind"` // of a plan only
	Version     string         `json:"version"`
	Acknowledge []string       `json:"acknowledge"`
	DryRun      bool           `json:"dryRun"`
	Digest      string         `json:"digest"`
	State       string         `json:"state"`
	// Compose has the compose file changed too, see composeRules.
	Compose string `json:"compose"`
}

// composeRules are what requests may ask for about compose files.
var composeRules = map[string]*watcher.ComposeRules{
	"":        nil, // what configuration says
	"edit":    {Backup: true},
	"command": {Backup: true, Command: true},
}

// change returns what a request asks for. It responds with an error and returns
// false when the body cannot be read.
func (h *handler) change(w http.ResponseWriter, r *http.Request, kind operation.Kind) (service.Change, bool) {
	body := changeBody{Kind: operation.Update}
	if _, ok := h.decode(w, r, &body); !ok {
		return service.Change{}, false
	}
	kind = cmp.Or(kind, body.Kind)
	if kind != operation.Update && kind != operation.Rollback {
		h.failWith(w, r, sdk.Invalid("kind", "want %s or %s, got %q", operation.Update, operation.Rollback, kind))
		return service.Change{}, false
	}
	compose, known := composeRules[body.Compose]
	if !known {
		h.failWith(w, r, sdk.Invalid("compose", "want edit or command, got %q", body.Compose))
		return service.Change{}, false
	}
	return service.Change{
		Container: param(r, "id"), Kind: kind, Version: body.Version, Digest: body.Digest, State: body.State,
		Rules: watcher.UpdateRules{Acknowledged: body.Acknowledge, DryRun: body.DryRun, Compose: compose},
	}, true
}

func (h *handler) planContainer(w http.ResponseWriter, r *http.Request) {
	change, ok := h.change(w, r, "")
	if !ok {
		return
	}
	plan, err := h.Service.Plan(r.Context(), h.actor(r), change)
	if err != nil {
		h.failChange(w, r, notFound(err, "Container not found"))
		return
	}
	view := planView(plan)
	if details, err := h.Service.PlanDetails(r.Context(), h.actor(r), change); err == nil { // else it has just gone
		view.addDetails(details)
	}
	h.respond(w, r, view)
}

// startOperation begins an update or a rollback. The operation goes on when the
// client disconnects.
func (h *handler) startOperation(kind operation.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		change, ok := h.change(w, r, kind)
		if !ok {
			return
		}
		op, err := h.Service.StartOperation(r.Context(), h.actor(r), change)
		if err != nil {
			h.failChange(w, r, notFound(err, "Container not found"))
			return
		}
		w.Header().Set("Location", h.Config.Server.BasePath+"api/operations/"+op.ID)
		h.respondStatus(w, r, http.StatusAccepted, operationView(op))
	}
}

func (h *handler) listOperations(w http.ResponseWriter, r *http.Request) {
	filter, err := h.operationFilter(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	found, err := h.Service.Operations(r.Context(), filter)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	h.respond(w, r, each(found, h.operationView))
}

// operationStates are the values of the parameter state.
var operationStates = []string{
	string(operation.Queued), string(operation.Running), string(operation.Succeeded),
	string(operation.RolledBack), string(operation.Failed), string(operation.Cancelled),
}

// operationFilter returns the filter of a request for operations. A container is
// one that there is, by its id, or a name behind that of a watcher: an update gives
// a container another id.
func (h *handler) operationFilter(r *http.Request) (f operation.Filter, err error) {
	given, err := parameters(r, oneOf("limit", "before", "state", "container"))
	if err != nil {
		return f, err
	}
	limit, err := number(given, "limit", defaultPage, 1, maxPage)
	if err != nil {
		return f, err
	}
	f.Limit, f.Before = int(limit), given["before"]
	if given["state"] != "" {
		for state := range strings.SplitSeq(given["state"], ",") {
			if !slices.Contains(operationStates, state) {
				return f, sdk.Invalid("state", "want some of %s, got %q", strings.Join(operationStates, ", "), state)
			}
			f.States = append(f.States, operation.State(state))
		}
	}
	if container := given["container"]; container != "" {
		rec, err := h.Service.Container(container)
		if err == nil {
			f.Watcher, f.Name = rec.Container.Watcher, rec.Container.Name
			return f, nil
		}
		var both bool
		if f.Watcher, f.Name, both = strings.Cut(container, "/"); !both {
			return f, sdk.Invalid("container", "there is no container %q (any more): give its id, or watcher/name", container)
		}
	}
	return f, nil
}

func (h *handler) getOperation(w http.ResponseWriter, r *http.Request) {
	if op, found := h.operation(w, r); found {
		h.respond(w, r, h.operationView(op))
	}
}

// operationView is the view of an operation with the progress of the step under way.
func (h *handler) operationView(op operation.Operation) Operation {
	v := operationView(op)
	if p, underWay := h.Service.OperationProgress(op.ID); underWay && op.State == operation.Running &&
		p != (watcher.StepProgress{}) {
		progress := StepProgress(p)
		v.Progress = &progress
	}
	return v
}

// operationID returns the id of the path, in which letter case does not matter.
func operationID(r *http.Request) string { return strings.ToLower(param(r, "id")) }

// operation returns the operation that the path names. It responds with an error
// and returns false when there is none.
func (h *handler) operation(w http.ResponseWriter, r *http.Request) (operation.Operation, bool) {
	op, err := h.Service.Operation(r.Context(), operationID(r))
	if err != nil {
		h.failWith(w, r, notFound(err, "Operation not found"))
	}
	return op, err == nil
}

func (h *handler) cancelOperation(w http.ResponseWriter, r *http.Request) {
	if err := h.Service.CancelOperation(r.Context(), h.actor(r), operationID(r)); err != nil {
		h.failChange(w, r, notFound(err, "Operation not found"))
		return
	}
	if op, found := h.operation(w, r); found {
		h.respondStatus(w, r, http.StatusAccepted, operationView(op))
	}
}

// failChange responds with why a container is not changed.
func (h *handler) failChange(w http.ResponseWriter, r *http.Request, err error) {
	var blocked *updater.BlockedError
	var conflict *updater.ConflictError
	var invalid *sdk.InvalidError
	var forbidden *updater.ForbiddenError
	p := problem{Status: http.StatusConflict, Detail: err.Error()}
	switch {
	case errors.Is(err, service.ErrNotFound), errors.As(err, &invalid):
		h.failWith(w, r, err)
		return
	case errors.As(err, &blocked):
		view := planView(blocked.Plan)
		p.Status, p.Code, p.Plan = http.StatusUnprocessableEntity, "blocked", &view
	case errors.As(err, &conflict):
		view := operationView(conflict.Operation)
		p.Code, p.Operation = "conflict", &view
	case errors.As(err, &forbidden):
		p.Status, p.Code, p.Paste = http.StatusForbidden, "forbidden", forbidden.Paste
	case errors.Is(err, service.ErrForbidden):
		p.Status, p.Code = http.StatusForbidden, "forbidden"
	case errors.Is(err, updater.ErrUnsupported), errors.Is(err, sdk.ErrUnsupported):
		p.Status, p.Code = http.StatusUnprocessableEntity, "unsupported"
	case errors.Is(err, updater.ErrNoUpdate):
		p.Code = "no-update"
	case errors.Is(err, updater.ErrChanged):
		p.Code = "changed"
	case errors.Is(err, updater.ErrUnplanned):
		p.Code = "unplanned"
	case errors.Is(err, updater.ErrEnded):
		p.Code = "ended"
	case errors.Is(err, updater.ErrStopping), r.Context().Err() != nil:
		h.stopping(w, r, "")
		return
	default: // the registry or the engine could not be reached
		p.Status, p.Code = http.StatusBadGateway, "unreachable"
	}
	h.failProblem(w, r, p)
}
