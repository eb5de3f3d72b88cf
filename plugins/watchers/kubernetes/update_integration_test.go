package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// as applies by server-side apply in the name of a manager, by force.
func (c *apiServer) as(t *testing.T, manager, path, config string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPatch, c.URL+path+"?force=true&fieldManager="+manager, strings.NewReader(config))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	resp, err := c.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode >= 300 {
		t.Fatalf("%s: %d %s", path, resp.StatusCode, answer)
	}
}

func (c *apiServer) get(t *testing.T, path string) (o object) {
	t.Helper()
	if err := json.Unmarshal(c.do(t, http.MethodGet, path, ""), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// images are those of a workload, by its containers.
func (c *apiServer) images(t *testing.T, path string) string {
	t.Helper()
	var all []string
	for _, container := range containers(c.get(t, path)) {
		all = append(all, fmt.Sprint(container.(object)["image"]))
	}
	return strings.Join(all, " ")
}

// rollOut writes the status that the controllers would, when the image of a workload has changed.
func (c *apiServer) rollOut(t *testing.T, path string, status func(string, object) object) {
	t.Helper()
	o := c.get(t, path)
	s := status(containers(o)[0].(object)["image"].(string), o)
	if strings.Contains(path, "/daemonsets/") {
		s = object{"observedGeneration": s["observedGeneration"], "currentNumberScheduled": 1, "numberMisscheduled": 0,
			"desiredNumberScheduled": 1, "updatedNumberScheduled": 1, "numberAvailable": 1, "numberReady": 1}
	} else {
		delete(s, "desiredNumberScheduled")
		delete(s, "updatedNumberScheduled")
		delete(s, "numberAvailable")
	}
	if strings.Contains(path, "/deployments/") {
		if s["conditions"] == nil {
			s["conditions"] = []any{} // a patch keeps what it does not have
		}
		delete(s, "currentRevision")
		delete(s, "updateRevision")
		s["readyReplicas"] = s["availableReplicas"]
	}
	text, err := json.Marshal(object{"status": s})
	if err != nil {
		t.Fatal(err)
	}
	c.do(t, http.MethodPatch, path+"/status", string(text))
}

// controlling is a journal whose steps have the status of a workload written, as its controller would.
func (c *apiServer) controlling(t *testing.T, path string, status func(string, object) object) *journal {
	return &journal{
		begin: func(s watcher.Step) error {
			if s.Code == watcher.StepHealth {
				c.rollOut(t, path, status)
			}
			return nil
		},
		ended: func(s watcher.Step) {
			if strings.HasPrefix(s.ID, "rollback:") {
				c.rollOut(t, path, status)
			}
		},
	}
}

func TestRealUpdate(t *testing.T) {
	c := newAPIServer(t)
	kubeconfig := c.account(t)
	c.apply(t, "/apis/rbac.authorization.k8s.io/v1/clusterroles", documented(t, "ClusterRole", "dogwatch-reader"))
	c.apply(t, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", documented(t, "ClusterRoleBinding", "dogwatch-reader"))
	c.apply(t, "/api/v1/namespaces", object{"metadata": object{"name": "media"}})
	c.workload(t, "Deployment", "web", "nginx:1.27", object{"replicas": 1}, nil)
	c.workload(t, "StatefulSet", "db", "postgres:17.1", object{"serviceName": "db"}, nil)
	c.workload(t, "DaemonSet", "log", "fluent/fluent-bit:4.0", object{}, nil)
	c.workload(t, "CronJob", "backup", "restic/restic:0.18", object{}, nil)
	const apps = "/apis/apps/v1/namespaces/media/"
	const web = apps + "deployments/web"
	k := newUpdater(t, kubernetes.Options{Kubeconfig: kubeconfig, Update: true})
	k.Hasten(50*time.Millisecond, 5*time.Second)
	request := requestFor("media_deployment_web_web", "docker.io/library/nginx:1.28")

	await(t, "the role to read", func() bool { _, err := k.List(t.Context()); return err == nil })
	const rule = `{apiGroups: ["apps"], resources: [deployments], verbs: [patch]}`
	if got := texts(planned(t, k, request).Plan.Blocks); !strings.Contains(got, rule) {
		t.Errorf("without the rule: %q", got)
	}
	c.apply(t, "/apis/rbac.authorization.k8s.io/v1/clusterroles", documented(t, "ClusterRole", "dogwatch-updater"))
	c.apply(t, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", documented(t, "ClusterRoleBinding", "dogwatch-updater"))
	await(t, "the role to update", func() bool { return texts(planned(t, k, request).Plan.Blocks) == "" })
	if got := c.images(t, web); got != "nginx:1.27" {
		t.Fatalf("a plan has changed the image to %s", got)
	}

	for _, w := range []struct{ id, reference, path, want string }{
		{"media_deployment_web_web", "docker.io/library/nginx:1.28", web, "nginx:1.28"},
		{"media_statefulset_db_db", "docker.io/library/postgres:17.2", apps + "statefulsets/db", "postgres:17.2"},
		{"media_daemonset_log_log", "docker.io/fluent/fluent-bit:4.1", apps + "daemonsets/log", "fluent/fluent-bit:4.1"},
		{"media_cronjob_backup_backup", "docker.io/restic/restic:0.19", "/apis/batch/v1/namespaces/media/cronjobs/backup", "restic/restic:0.19"},
	} {
		op := planned(t, k, requestFor(w.id, w.reference))
		if got := texts(op.Plan.Warnings); !strings.Contains(got, "was set by ") {
			t.Errorf("%s: nothing is taken over: %s", w.id, got)
		}
		out, err := k.Apply(t.Context(), op, c.controlling(t, w.path, ready))
		if got := c.images(t, w.path); err != nil || out.State != watcher.Updated || got != w.want {
			t.Errorf("%s: got %s, %+v, %v", w.id, got, out, err)
		}
		if l := managersOf(c.get(t, w.path)); l != "dogwatch" {
			t.Errorf("%s: the image is that of %s", w.id, l)
		}
	}

	op := planned(t, k, requestFor("media_deployment_web_web", "nginx:1.29"))
	out, err := k.Apply(t.Context(), op, c.controlling(t, web, failing("nginx:1.29")))
	if got := c.images(t, web); err != nil || out.State != watcher.RolledBack || got != "nginx:1.28" || out.Reason.Text != "it has timed out progressing" {
		t.Errorf("what fails: %s, %+v, %v", got, out, err)
	}

	// A second container, of which Dogwatch takes over the image without losing that of the first.
	c.do(t, http.MethodPatch, web, `{"spec": {"template": {"spec": {"containers": [
		{"name": "web", "image": "nginx:1.28"}, {"name": "exporter", "image": "exporter:1"}]}}}}`)
	out, err = k.Apply(t.Context(), planned(t, k, requestFor("media_deployment_web_exporter", "exporter:2")), c.controlling(t, web, ready))
	if got := c.images(t, web); err != nil || out.State != watcher.Updated || got != "nginx:1.28 exporter:2" {
		t.Errorf("a second container: %s, %+v, %v", got, out, err)
	}
	out, err = k.Apply(t.Context(), planned(t, k, requestFor("media_deployment_web_web", "nginx:1.29")), c.controlling(t, web, ready))
	if got := c.images(t, web); err != nil || out.State != watcher.Updated || got != "nginx:1.29 exporter:2" {
		t.Errorf("the first container again: %s, %+v, %v", got, out, err)
	}
	c.refusals(t, k, web)
}

// refusals tries what must not be changed.
func (c *apiServer) refusals(t *testing.T, k *kubernetes.Kubernetes, web string) {
	t.Helper()
	request := requestFor("media_deployment_web_web", "nginx:1.30")
	op := planned(t, k, request)
	c.as(t, "team-ci", web, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": [
		{"name": "web", "image": "nginx:1.29.1"}]}}}}`)
	out, err := k.Apply(t.Context(), op, &journal{})
	if got := c.images(t, web); err != nil || out.State != watcher.Unchanged || got != "nginx:1.29.1 exporter:2" ||
		out.Reason.Text != "media_web was changed to nginx:1.29.1 since this was planned: plan again" {
		t.Errorf("changed meanwhile: %s, %+v, %v", got, out, err)
	}
	if got := texts(planned(t, k, request).Plan.Blocks); got != "workload.applied: the image of media_web is applied by team-ci (server-side apply): change it there" {
		t.Errorf("two managers: %q", got)
	}
	for change, want := range map[string]string{
		`{"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": {"meta.helm.sh/release-name": "shop"}}}`: "the release shop of Helm",
		`{"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "store:apps/Deployment:media/web"}}}`:                     "the application store of Argo CD",
	} {
		c.do(t, http.MethodPatch, web, change)
		if got := texts(planned(t, k, request).Plan.Blocks); !strings.Contains(got, want) {
			t.Errorf("want %q: %q", want, got)
		}
		c.do(t, http.MethodPatch, web, `{"metadata": {"labels": null, "annotations": null}}`)
	}
	op = planned(t, k, requestFor("media_statefulset_db_db", "postgres:17.3"))
	c.do(t, http.MethodDelete, "/apis/apps/v1/namespaces/media/statefulsets/db", "")
	await(t, "the removal", func() bool {
		out, err := k.Apply(t.Context(), op, &journal{begin: func(watcher.Step) error { return watcher.ErrStop }})
		return err == nil && out.State == watcher.Unchanged && strings.HasSuffix(out.Reason.Text, "there is no db any more: list again")
	})
}

// managersOf are the managers of the image of the first container.
func managersOf(o object) string {
	var all []string
	for _, m := range o["metadata"].(object)["managedFields"].([]any) {
		text, _ := json.Marshal(m)
		if strings.Contains(string(text), `"f:image"`) {
			all = append(all, fmt.Sprint(m.(object)["manager"]))
		}
	}
	return strings.Join(all, " ")
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
