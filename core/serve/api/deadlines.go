package api

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// deadlineBody is the body of a request that has to come before a read deadline.
// The deadline ends only with the body: net/http reads what a handler leaves, to
// use the connection again, and would wait for it without an end.
type deadlineBody struct {
	io.ReadCloser
	control *http.ResponseController
	conn    *connection
	read    int // bytes
}

// withReadDeadline gives the client its time to send the body, if it has announced one.
// What was read of it counts as held for the client until release is called.
func withReadDeadline(
	w http.ResponseWriter, r *http.Request, limit time.Duration,
) (limited *http.Request, release func()) {
	if r.ContentLength == 0 || r.Body == nil {
		return r, func() {}
	}
	body := &deadlineBody{ReadCloser: r.Body, control: http.NewResponseController(w), conn: connectionOf(r.Context())}
	_ = body.control.SetReadDeadline(time.Now().Add(limit)) // not possible in tests without a connection
	// A copy: the body in the original is what net/http knows how to end.
	r = r.WithContext(r.Context())
	r.Body = body
	return r, func() { body.conn.hold(-body.read) }
}

func (b *deadlineBody) Read(p []byte) (int, error) {
	b.conn.startWait(0)
	n, err := b.ReadCloser.Read(p)
	b.read += n
	b.conn.endWait(0)
	b.conn.hold(n)
	if err == io.EOF {
		// From now on net/http reads only to notice that the client has gone.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// deadlineWriter is the response to a request. It knows whether anything was
// sent, and sets write deadlines, so that a client that stopped reading does not
// hold it for ever.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	limits  limits
	conn    *connection
	status  int // 0 until something was sent
	// end is when the client must have read the response; zero for a stream.
	end time.Time
}

// Unwrap lets http.ResponseController find the real one.
func (d *deadlineWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func (d *deadlineWriter) WriteHeader(status int) {
	d.extend(status)
	d.ResponseWriter.WriteHeader(status)
}

func (d *deadlineWriter) Write(p []byte) (int, error) {
	d.extend(http.StatusOK)
	d.conn.startWait(len(p))
	defer d.conn.endWait(len(p))
	return d.ResponseWriter.Write(p)
}

// extend moves the write deadline for the piece that is about to be written.
func (d *deadlineWriter) extend(status int) {
	now := time.Now()
	if d.status == 0 {
		d.status = status
		if !strings.HasPrefix(d.Header().Get("Content-Type"), "text/event-stream") {
			d.end = now.Add(d.limits.response)
		}
	}
	deadline := now.Add(d.limits.piece)
	if !d.end.IsZero() && d.end.Before(deadline) {
		deadline = d.end
	}
	_ = d.control.SetWriteDeadline(deadline) // not possible in tests without a connection
}
