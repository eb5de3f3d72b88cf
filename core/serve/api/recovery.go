package api

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"time"
)

// recovery turns a panic of a handler into an error response without internals,
// sets the deadlines of the request and of its response, and logs each request.
func (h *handler) recovery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		conn := connectionOf(r.Context())
		response := &deadlineWriter{ResponseWriter: w, control: http.NewResponseController(w), limits: h.limits, conn: conn}
		r, release := withReadDeadline(response, r, h.limits.body)
		defer release()
		if r.ProtoMajor == 1 { // HTTP/2 has other requests on the connection
			defer conn.responded()
		}
		defer func() {
			problem := recover()
			switch {
			case problem == nil:
				h.Log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", response.status, "took",
					time.Since(began).Round(time.Microsecond))
				return
			case problem != http.ErrAbortHandler:
				h.Log.Error("request panicked", "method", r.Method, "path", r.URL.Path, "error", fmt.Sprint(problem),
					"stack", string(debug.Stack()))
			}
			if response.status != 0 || problem == http.ErrAbortHandler {
				panic(http.ErrAbortHandler) // the client must not take a part of the response for all of it
			}
			h.fail(response, r, http.StatusInternalServerError, internalError)
		}()
		response.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(response, r)
	})
}
