// Package nomadtest is a server for tests that answers as Nomad is documented to, as far as a watcher asks:
// https://developer.hashicorp.com/nomad/api-docs.
package nomadtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Object is a document of the API.
type Object = map[string]any

// Server is a Nomad server that keeps its jobs in memory. Its methods may be called concurrently.
type Server struct {
	URL string
	// RollOut says what becomes of a job that is registered; nil for a Rollout that works. Planned changes the response to
	// a plan, and Before is called with the path of a change before that is made; nil for nothing. They are set before
	// requests are made, and the first two are called while the server holds its lock.
	RollOut func(job Object) Rollout
	Planned func(response Object)
	Before  func(path string)

	// Output is what tasks have written, by "stdout" and "stderr"; what is missing is not there. It is set before, too.
	Output map[string]string

	mu       sync.Mutex
	index    int
	jobs     map[string]Object // by namespace/id
	events   []event
	oldest   int                 // events before this index are not in the buffer
	versions map[string][]Object // of the jobs, the newest first
	failures map[string]failure  // by path, or by method and path
	rollouts map[string]*rollouts
	token    string   // that requests need; "" for none
	requests []string // "path?query"
	streams  int
	wake     chan struct{}
	cut      chan struct{} // closed to end all streams
}

type failure struct {
	status int
	text   string
}

type event struct {
	index     int
	namespace string
	body      Object
}

// New starts a server that ends with t.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		index: 10, jobs: map[string]Object{}, versions: map[string][]Object{}, failures: map[string]failure{},
		rollouts: map[string]*rollouts{}, wake: make(chan struct{}), cut: make(chan struct{}),
	}
	listener := httptest.NewServer(s)
	s.URL = listener.URL
	t.Cleanup(func() {
		s.CutStreams()
		listener.Close()
	})
	return s
}

// Put registers a job, which is JSON with an ID and a Namespace.
func (s *Server) Put(t testing.TB, text string) {
	t.Helper()
	var job Object
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&job); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.register(job)
}

// register stores a new version of a job. The caller holds mu.
func (s *Server) register(job Object) {
	s.index++
	key := keyOf(job)
	job["ModifyIndex"], job["JobModifyIndex"], job["Version"] = s.index, s.index, len(s.versions[key])
	if job["Status"] == nil {
		job["Status"] = "running"
	}
	s.jobs[key] = job
	s.versions[key] = append([]Object{job}, s.versions[key]...)
	s.emit("Job", "JobRegistered", job, Object{"Job": job})
}

// Remove deregisters and purges a job: "media/web".
func (s *Server) Remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	job := s.jobs[key]
	delete(s.jobs, key)
	s.emit("Job", "JobDeregistered", job, Object{"Job": job})
}

// Allocate changes the status of a job as its allocation does: "media/web", "dead", "failed".
func (s *Server) Allocate(key, status, allocation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	job := maps.Clone(s.jobs[key])
	job["Status"], job["ModifyIndex"] = status, s.index
	s.jobs[key] = job
	s.emit("Allocation", "AllocationUpdated", job, Object{
		"Allocation": Object{"ID": "5c2b8b5f", "JobID": job["ID"], "Namespace": job["Namespace"], "ClientStatus": allocation},
	})
}

// emit has the streams look again. The caller holds mu.
func (s *Server) emit(topic, kind string, job, payload Object) {
	s.events = append(s.events, event{s.index, fmt.Sprint(job["Namespace"]), Object{
		"Topic": topic, "Type": kind, "Key": job["ID"], "Namespace": job["Namespace"], "Index": s.index, "Payload": payload,
	}})
	close(s.wake)
	s.wake = make(chan struct{})
}

// Deny answers a path, or a method and a path, with 403 and a text from now on; "" ends that.
func (s *Server) Deny(path, text string) { s.Fail(path, http.StatusForbidden, text) }

// Fail answers a path, or a method and a path, with a status and a text from now on; "" ends that.
func (s *Server) Fail(path string, status int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[path] = failure{status, text}
}

// Require makes requests need a token.
func (s *Server) Require(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Forget drops the events until now from the buffer.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest = s.index + 1
}

// CutStreams ends all streams.
func (s *Server) CutStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

// AwaitStreams waits until so many streams are open.
func (s *Server) AwaitStreams(t testing.TB, n int) {
	t.Helper()
	s.await(t, fmt.Sprintf("%d streams", n), func() bool { return s.streams == n })
}

// AwaitRequest waits for a request whose path and query have a text.
func (s *Server) AwaitRequest(t testing.TB, text string) {
	t.Helper()
	s.await(t, "a request for "+text, func() bool {
		return slices.ContainsFunc(s.requests, func(r string) bool { return strings.Contains(r, text) })
	})
}

func (s *Server) await(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		s.mu.Lock()
		ok := done()
		s.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Requests returns those that were made, as "path?query".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func keyOf(job Object) string { return fmt.Sprintf("%v/%v", job["Namespace"], job["ID"]) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, request := r.URL.EscapedPath(), r.URL.EscapedPath()
	if r.Method != http.MethodGet {
		request = r.Method + " " + path
	}
	s.mu.Lock()
	s.requests = append(s.requests, request+"?"+r.URL.RawQuery)
	fails, token := s.failures[path], s.token
	if strings.HasPrefix(path, logs) {
		fails = s.failures[logs]
	}
	if fails.text == "" {
		fails = s.failures[r.Method+" "+path]
	}
	s.mu.Unlock()
	switch {
	case token != "" && r.Header.Get("X-Nomad-Token") == "":
		fails = failure{http.StatusForbidden, "Permission denied"}
	case token != "" && r.Header.Get("X-Nomad-Token") != token:
		fails = failure{http.StatusForbidden, "ACL token not found"}
	}
	if fails.text != "" {
		w.WriteHeader(fails.status)
		fmt.Fprint(w, fails.text)
		return
	}
	namespace := cmp.Or(r.FormValue("namespace"), "default")
	id, isJob := strings.CutPrefix(path, "/v1/job/")
	switch {
	case path == "/v1/jobs":
		s.list(w, r, namespace)
	case strings.HasPrefix(path, logs):
		s.log(w, r)
	case path == "/v1/event/stream":
		s.stream(w, r, namespace)
	case isJob:
		id, of, _ := strings.Cut(id, "/")
		id, _ = url.PathUnescape(id)
		if r.Method != http.MethodGet && s.Before != nil {
			s.Before(path)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.job(w, r, namespace+"/"+id, of)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// logs is the path of all logs, for Deny too.
const logs = "/v1/client/fs/logs/"

// log answers with the end of what a task has written.
func (s *Server) log(w http.ResponseWriter, r *http.Request) {
	text, has := s.Output[r.FormValue("type")]
	offset, err := strconv.Atoi(r.FormValue("offset"))
	switch {
	case !has:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "log entry for task %q and log type %q not found", r.FormValue("task"), r.FormValue("type"))
	case err != nil || r.FormValue("origin") != "end" || r.FormValue("plain") != "true":
		w.WriteHeader(http.StatusBadRequest)
	default:
		fmt.Fprint(w, text[max(0, len(text)-offset):])
	}
}

// list answers with stubs, page by page; with an index once that has passed.
func (s *Server) list(w http.ResponseWriter, r *http.Request, namespace string) {
	after, _ := strconv.Atoi(r.FormValue("index"))
	for {
		s.mu.Lock()
		passed, wake := s.index > after, s.wake
		s.mu.Unlock()
		if passed {
			break
		}
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	size, _ := strconv.Atoi(r.FormValue("per_page"))
	stubs := []Object{}
	w.Header().Set("X-Nomad-Index", strconv.Itoa(s.index))
	for _, key := range slices.Sorted(maps.Keys(s.jobs)) {
		job := s.jobs[key]
		if namespace != "*" && job["Namespace"] != namespace || key < r.FormValue("next_token") {
			continue
		}
		if size > 0 && len(stubs) == size {
			w.Header().Set("X-Nomad-NextToken", key)
			break
		}
		stubs = append(stubs, Object{
			"ID": job["ID"], "Namespace": job["Namespace"], "ParentID": job["ParentID"], "Status": job["Status"],
			"ModifyIndex": job["ModifyIndex"],
		})
	}
	_ = json.NewEncoder(w).Encode(stubs)
}

// stream writes the events from an index on, after a heartbeat.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, namespace string) {
	from, _ := strconv.Atoi(r.FormValue("index"))
	s.mu.Lock()
	s.streams++
	cut := s.cut
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streams--
	}()
	fmt.Fprintln(w, "{}")
	for {
		w.(http.Flusher).Flush()
		s.mu.Lock()
		var found []event
		for _, e := range s.events {
			if e.index >= max(from, s.oldest) && (namespace == "*" || e.namespace == namespace) {
				found = append(found, e)
			}
		}
		from = s.index + 1
		wake := s.wake
		s.mu.Unlock()
		for _, e := range found {
			_ = json.NewEncoder(w).Encode(Object{"Index": e.index, "Events": []Object{e.body}})
		}
		w.(http.Flusher).Flush()
		select {
		case <-wake:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}
