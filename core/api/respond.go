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

// reply answers with a value as JSON.
func (h *handler) reply(w http.ResponseWriter, r *http.Request, value any) {
	h.replyStatus(w, r, http.StatusOK, value)
}

func (h *handler) replyStatus(w http.ResponseWriter, r *http.Request, status int, value any) {
	body, err := encode(value)
	if err != nil {
		h.failWith(w, r, fmt.Errorf("encode an answer: %w", err))
		return
	}
	h.send(w, r, status, contentJSON, body)
}

// send answers with a body, or with 304 when the client says that it has it already.
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

// unchanged gives a GET its entity tag, and answers 304 and returns true when
// the client already has what the tag stands for (RFC 9110, section 13.1.2).
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
