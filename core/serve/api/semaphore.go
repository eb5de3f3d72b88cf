package api

import (
	"bytes"
	"net/http"
	"time"
)

const (
	// maxRendering is how many responses are rendered at a time. More would not be
	// ready sooner and would need the memory of all of them at once.
	maxRendering = 4
	// maxRenderWait is how long a request waits for the semaphore. After that it is
	// rendered without: one stuck renderer must not block every request.
	maxRenderWait = 5 * time.Second
)

// semaphore bounds how many responses are rendered at a time.
type semaphore chan struct{}

// limitRendering renders responses that need more memory than they have bytes
// under the semaphore, and sends them when they are complete: the memory is free
// by then, however slowly the client reads.
func (h *handler) limitRendering(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		complete := &bufferedResponse{header: w.Header(), status: http.StatusOK}
		if !h.rendering.run(r, func() { next(complete, r) }) {
			h.stopping(w, r, "")
			return
		}
		w.WriteHeader(complete.status)
		_, _ = w.Write(complete.body.Bytes()) // the client may have gone
	}
}

// run calls render when the semaphore lets it. It returns false, without having
// called it, when the request ends before that.
func (s semaphore) run(r *http.Request, render func()) bool {
	timeout := time.NewTimer(maxRenderWait)
	defer timeout.Stop()
	select {
	case s <- struct{}{}:
		defer func() { <-s }()
	case <-timeout.C:
	case <-r.Context().Done():
		return false
	}
	render()
	return true
}

// bufferedResponse keeps a response in memory until it is complete.
type bufferedResponse struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (b *bufferedResponse) Header() http.Header { return b.header }

func (b *bufferedResponse) WriteHeader(status int) {
	if !b.wrote {
		b.status, b.wrote = status, true
	}
}

func (b *bufferedResponse) Write(p []byte) (int, error) {
	b.wrote = true
	return b.body.Write(p)
}
