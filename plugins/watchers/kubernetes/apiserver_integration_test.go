package kubernetes_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// apiServerProgram names a kube-apiserver, which is built in kubernetestest/apiserver.
const apiServerProgram = "DOGWATCH_TEST_APISERVER"

// apiServer is a real API server on a real etcd. It has no kubelet and no controllers: tests write what those would.
type apiServer struct {
	URL, folder string
	client      *http.Client
	start       func() // starts the API server again after stop
	stop        func()
}

const adminToken = "recognisable-admin-token"

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	program := os.Getenv(apiServerProgram)
	if program == "" {
		plugintest.Skip(t, "kubernetes", apiServerProgram+" is not set")
	}
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		plugintest.Skip(t, "kubernetes", err)
	}
	c := &apiServer{folder: t.TempDir()}
	store, peers, port := freePort(t), freePort(t), freePort(t)
	run(t, c.folder, etcd, "--data-dir", filepath.Join(c.folder, "etcd"), "--log-level", "error",
		"--listen-client-urls", "http://"+store, "--advertise-client-urls", "http://"+store,
		"--listen-peer-urls", "http://"+peers, "--initial-advertise-peer-urls", "http://"+peers, "--initial-cluster", "default=http://"+peers)
	c.write(t, "tokens.csv", adminToken+",admin,1,system:masters\n")
	c.write(t, "account.key", newKey(t))
	c.URL = "https://" + port
	_, number, _ := net.SplitHostPort(port)
	c.start = func() {
		c.stop = run(t, c.folder, program, "--etcd-servers", "http://"+store, "--bind-address", "127.0.0.1", "--secure-port", number,
			"--cert-dir", c.folder, "--token-auth-file", filepath.Join(c.folder, "tokens.csv"), "--authorization-mode", "RBAC",
			"--service-account-issuer", "https://kubernetes.default.svc",
			"--service-account-key-file", filepath.Join(c.folder, "account.key"),
			"--service-account-signing-key-file", filepath.Join(c.folder, "account.key"),
			"--service-cluster-ip-range", "10.99.0.0/24", "--disable-admission-plugins", "ServiceAccount")
		c.awaitReady(t)
	}
	c.start()
	return c
}

// run starts a program and returns what kills it, which the end of the test does, too.
func run(t *testing.T, folder, program string, args ...string) (stop func()) {
	t.Helper()
	said, err := os.CreateTemp(folder, filepath.Base(program)+"-*.log")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, args...)
	command.Dir, command.Stdout, command.Stderr = folder, said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = command.Process.Kill()
			_ = command.Wait()
		}
	}
	t.Cleanup(func() {
		stop()
		if text, err := os.ReadFile(said.Name()); t.Failed() && err == nil {
			t.Logf("%s said: %s", filepath.Base(program), text[max(0, len(text)-2000):])
		}
		said.Close()
	})
	return stop
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func newKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

func (c *apiServer) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(c.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// awaitReady waits for the server, and for the roles that it makes when it starts.
func (c *apiServer) awaitReady(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		if c.client == nil {
			if ca, err := os.ReadFile(filepath.Join(c.folder, "apiserver.crt")); err == nil {
				roots := x509.NewCertPool()
				if roots.AppendCertsFromPEM(ca) {
					c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
				}
			}
		}
		if c.client != nil {
			if status, _, err := c.try(http.MethodGet, "/readyz", nil); err == nil && status == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the API server does not get ready")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (c *apiServer) try(method, path string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequest(method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// do asks as the administrator, who may do everything.
func (c *apiServer) do(t *testing.T, method, path, body string) []byte {
	t.Helper()
	status, answer, err := c.try(method, path, []byte(body))
	if err != nil || status >= 300 {
		t.Fatalf("%s %s: %d, %v: %s", method, path, status, err, answer)
	}
	return answer
}

// apply makes an object, and writes its status as a controller or a kubelet would.
func (c *apiServer) apply(t *testing.T, path string, o object) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	c.do(t, http.MethodPost, path, string(text))
	if o["status"] == nil {
		return
	}
	text, err = json.Marshal(object{"status": o["status"]})
	if err != nil {
		t.Fatal(err)
	}
	c.do(t, http.MethodPatch, path+"/"+o["metadata"].(object)["name"].(string)+"/status", string(text))
}

// account makes the service account of the documentation, and returns a kubeconfig of it.
func (c *apiServer) account(t *testing.T) string {
	t.Helper()
	c.apply(t, "/api/v1/namespaces", object{"metadata": object{"name": "dogwatch"}})
	c.apply(t, "/api/v1/namespaces/dogwatch/serviceaccounts", object{"metadata": object{"name": "dogwatch-reader"}})
	var got struct {
		Status struct{ Token string }
	}
	answer := c.do(t, http.MethodPost, "/api/v1/namespaces/dogwatch/serviceaccounts/dogwatch-reader/token", `{"spec": {}}`)
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	c.write(t, "token", got.Status.Token)
	return c.write(t, "kubeconfig", fmt.Sprintf(`
current-context: home
contexts: [{name: home, context: {cluster: home, user: reader}}]
clusters: [{name: home, cluster: {server: %q, certificate-authority: apiserver.crt}}]
users: [{name: reader, user: {tokenFile: token}}]
`, c.URL))
}

// documented returns an object of the documentation, by its kind and name.
func documented(t *testing.T, kind, name string) object {
	t.Helper()
	text, err := os.ReadFile("../../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```") {
		for _, document := range strings.Split(strings.TrimPrefix(block, "yaml\n"), "\n---\n") {
			var o object
			if yaml.Unmarshal([]byte(document), &o) != nil || o["kind"] != kind {
				continue
			}
			if metadata, is := o["metadata"].(object); is && metadata["name"] == name {
				return o
			}
		}
	}
	t.Fatalf("the documentation has no %s %s", kind, name)
	return nil
}

func (c *apiServer) workload(t *testing.T, kind, name, image string, spec, status object) {
	t.Helper()
	labels := object{"app": name}
	template := object{
		"metadata": object{"labels": labels},
		"spec":     object{"containers": []object{{"name": name, "image": image}}, "restartPolicy": "Always"},
	}
	o := object{"metadata": object{"name": name, "annotations": object{"dogwatch/display.name": name}}, "spec": spec, "status": status}
	path := "/apis/apps/v1/namespaces/media/" + strings.ToLower(kind) + "s"
	spec["selector"], spec["template"] = object{"matchLabels": labels}, template
	if kind == "CronJob" {
		template["spec"].(object)["restartPolicy"] = "Never"
		o["spec"] = object{"schedule": "0 3 * * *", "jobTemplate": object{"spec": object{"template": template}}}
		path = "/apis/batch/v1/namespaces/media/cronjobs"
	}
	o["kind"] = kind
	o["apiVersion"] = map[bool]string{true: "batch/v1", false: "apps/v1"}[kind == "CronJob"]
	c.apply(t, path, o)
}

func (c *apiServer) pod(t *testing.T, name, owner, kind, container, image, imageID string, labels object) {
	t.Helper()
	c.apply(t, "/api/v1/namespaces/media/pods", object{
		"kind": "Pod", "apiVersion": "v1",
		"metadata": object{"name": name, "labels": labels, "ownerReferences": []object{{
			"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": "00000000-0000-0000-0000-000000000001", "controller": true,
		}}},
		"spec": object{"nodeName": "one", "containers": []object{{"name": container, "image": image}}},
		"status": object{"phase": "Running", "containerStatuses": []object{{
			"name": container, "image": image, "imageID": imageID, "ready": true, "restartCount": 0,
			"state": object{"running": object{"startedAt": "2026-11-01T10:00:00Z"}},
		}}},
	})
}

func TestRealAPIServer(t *testing.T) {
	c := newAPIServer(t)
	kubeconfig := c.account(t)
	w := plugintest.Watcher(t, kubernetes.Type(), map[string]any{"kubeconfig": kubeconfig})

	_, err := w.List(t.Context())
	const account = "system:serviceaccount:dogwatch:dogwatch-reader"
	if !errors.Is(err, sdk.ErrUnauthorized) || !strings.HasPrefix(fmt.Sprint(err), account+" may not list cronjobs.batch in all namespaces, ") ||
		!strings.Contains(sdk.Remedy(err), `{apiGroups: ["apps"], resources: [daemonsets, deployments, statefulsets], verbs: [list, watch]}`) {
		t.Errorf("without a role: got %v, remedy %q", err, sdk.Remedy(err))
	}
	c.apply(t, "/apis/rbac.authorization.k8s.io/v1/clusterroles", documented(t, "ClusterRole", "dogwatch-reader"))
	c.apply(t, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", documented(t, "ClusterRoleBinding", "dogwatch-reader"))

	c.apply(t, "/api/v1/namespaces", object{"metadata": object{"name": "media"}})
	c.apply(t, "/api/v1/nodes", object{"metadata": object{"name": "one", "labels": object{"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}}})
	c.workload(t, "Deployment", "web", "nginx:1.27", object{"replicas": 2}, object{"replicas": 2, "readyReplicas": 1})
	c.workload(t, "StatefulSet", "db", "postgres:17", object{"serviceName": "db"}, object{"replicas": 1, "readyReplicas": 1})
	c.workload(t, "DaemonSet", "log", "fluent/fluent-bit:4.0", object{},
		object{"desiredNumberScheduled": 1, "currentNumberScheduled": 1, "numberReady": 1, "numberMisscheduled": 0})
	c.workload(t, "CronJob", "backup", "restic/restic:0.18", object{}, nil)
	c.pod(t, "web-7d9-x", "web-7d9", "ReplicaSet", "web", "nginx:1.27", "docker.io/library/nginx@"+digestA, object{"pod-template-hash": "7d9"})
	awaitList(t, w, "the role", func(all map[string]watcher.Container) bool {
		web := all["media_deployment_web_web"]
		return len(all) == 4 && web.Status == "running 1/2" && web.Image.Digest == digestA && web.Labels["dogwatch.display.name"] == "web" &&
			web.Image.Platform == sdk.Platform{OS: "linux", Architecture: "arm64"} &&
			all["media_statefulset_db_db"].Status == "running" && all["media_daemonset_log_log"].Status == "running" &&
			all["media_cronjob_backup_backup"].Status == "scheduled"
	})
	probe, err := w.Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || !strings.HasPrefix(probe.Summary, "Kubernetes ") || len(probe.Warnings) > 0 {
		t.Errorf("the probe says %+v, %v", probe, err)
	}

	events := follow(t, w)
	const web = "/apis/apps/v1/namespaces/media/deployments/web"
	c.do(t, http.MethodPatch, web, `{"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:1.28"}]}}}}`)
	awaitEvent(t, events, w, "an image", func(all map[string]watcher.Container) bool {
		return all["media_deployment_web_web"].Image.Tag == "1.28"
	})
	c.do(t, http.MethodDelete, "/apis/batch/v1/namespaces/media/cronjobs/backup", "")
	awaitEvent(t, events, w, "a removal", func(all map[string]watcher.Container) bool { return len(all) == 3 })

	c.stop()
	awaitEvent(t, events, w, "the outage", nil)
	if _, err := w.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("without a server: got %v", err)
	}
	c.start()
	c.do(t, http.MethodPatch, web, `{"metadata": {"annotations": {"dogwatch/watch": "false"}}}`)
	awaitEvent(t, events, w, "the server that is back", func(all map[string]watcher.Container) bool {
		return all["media_deployment_web_web"].Labels["dogwatch.watch"] == "false"
	})
	token, err := os.ReadFile(filepath.Join(c.folder, "token"))
	if err != nil || strings.Contains(w.Log.String(), string(token)) {
		t.Errorf("the token is in the log: %v", err)
	}

	// The server that has started again does not remember the first version.
	endpoint, _, err := cluster.FromKubeconfig(kubeconfig, "")
	if err != nil {
		t.Fatal(err)
	}
	deployments := cluster.Resource{Group: "apps", Version: "v1", Name: "deployments"}
	stream, err := cluster.New(endpoint, "test").Watch(t.Context(), deployments, "1", time.Minute)
	if err == nil {
		defer stream.Close()
		_, _, err = stream.Next()
	}
	if !errors.Is(err, cluster.ErrExpired) {
		t.Errorf("a watch of the first version: got %v", err)
	}
}

// awaitList lists until the list is right.
func awaitList(t *testing.T, w plugintest.WatcherInstance, what string, right func(map[string]watcher.Container) bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		all, err := w.List(t.Context())
		byID := map[string]watcher.Container{}
		for _, c := range all {
			byID[c.ID] = c
		}
		if err == nil && right(byID) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: listed %+v, %v", what, all, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// awaitEvent waits for an event after which the list is right; nil for any list.
func awaitEvent(
	t *testing.T, events <-chan watcher.Event, w plugintest.WatcherInstance, what string,
	right func(map[string]watcher.Container) bool,
) {
	t.Helper()
	deadline := time.After(90 * time.Second)
	for {
		select {
		case <-events:
		case <-deadline:
			t.Fatalf("no event: %s; %s", what, w.Log)
		}
		if right == nil {
			return
		}
		all, err := w.List(t.Context())
		byID := map[string]watcher.Container{}
		for _, c := range all {
			byID[c.ID] = c
		}
		if err == nil && right(byID) {
			return
		}
	}
}
