package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/go-chi/chi/v5"
)

// document is openapi.yaml, with schemas that allow nothing they do not list,
// so that a field that is not described fails a test.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPIDocument)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	var strict func(*openapi3.SchemaRef)
	strict = func(ref *openapi3.SchemaRef) {
		if ref == nil || ref.Value == nil {
			return
		}
		s := ref.Value
		if len(s.Properties) > 0 && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
			no := false
			s.AdditionalProperties.Has = &no
		} else if ref.Ref != "" {
			return // done already
		}
		for _, property := range s.Properties {
			strict(property)
		}
		strict(s.Items)
		strict(s.AdditionalProperties.Schema)
	}
	for _, s := range doc.Components.Schemas {
		strict(s)
	}
	for _, r := range doc.Components.Responses {
		for _, media := range r.Value.Content {
			strict(media.Schema)
		}
	}
	for _, path := range doc.Paths.Map() {
		for _, operation := range path.Operations() {
			for _, r := range operation.Responses.Map() {
				for _, media := range r.Value.Content {
					strict(media.Schema)
				}
			}
		}
	}
	return doc, nil
})

var documentRouter = sync.OnceValues(func() (routers.Router, error) {
	doc, err := document()
	if err != nil {
		return nil, err
	}
	openapi3filter.RegisterBodyDecoder("image/svg+xml", openapi3filter.FileBodyDecoder)
	return gorillamux.NewRouter(doc)
})

// validating is a transport that holds every response against the document.
type validating struct {
	t    testing.TB
	base string
	next http.RoundTripper
}

func (v *validating) CloseIdleConnections() { v.next.(*http.Transport).CloseIdleConnections() }

func (v *validating) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := v.next.RoundTrip(r)
	if err != nil || strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if resp.Header.Get("Content-Encoding") == "" {
		v.check(r, resp, body)
	}
	return resp, nil
}

func (v *validating) check(r *http.Request, resp *http.Response, body []byte) {
	v.t.Helper()
	where := r.Method + " " + r.URL.Path
	path := v.plain(r.URL).Path
	if resp.StatusCode >= 400 && r.Method != http.MethodHead && path != "/api/ready" && path != "/metrics" {
		v.checkProblem(where, resp, body)
	}
	router, err := documentRouter()
	if err != nil {
		v.t.Fatal(err)
	}
	route, params, err := router.FindRoute(&http.Request{Method: r.Method, URL: v.plain(r.URL), Host: r.URL.Host})
	if err != nil {
		switch {
		case r.Method == http.MethodHead, r.Method == http.MethodOptions, resp.StatusCode == http.StatusNotFound,
			resp.StatusCode == http.StatusMethodNotAllowed, resp.StatusCode == http.StatusUnauthorized:
		case resp.StatusCode == http.StatusMisdirectedRequest:
		default:
			v.t.Errorf("%s gets %d and is not in the document: %v", where, resp.StatusCode, err)
		}
		return
	}
	if err := openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 resp.StatusCode, Header: resp.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}); err != nil {
		v.t.Errorf("the response to %s is not what the document says: %.800s", where, err)
	}
}

// plain returns the address with the path as the document writes it.
func (v *validating) plain(u *url.URL) *url.URL {
	fixture, base := segments(u.EscapedPath()), segments(v.base)
	if n := len(base); len(fixture) >= n && strings.EqualFold(strings.Join(fixture[:n], "/"), strings.Join(base, "/")) {
		fixture = fixture[n:]
	}
	path := ""
	for _, part := range fixture {
		// An escaped slash in a name would look like two names.
		path += "/" + strings.ToLower(strings.ReplaceAll(part, "/", "_"))
	}
	if path == "" {
		path = "/"
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}
}

// checkProblem holds what is true of every error.
func (v *validating) checkProblem(where string, resp *http.Response, body []byte) {
	v.t.Helper()
	if got := resp.Header.Get("Content-Type"); got != "application/problem+json" {
		v.t.Errorf("%s fails with content type %q and body %q", where, got, body)
		return
	}
	var p problem
	if err := json.Unmarshal(body, &p); err != nil {
		v.t.Errorf("%s fails with a body that is no JSON: %v", where, err)
		return
	}
	if p.Error == "" || p.Error != p.Detail || p.Status != resp.StatusCode ||
		p.Title != http.StatusText(resp.StatusCode) || p.Type != "about:blank" {
		v.t.Errorf("%s fails with %s", where, body)
	}
	for _, internal := range []string{"goroutine", ".go:", "runtime error", "store.db"} {
		if strings.Contains(string(body), internal) {
			v.t.Errorf("%s fails with internals: %s", where, body)
		}
	}
}

func TestOpenAPIDocumentIsValid(t *testing.T) {
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Summary == "" || operation.OperationID == "" || len(operation.Tags) != 1 {
				t.Errorf("%s %s needs a summary, an id and one tag", method, path)
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		if schema.Value.Description == "" && schema.Value.Enum == nil && name != "ServerConfiguration" &&
			name != "Readiness" {
			t.Errorf("schema %s needs a description", name)
		}
	}
}

// routesOf lists "GET /api/app" for every route.
func routesOf(t *testing.T, h *handler) []string {
	t.Helper()
	var found []string
	if err := chi.Walk(h.routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		found = append(found, method+" "+route)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func documented(t *testing.T) []string {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			found = append(found, method+" "+path)
		}
	}
	slices.Sort(found)
	return found
}

func TestOpenAPIDocumentListsEveryRoute(t *testing.T) {
	w := start(t, nil)
	h := newRouter(w.opt, context.Background())
	routes, described := routesOf(t, h), documented(t)
	for _, r := range routes {
		if !slices.Contains(described, r) {
			t.Errorf("%s is not in openapi.yaml", r)
		}
	}
	for _, r := range described {
		if !slices.Contains(routes, r) {
			t.Errorf("%s is in openapi.yaml and not in the router", r)
		}
	}
}

func TestOpenAPIDocumentIsServed(t *testing.T) {
	w := start(t, nil)
	got := w.get("/api/openapi.yaml").want(200)
	if !bytes.Equal(got.body, openAPIDocument) {
		t.Error("the response is not the document")
	}
	if c := got.header.Get("Content-Type"); !strings.HasPrefix(c, "application/yaml") {
		t.Errorf("content type %q", c)
	}
}
