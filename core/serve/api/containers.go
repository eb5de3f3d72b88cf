package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func (h *handler) listContainers(w http.ResponseWriter, r *http.Request) {
	filter, err := h.parseContainerFilter(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	snapshot := h.Service.Containers()
	if !filter.empty() {
		h.respondFiltered(w, r, filter, snapshot)
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
	body, err := h.compressed.encode(snapshot)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	w.Header().Set("Content-Type", contentJSON)
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client may have gone
}

// respondFiltered responds with the containers that a filter selects.
func (h *handler) respondFiltered(
	w http.ResponseWriter, r *http.Request, filter containerFilter, snapshot store.Snapshot,
) {
	selected, err := filter.apply(snapshot.All())
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
	rec, err := h.Service.Container(param(r, "id"))
	if err != nil {
		h.failWith(w, r, notFound(err, "Container not found"))
		return nil
	}
	return rec
}

func (h *handler) getContainer(w http.ResponseWriter, r *http.Request) {
	if rec := h.container(w, r); rec != nil {
		h.send(w, r, http.StatusOK, contentJSON, rec.JSON)
	}
}

func (h *handler) deleteContainer(w http.ResponseWriter, r *http.Request) {
	if err := h.Service.DeleteContainer(r.Context(), h.actor(r), param(r, "id")); err != nil {
		h.failWith(w, r, notFound(err, "Container not found"))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *handler) watchContainers(w http.ResponseWriter, r *http.Request) {
	filter, err := h.parseContainerFilter(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	switch err := h.Service.CheckAll(r.Context(), h.actor(r)); {
	case err == nil:
		h.respondFiltered(w, r, filter, h.Service.Containers())
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
	switch err := h.Service.CheckOne(r.Context(), h.actor(r), rec.Container); {
	case errors.Is(err, check.ErrNotListed):
		h.fail(w, r, http.StatusNotFound, "Container not found: "+err.Error())
	case err != nil && r.Context().Err() != nil:
		h.stopping(w, r, checkGoesOn)
	case err != nil:
		h.fail(w, r, http.StatusInternalServerError, fmt.Sprintf("Error when watching container %s (%v)", id, err))
	default:
		after, found := h.Service.Containers().Get(id)
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
	h.respond(w, r, h.Service.Explain(r.Context(), rec.Container))
}

// containerTriggers lists the triggers that can run for a container, each with
// the threshold that the container's label gives it.
func (h *handler) containerTriggers(w http.ResponseWriter, r *http.Request) {
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	associated := []component.View{}
	for _, t := range h.Service.TriggersOf(h.actor(r), rec.Container) {
		associated = append(associated, t.View)
	}
	h.respond(w, r, associated)
}

// runContainerTrigger runs a trigger to its end, also when the client disconnects:
// an update of a container must not stop half way.
func (h *handler) runContainerTrigger(w http.ResponseWriter, r *http.Request) {
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	typ, name := param(r, "type"), param(r, "name")
	switch err := h.Service.RunTrigger(h.run, h.actor(r), typ, name, []sdk.Container{rec.Container}, false); {
	case errors.Is(err, service.ErrNotFound):
		h.fail(w, r, http.StatusNotFound, "Trigger not found"+h.nearest(r, kind.Trigger))
	case err != nil:
		h.fail(w, r, http.StatusInternalServerError,
			fmt.Sprintf("Error when running trigger (type=%s, name=%s) (%v)", typ, name, err))
	default:
		h.respond(w, r, struct{}{})
	}
}
