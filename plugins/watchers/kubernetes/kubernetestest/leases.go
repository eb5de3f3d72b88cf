// Package kubernetestest has what stands for a Kubernetes cluster in tests.
package kubernetestest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// Leases answers as an API server does that has one lease: https://kubernetes.io/docs/reference/using-api/api-concepts/
type Leases struct {
	// URL is where it listens, Kubeconfig a file that says so.
	URL, Kubeconfig string

	mu      sync.Mutex
	path    string
	version int
	spec    map[string]any
	refusal int
	refused string // the method that is refused; "" for all
	message string
	patches int
}

// NewLeases starts one with a lease that nobody holds, and stops it with the test.
func NewLeases(t testing.TB, namespace, name string) *Leases {
	t.Helper()
	s := &Leases{path: "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/" + name, spec: map[string]any{}}
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	s.URL, s.Kubeconfig = listener.URL, filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("current-context: test\ncontexts: [{name: test, context: {cluster: test, user: test}}]\n"+
		"clusters: [{name: test, cluster: {server: %q}}]\nusers: [{name: test, user: {}}]\n", s.URL)
	if err := os.WriteFile(s.Kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// Refuse answers all requests with a failure from now on; a code of 0 ends that.
func (s *Leases) Refuse(code int, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal, s.message = code, message
}

// RefuseChanges answers changes with 403 and a message from now on, those that are only tried too.
func (s *Leases) RefuseChanges(message string) {
	s.Refuse(http.StatusForbidden, message)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = http.MethodPatch
}

// Change has somebody else change fields of the specification.
func (s *Leases) Change(fields map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	maps.Copy(s.spec, fields)
}

// Holder returns who holds the lease; "" for nobody.
func (s *Leases) Holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	holder, _ := s.spec["holderIdentity"].(string)
	return holder
}

// Patches returns how often the lease was changed by a client.
func (s *Leases) Patches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.patches
}

// ServeHTTP implements http.Handler.
func (s *Leases) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code, answer := s.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Leases) answer(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failure := func(code int, message string) (int, any) {
		return code, map[string]any{"kind": "Status", "code": code, "message": message}
	}
	const uid = "0f3d"
	switch {
	case s.refusal != 0 && (s.refused == "" || s.refused == r.Method):
		return failure(s.refusal, s.message)
	case r.URL.Path != s.path:
		return failure(http.StatusNotFound, "leases not found")
	case r.Method == http.MethodPatch:
		var applied struct {
			Metadata struct{ UID, ResourceVersion string }
			Spec     map[string]any
		}
		err := json.NewDecoder(r.Body).Decode(&applied)
		if err != nil || r.Header.Get("Content-Type") != "application/apply-patch+yaml" {
			return failure(http.StatusUnsupportedMediaType, "no apply")
		}
		if applied.Metadata.ResourceVersion != strconv.Itoa(s.version) || applied.Metadata.UID != uid {
			return failure(http.StatusConflict, "the object has been modified")
		}
		if r.FormValue("dryRun") == "All" {
			break
		}
		s.spec = applied.Spec // all of it, since there is one manager, which removes what it leaves out
		s.patches++
		s.version++
	}
	return http.StatusOK, map[string]any{
		"metadata": map[string]any{"uid": uid, "resourceVersion": strconv.Itoa(s.version)}, "spec": maps.Clone(s.spec),
	}
}
