package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// server answers as the API server of a cluster does, as far as a watcher asks:
// https://kubernetes.io/docs/reference/using-api/api-concepts/
type server struct {
	URL string

	mu       sync.Mutex
	version  int
	objects  map[string]map[string]object // by path of the list in all namespaces, and namespace/name
	events   []event
	oldest   int               // events before this version are not remembered
	refusals map[string]status // by "verb path"
	requests []string          // "verb path?query"
	tokens   []string          // of the requests, as they come
	streams  int
	wake     chan struct{}
	cut      chan struct{} // closed to end all streams
	log      string        // of any container
	// rollOut returns the status of a workload whose image was changed; between is what a patch finds.
	rollOut func(image string, o object) object
	between func(o object) object
}

type object = map[string]any

type event struct {
	version    int
	path, kind string
	object     object
}

type status struct {
	code    int
	message string
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{
		objects: map[string]map[string]object{}, refusals: map[string]status{}, version: 100,
		wake: make(chan struct{}), cut: make(chan struct{}),
	}
	listener := httptest.NewServer(s)
	s.URL = listener.URL
	t.Cleanup(func() {
		s.cutStreams()
		listener.Close()
	})
	return s
}

// paths are those of the lists in all namespaces.
var paths = map[string]string{
	"Deployment": "/apis/apps/v1/deployments", "StatefulSet": "/apis/apps/v1/statefulsets",
	"DaemonSet": "/apis/apps/v1/daemonsets", "CronJob": "/apis/batch/v1/cronjobs", "Pod": "/api/v1/pods", "Node": "/api/v1/nodes",
	"Secret": "/api/v1/secrets", "ServiceAccount": "/api/v1/serviceaccounts",
}

// put makes or changes an object, which is JSON with a kind.
func (s *server) put(t testing.TB, text string) {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	path, found := paths[fmt.Sprint(o["kind"])]
	if !found {
		t.Fatalf("an object of no known kind: %s", text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	metadata := o["metadata"].(object)
	metadata["resourceVersion"] = strconv.Itoa(s.version)
	if metadata["creationTimestamp"] == nil {
		metadata["creationTimestamp"] = "2026-11-01T10:00:00Z"
	}
	kind := "ADDED"
	if _, had := s.objects[path][keyOf(o)]; had {
		kind = "MODIFIED"
	}
	if s.objects[path] == nil {
		s.objects[path] = map[string]object{}
	}
	s.objects[path][keyOf(o)] = o
	s.emit(event{s.version, path, kind, o})
}

// remove removes an object: "Deployment", "media/web".
func (s *server) remove(kind, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	o := s.objects[paths[kind]][key]
	delete(s.objects[paths[kind]], key)
	s.emit(event{s.version, paths[kind], "DELETED", o})
}

// emit has the streams look again. The caller holds mu.
func (s *server) emit(e event) {
	s.events = append(s.events, e)
	close(s.wake)
	s.wake = make(chan struct{})
}

// refuse answers a verb for a path with a failure from now on; a code of 0 ends that.
func (s *server) refuse(verb, path string, code int, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals[verb+" "+path] = status{code, message}
}

// forget makes the versions of lists and events until now too old.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.oldest = s.version
}

// cutStreams ends all streams.
func (s *server) cutStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

func (s *server) await(t testing.TB, what string, done func() bool) {
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

// awaitStreams waits until so many watches are open.
func (s *server) awaitStreams(t testing.TB, n int) {
	t.Helper()
	s.await(t, fmt.Sprintf("%d streams", n), func() bool { return s.streams == n })
}

// count returns how many requests begin with a text, as "list /apis".
func (s *server) count(prefix string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

func keyOf(o object) string {
	metadata := o["metadata"].(object)
	namespace, _ := metadata["namespace"].(string)
	return namespace + "/" + metadata["name"].(string)
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/version" {
		fmt.Fprint(w, `{"major":"1","minor":"34","gitVersion":"v1.34.4"}`)
		return
	}
	if r.Method == http.MethodPatch {
		s.patch(w, r)
		return
	}
	verb := "list"
	if r.FormValue("watch") == "true" {
		verb = "watch"
	}
	path, namespace, name := r.URL.Path, "", ""
	if before, rest, found := strings.Cut(path, "/namespaces/"); found {
		var resource string
		namespace, resource, _ = strings.Cut(rest, "/")
		if resource, name, found = strings.Cut(resource, "/"); found {
			verb = "get"
		}
		if pod, is := strings.CutSuffix(name, "/log"); is {
			resource, name = resource+"/log", pod
		}
		path = before + "/" + resource
	}
	s.mu.Lock()
	s.requests = append(s.requests, verb+" "+r.URL.String())
	s.tokens = append(s.tokens, r.Header.Get("Authorization"))
	refused := s.refusals[verb+" "+path]
	s.mu.Unlock()
	if refused.code != 0 {
		fail(w, refused.code, refused.message)
		return
	}
	if strings.HasSuffix(path, "/log") {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, s.log)
		return
	}
	if verb == "get" {
		s.get(w, path, namespace+"/"+name)
		return
	}
	if !slices.Contains([]string{
		"/apis/apps/v1/deployments", "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets", "/apis/batch/v1/cronjobs",
		"/api/v1/pods", "/api/v1/nodes",
	}, path) {
		fail(w, http.StatusNotFound, "the server could not find the requested resource")
		return
	}
	selects := func(o object) bool {
		return selected(o, namespace, r.FormValue("fieldSelector"), r.FormValue("labelSelector"))
	}
	if verb == "watch" {
		s.watch(w, r, path, selects)
	} else {
		s.list(w, r, path, selects)
	}
}

// get answers with one object.
func (s *server) get(w http.ResponseWriter, path, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, found := s.objects[path][key]
	if !found {
		fail(w, http.StatusNotFound, "not found")
		return
	}
	_ = json.NewEncoder(w).Encode(o)
}

func fail(w http.ResponseWriter, code int, message string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code,
	})
}

// selected knows the selectors that the tests use: metadata.namespace!=x, metadata.name=x and key=value.
func selected(o object, namespace, fields, labels string) bool {
	metadata := o["metadata"].(object)
	if namespace != "" && metadata["namespace"] != namespace {
		return false
	}
	for field := range strings.SplitSeq(fields, ",") {
		if name, has := strings.CutPrefix(field, "metadata.name="); has && metadata["name"] != name {
			return false
		}
		if field != "" && "metadata.namespace!="+fmt.Sprint(metadata["namespace"]) == field {
			return false
		}
	}
	have, _ := metadata["labels"].(object)
	name, value, some := strings.Cut(labels, "=")
	return !some || have[name] == value
}

func (s *server) list(w http.ResponseWriter, r *http.Request, path string, selects func(object) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, version := 0, s.version
	if token := r.FormValue("continue"); token != "" {
		if _, err := fmt.Sscanf(token, "%d-%d", &version, &from); err != nil || version < s.oldest {
			fail(w, http.StatusGone, "The provided continue parameter is too old to display a consistent list result.")
			return
		}
	}
	var keys []string
	for key, o := range s.objects[path] {
		if selects(o) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	metadata := object{"resourceVersion": strconv.Itoa(version)}
	if limit > 0 && from+limit < len(keys) {
		metadata["continue"] = fmt.Sprintf("%d-%d", version, from+limit)
		keys = keys[:from+limit]
	}
	items := []object{}
	for _, key := range keys[from:] {
		items = append(items, s.objects[path][key])
	}
	_ = json.NewEncoder(w).Encode(object{"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items})
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, path string, selects func(object) bool) {
	version, _ := strconv.Atoi(r.FormValue("resourceVersion"))
	write := func(kind string, o object) {
		_ = json.NewEncoder(w).Encode(object{"type": kind, "object": o})
		w.(http.Flusher).Flush()
	}
	s.mu.Lock()
	s.streams++
	cut := s.cut
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streams--
	}()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		s.mu.Lock()
		old := version < s.oldest && r.FormValue("resourceVersion") != ""
		var news []event
		for _, e := range s.events {
			if e.version > version && e.path == path && selects(e.object) {
				news = append(news, e)
			}
		}
		version = max(version, s.version)
		wake := s.wake
		s.mu.Unlock()
		if old { // as the API server has it: within a stream
			write("ERROR", object{"kind": "Status", "code": http.StatusGone, "reason": "Expired", "message": "too old resource version"})
			return
		}
		for _, e := range news {
			write(e.kind, e.object)
		}
		write("BOOKMARK", object{"kind": "Pod", "metadata": object{"resourceVersion": strconv.Itoa(version)}})
		select {
		case <-wake:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}
