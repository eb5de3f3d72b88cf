package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// internalError is all that a response says about a bug in this program.
const internalError = "internal error; the log of dogwatch has the details"

// problem is an error as clients see it: RFC 9457, plus "error" with the
// message where clients of WUD look for it.
type problem struct {
	Type     string  `json:"type"`
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Detail   string  `json:"detail"`
	Instance string  `json:"instance,omitempty"`
	Error    string  `json:"error"`
	Errors   []field `json:"errors,omitempty"`
	// Code says why a container is not changed; Plan has the blocks, Operation is the
	// one under way.
	Code      string     `json:"code,omitempty"`
	Plan      *Plan      `json:"plan,omitempty"`
	Operation *Operation `json:"operation,omitempty"`
	// Paste has the lines that allow what was refused, if there are any.
	Paste config.Paste `json:"paste,omitzero"`
}

// field is what is wrong with one field of a request.
type field struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// fail responds with an error (RFC 9457 problem details).
func (h *handler) fail(w http.ResponseWriter, r *http.Request, status int, detail string, fields ...field) {
	h.failProblem(w, r, problem{Status: status, Detail: detail, Errors: fields})
}

// failProblem responds with a problem, of which the caller gives the status, the
// detail and what is particular to it.
func (h *handler) failProblem(w http.ResponseWriter, r *http.Request, p problem) {
	p.Type, p.Title, p.Instance = "about:blank", http.StatusText(p.Status), r.URL.Path
	p.Detail = h.Redact(p.Detail)
	p.Error = p.Detail
	for i := range p.Errors {
		p.Errors[i].Detail = h.Redact(p.Errors[i].Detail)
	}
	body, err := encode(p)
	if err != nil {
		panic(fmt.Sprintf("encode a problem: %v", err)) // plain data; cannot fail
	}
	for _, ofSuccess := range []string{"ETag", "Content-Encoding", "Content-Length"} {
		w.Header().Del(ofSuccess)
	}
	h.send(w, r, p.Status, "application/problem+json", body)
}

// failWith responds with the status that belongs to an error. An error that
// neither the client nor the operator caused is logged, and not sent.
func (h *handler) failWith(w http.ResponseWriter, r *http.Request, err error) {
	var invalid *sdk.InvalidError
	switch {
	case errors.As(err, &invalid):
		var fields []field
		for _, f := range invalid.Fields {
			fields = append(fields, field{Field: f.Field, Detail: f.Detail})
		}
		h.fail(w, r, http.StatusBadRequest, err.Error(), fields...)
	case errors.Is(err, service.ErrNotFound):
		h.fail(w, r, http.StatusNotFound, err.Error())
	case errors.Is(err, service.ErrForbidden):
		h.fail(w, r, http.StatusForbidden, err.Error())
	case errors.Is(err, service.ErrNotFailed):
		h.fail(w, r, http.StatusConflict, service.ErrNotFailed.Error())
	case errors.Is(err, store.ErrFull):
		h.fail(w, r, http.StatusInsufficientStorage, err.Error())
	case r.Context().Err() != nil:
		h.stopping(w, r, "")
	default:
		h.Log.Error("respond to a request", "method", r.Method, "path", r.URL.Path, "error", err)
		h.fail(w, r, http.StatusInternalServerError, internalError)
	}
}

// notFound gives a service.ErrNotFound the text that clients know. It returns other
// errors as they are.
func notFound(err error, text string) error {
	if errors.Is(err, service.ErrNotFound) {
		return sdk.WithKind(service.ErrNotFound, errors.New(text))
	}
	return err
}

// stopping responds to requests whose context ended: either the client has gone
// and will not see this, or the server shuts down.
func (h *handler) stopping(w http.ResponseWriter, r *http.Request, more string) {
	h.fail(w, r, http.StatusServiceUnavailable, "dogwatch is stopping"+more)
}

// explainJSON returns what is wrong with a body, without the names of Go types.
func explainJSON(err error) (string, []field) {
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("the body is not JSON: %v (at byte %d)", err, syntax.Offset), nil
	case errors.As(err, &wrongType) && wrongType.Field != "":
		detail := fmt.Sprintf("want %s, got %s", jsonType(wrongType.Type.String()), wrongType.Value)
		return wrongType.Field + ": " + detail, []field{{Field: wrongType.Field, Detail: detail}}
	case errors.As(err, &wrongType):
		return fmt.Sprintf("the body must be %s, not %s", jsonType(wrongType.Type.String()), wrongType.Value), nil
	}
	return "the body is not understood: " + err.Error(), nil
}

func jsonType(goType string) string {
	switch {
	case goType == "string":
		return "a text"
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "float"):
		return "a number"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	}
	return "an object"
}
