package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// maxBody is the largest request body, as clients of WUD know it.
const maxBody = 100 << 10

// timedBody is the body of a request that has to come within a time. The time
// ends only with the body: what nobody reads, net/http reads to keep the
// connection, and would wait for without an end.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	conn    *connection
	read    int // bytes
}

// timed gives the client its time to send the body, if it has announced one.
// What was read of it counts as held for the client until release.
func timed(w http.ResponseWriter, r *http.Request, limit time.Duration) (timed *http.Request, release func()) {
	if r.ContentLength == 0 || r.Body == nil {
		return r, func() {}
	}
	body := &timedBody{ReadCloser: r.Body, control: http.NewResponseController(w), conn: connectionOf(r.Context())}
	_ = body.control.SetReadDeadline(time.Now().Add(limit)) // not possible in tests without a connection
	// A copy: the body in the original is what net/http knows how to end.
	r = r.WithContext(r.Context())
	r.Body = body
	return r, func() { body.conn.hold(-body.read) }
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.conn.wait(0)
	n, err := b.ReadCloser.Read(p)
	b.read += n
	b.conn.goOn(0)
	b.conn.hold(n)
	if err == io.EOF {
		// What is read from now on is only whether the client is still there.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// readBody reads the body of a request that has one, whether its handler wants
// it or not, so that all of them have the same limits. A missing body and one
// of a wrong content type are fine.
func (h *handler) readBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			h.fail(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", maxBody))
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			h.fail(w, r, http.StatusRequestTimeout, fmt.Sprintf("the body did not come within %s", h.limits.body))
			return
		case err != nil:
			h.fail(w, r, http.StatusBadRequest, "the body could not be read to its end")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// decode reads the JSON body of a request into target. It answers and returns
// false when the body cannot be read; without a body it leaves target alone and
// returns not given.
func (h *handler) decode(w http.ResponseWriter, r *http.Request, target any) (given, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.failWith(w, r, fmt.Errorf("read a body from memory: %w", err))
		return false, false
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 || bytes.Equal(body, []byte("null")) {
		return false, true
	}
	if err := json.Unmarshal(body, target); err != nil {
		detail, fields := explainJSON(err)
		h.fail(w, r, http.StatusBadRequest, detail, fields...)
		return true, false
	}
	return true, true
}
