package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// maxBody is the largest request body, as clients of WUD know it.
	maxBody = 100 << 10
	// bodyTimeout is how long a client may take to send it.
	bodyTimeout = 30 * time.Second
)

// readBody reads the body of a request that may have one, whether its handler
// wants it or not, so that all of them have the same limits. A missing body and
// one of a wrong content type are fine.
func (h *handler) readBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not possible in tests without a connection
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		// What is read from now on is only whether the client is still there.
		_ = control.SetReadDeadline(time.Time{})
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			h.fail(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", maxBody))
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
