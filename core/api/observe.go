package api

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// observed is the answer of a request: it knows whether anything was sent, and
// does not let a client that stopped reading hold it for ever.
type observed struct {
	http.ResponseWriter
	control *http.ResponseController
	limits  limits
	conn    *connection
	status  int // 0 until something was sent
	// latest is when the answer must have been taken; zero for a stream.
	latest time.Time
}

// Unwrap lets http.ResponseController find the real one.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (o *observed) WriteHeader(status int) {
	o.begin(status)
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(p []byte) (int, error) {
	o.begin(http.StatusOK)
	o.conn.wait(len(p))
	defer o.conn.goOn(len(p))
	return o.ResponseWriter.Write(p)
}

func (o *observed) begin(status int) {
	now := time.Now()
	if o.status == 0 {
		o.status = status
		if !strings.HasPrefix(o.Header().Get("Content-Type"), "text/event-stream") {
			o.latest = now.Add(o.limits.answer)
		}
	}
	end := now.Add(o.limits.piece)
	if !o.latest.IsZero() && o.latest.Before(end) {
		end = o.latest
	}
	_ = o.control.SetWriteDeadline(end) // not possible in tests without a connection
}

// observe turns a panic of a handler into an answer without internals, limits
// how long the client may take, and logs each request.
func (h *handler) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		conn := connectionOf(r.Context())
		answer := &observed{ResponseWriter: w, control: http.NewResponseController(w), limits: h.limits, conn: conn}
		r, release := timed(answer, r, h.limits.body)
		defer release()
		if r.ProtoMajor == 1 { // HTTP/2 has other requests on the connection
			defer conn.answered()
		}
		defer func() {
			problem := recover()
			switch {
			case problem == nil:
				h.Log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", answer.status, "took", time.Since(began).Round(time.Microsecond))
				return
			case problem != http.ErrAbortHandler:
				h.Log.Error("request panicked", "method", r.Method, "path", r.URL.Path, "error", fmt.Sprint(problem), "stack", string(debug.Stack()))
			}
			if answer.status != 0 || problem == http.ErrAbortHandler {
				panic(http.ErrAbortHandler) // the client must not take what it got for the whole
			}
			h.fail(answer, r, http.StatusInternalServerError, internalError)
		}()
		answer.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(answer, r)
	})
}
