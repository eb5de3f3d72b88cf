package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
)

const contentJSON = "application/json; charset=utf-8"

// encode returns v as compact JSON with '<', '>' and '&' as they are: it is not meant for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// respond responds with a value as JSON.
func (h *handler) respond(w http.ResponseWriter, r *http.Request, value any) {
	h.respondStatus(w, r, http.StatusOK, value)
}

func (h *handler) respondStatus(w http.ResponseWriter, r *http.Request, status int, value any) {
	body, err := encode(value)
	if err != nil {
		h.failWith(w, r, fmt.Errorf("encode a response: %w", err))
		return
	}
	h.send(w, r, status, contentJSON, body)
}

// send responds with a body, or with 304 to a conditional request of a client
// that has it already.
func (h *handler) send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	if status == http.StatusOK {
		sum := fnv.New64a()
		_, _ = sum.Write(body) // never fails
		if unchanged(w, r, fmt.Sprintf(`W/"%x-%x"`, len(body), sum.Sum64())) {
			return
		}
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}

// unchanged sets the entity tag (ETag) of a response to GET. It responds with 304
// and returns true to a conditional request (If-None-Match) of a client that has
// what the tag stands for (RFC 9110, section 13.1.2).
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	w.Header().Set("ETag", tag)
	for _, known := range strings.Split(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		known = strings.TrimSpace(known)
		if known == "*" || strings.TrimPrefix(known, "W/") == strings.TrimPrefix(tag, "W/") {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
