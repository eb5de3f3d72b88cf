package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/dispatch"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func (h *handler) listContainers(w http.ResponseWriter, r *http.Request) {
	q, err := h.parseQuery(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	snapshot := h.Store.Snapshot()
	if !q.empty() {
		h.respondQuery(w, r, q, snapshot)
		return
	}
	w.Header().Add("Vary", "Accept-Encoding")
	if unchanged(w, r, fmt.Sprintf(`W/"%x"`, snapshot.Version())) {
		return
	}
	if !acceptsGzip(r) {
		writeRecords(w, snapshot.All())
		return
	}
	body, err := h.compressed.of(snapshot)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	w.Header().Set("Content-Type", contentJSON)
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client may have gone
}

// respondQuery responds with the containers that a query selects.
func (h *handler) respondQuery(w http.ResponseWriter, r *http.Request, q query, snapshot store.Snapshot) {
	selected, err := q.apply(snapshot.All())
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	writeRecords(w, selected)
}

// writeRecords responds with records as a JSON array. Records carry their JSON,
// so nothing is encoded again, and nothing as large as the response is allocated.
func writeRecords(w http.ResponseWriter, records []*store.Record) {
	size := len("[]") + max(0, len(records)-1)
	for _, rec := range records {
		size += len(rec.JSON)
	}
	w.Header().Set("Content-Type", contentJSON)
	w.Header().Set("Content-Length", strconv.Itoa(size))
	out := bufio.NewWriterSize(w, pieceSize)
	_ = writeArray(out, records) // the client may have gone
	_ = out.Flush()
}

// pieceSize is how much of a list is sent at a time.
const pieceSize = 64 << 10

func writeArray(w io.Writer, records []*store.Record) error {
	separator, comma := []byte("["), []byte(",")
	for _, rec := range records {
		if _, err := w.Write(separator); err != nil {
			return err
		}
		if _, err := w.Write(rec.JSON); err != nil {
			return err
		}
		separator = comma
	}
	end := []byte("]")
	if len(records) == 0 {
		end = []byte("[]")
	}
	_, err := w.Write(end)
	return err
}

// container returns the container that the path names. It responds with 404 and
// returns nil when there is none.
func (h *handler) container(w http.ResponseWriter, r *http.Request) *store.Record {
	id := param(r, "id")
	snapshot := h.Store.Snapshot()
	if rec, found := snapshot.Get(id); found {
		return rec
	}
	for _, rec := range snapshot.All() {
		if strings.EqualFold(rec.Container.ID, id) {
			return rec
		}
	}
	h.fail(w, r, http.StatusNotFound, "Container not found")
	return nil
}

func (h *handler) getContainer(w http.ResponseWriter, r *http.Request) {
	if rec := h.container(w, r); rec != nil {
		h.send(w, r, http.StatusOK, contentJSON, rec.JSON)
	}
}

func (h *handler) deleteContainer(w http.ResponseWriter, r *http.Request) {
	if !h.Config.Server.Feature.Delete {
		h.fail(w, r, http.StatusForbidden, "deleting containers is switched off by server.feature.delete")
		return
	}
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	c := rec.Container
	gone := event.Event{At: h.Now(), Type: event.ContainerRemoved, Subject: event.Subject(c), Payload: event.Payload{Container: &c}}
	if err := h.Store.Commit(r.Context(), event.Change{Remove: []string{c.ID}, Events: []event.Event{gone}}); err != nil {
		h.failWith(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *handler) watchContainers(w http.ResponseWriter, r *http.Request) {
	q, err := h.parseQuery(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	switch err := h.Checks.WatchAll(r.Context()); {
	case err == nil:
		h.respondQuery(w, r, q, h.Store.Snapshot())
	case r.Context().Err() != nil:
		h.stopping(w, r, checkGoesOn)
	default:
		h.fail(w, r, http.StatusInternalServerError, fmt.Sprintf("Error when watching images (%v)", err))
	}
}

const checkGoesOn = "; the check that was asked for has its time to end"

func (h *handler) watchContainer(w http.ResponseWriter, r *http.Request) {
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	id := rec.Container.ID
	switch err := h.Checks.WatchOne(r.Context(), rec.Container); {
	case errors.Is(err, check.ErrNotListed):
		h.fail(w, r, http.StatusNotFound, "Container not found: "+err.Error())
	case err != nil && r.Context().Err() != nil:
		h.stopping(w, r, checkGoesOn)
	case err != nil:
		h.fail(w, r, http.StatusInternalServerError, fmt.Sprintf("Error when watching container %s (%v)", id, err))
	default:
		after, found := h.Store.Snapshot().Get(id)
		if !found {
			h.fail(w, r, http.StatusNotFound, "Container not found: it was removed during the check")
			return
		}
		h.send(w, r, http.StatusOK, contentJSON, after.JSON)
	}
}

func (h *handler) explainContainer(w http.ResponseWriter, r *http.Request) {
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	why := h.Checks.Explain(r.Context(), rec.Container)
	why.Error = h.Redact(why.Error)
	for i := range why.Summary {
		why.Summary[i] = h.Redact(why.Summary[i])
	}
	h.respond(w, r, why)
}

// containerTriggers lists the triggers that can run for a container, each with
// the threshold that the container's label gives it.
func (h *handler) containerTriggers(w http.ResponseWriter, r *http.Request) {
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	associated := []component.View{}
	for _, t := range h.Components.Triggers() {
		threshold, ok := dispatch.Associated(t.ID(), t.Settings.IncludeByDefault, rec.Container)
		if !ok {
			continue
		}
		view := h.view(r, &t.Component)
		if threshold != "" {
			// The view's configuration is shared; this container's threshold is not.
			view.Configuration = maps.Clone(view.Configuration)
			view.Configuration["threshold"] = threshold
		}
		associated = append(associated, view)
	}
	h.respond(w, r, associated)
}

func (h *handler) runContainerTrigger(w http.ResponseWriter, r *http.Request) {
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	typ, name := param(r, "type"), param(r, "name")
	t, found := h.Components.Trigger(typ + "." + name)
	if !found {
		h.fail(w, r, http.StatusNotFound, "Trigger not found")
		return
	}
	if err := h.runNow(t, rec.Container, false); err != nil {
		h.fail(w, r, http.StatusInternalServerError, fmt.Sprintf("Error when running trigger (type=%s, name=%s) (%v)", typ, name, err))
		return
	}
	h.respond(w, r, struct{}{})
}

// runNow runs a trigger to its end, also when the client has lost patience: an
// update of a container must not stop half way.
func (h *handler) runNow(t *component.Trigger, c sdk.Container, test bool) error {
	if _, err := t.State(); err != nil && !t.Usable() {
		return err
	}
	return h.Triggers.RunNow(h.run, t.ID(), []sdk.Container{c}, test)
}
