package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

// maxBody is the largest request body, as clients of WUD know it.
const maxBody = 100 << 10

// readBody reads the body of a request that has one, whether its handler uses it
// or not, so that all handlers have the same limits. A missing body and one of a
// wrong content type are accepted.
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

// decode reads the JSON body of a request into target. It responds with an error
// and returns false when the body cannot be read; without a body it leaves target
// alone and returns not given.
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
