package kubernetes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// journal keeps the steps of an operation, as the host does.
type journal struct {
	steps []watcher.StepRecord
	begin func(watcher.Step) error // nil for none
	ended func(watcher.Step)
}

func (j *journal) Begin(_ context.Context, s watcher.Step) error {
	var err error
	if j.begin != nil {
		err = j.begin(s)
	}
	if err == nil {
		j.steps = append(j.steps, watcher.StepRecord{Step: s})
	}
	return err
}

func (j *journal) End(_ context.Context, s watcher.Step, _ map[string]string, err error) error {
	last := &j.steps[len(j.steps)-1]
	if last.ID != s.ID {
		return fmt.Errorf("%s ends, and %s was begun", s.ID, last.ID)
	}
	if last.Ended = true; err != nil {
		last.Error = err.Error()
	}
	if j.ended != nil {
		j.ended(s)
	}
	return nil
}

func (j *journal) Progress(watcher.StepProgress) {}

// taken are the ids of the steps that were begun.
func (j *journal) taken() string {
	var ids []string
	for _, s := range j.steps {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

func newUpdater(t *testing.T, o kubernetes.Options) *kubernetes.Kubernetes {
	t.Helper()
	k, err := kubernetes.New(sdk.Env{Log: hclog.NewNullLogger(), UserAgent: "test", Warn: func(string) {}}, o)
	if err != nil {
		t.Fatal(err)
	}
	k.Hasten(10*time.Millisecond, 500*time.Millisecond)
	t.Cleanup(func() { _ = k.Close() })
	return k
}

// at are the options for a server.
func (s *server) at(t *testing.T) kubernetes.Options {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.Options{Server: u, Update: true}
}

func requestFor(id, reference string) watcher.UpdateRequest {
	return watcher.UpdateRequest{ContainerID: id, Image: watcher.TargetImage{Reference: reference, Digest: digestB}}
}

func planned(t *testing.T, k *kubernetes.Kubernetes, req watcher.UpdateRequest) watcher.Operation {
	t.Helper()
	p, err := k.Plan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return watcher.Operation{ID: "op1", Request: req, Plan: p}
}

func texts(all []watcher.Reason) string {
	var lines []string
	for _, r := range all {
		lines = append(lines, r.Code+": "+r.Text)
	}
	return strings.Join(lines, "\n")
}

// image is that of the first container of a workload on the server.
func (s *server) image(kind, key string, i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(containers(s.objects[paths[kind]][key])[i].(object)["image"])
}

// ready is the status of a workload of any kind, one pod of which runs its newest template; failed that of a Deployment
// on which the cluster has given up.
func ready(_ string, o object) object {
	generation, _ := o["metadata"].(object)["generation"].(float64)
	return object{
		"observedGeneration": generation, "replicas": 1.0, "updatedReplicas": 1.0, "readyReplicas": 1.0, "availableReplicas": 1.0,
		"desiredNumberScheduled": 1.0, "updatedNumberScheduled": 1.0, "numberAvailable": 1.0,
		"currentRevision": "b", "updateRevision": "b",
	}
}

func failed(image string, o object) object {
	status := ready(image, o)
	status["availableReplicas"], status["replicas"] = 0.0, 2.0
	status["conditions"] = gaveUp("2026-11-01T10:00:00Z")
	return status
}

func gaveUp(at string) []any {
	return []any{object{
		"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "it has timed out progressing",
		"lastUpdateTime": at, "lastTransitionTime": at,
	}}
}

// failing gives up on an image, and rolls out others.
func failing(bad string) func(string, object) object {
	return func(image string, o object) object {
		if image == bad {
			return failed(image, o)
		}
		return ready(image, o)
	}
}

var kindsOfWorkloads = map[string]string{
	"Deployment": "deployment", "StatefulSet": "statefulset", "DaemonSet": "daemonset", "CronJob": "cronjob",
}

func TestUpdate(t *testing.T) {
	for object, kind := range kindsOfWorkloads {
		t.Run(kind, func(t *testing.T) {
			s := newServer(t)
			s.rollOut = ready
			s.put(t, workload(object, "media", "web", managed(t, object, "kubectl-client-side-apply", "Update", "web"), "", `"readyReplicas": 1`, "", "nginx:1.27"))
			k := newUpdater(t, s.at(t))
			op := planned(t, k, requestFor("media_"+kind+"_web_web", "docker.io/library/nginx:1.28"))
			if len(op.Plan.Blocks) > 0 || !strings.Contains(texts(op.Plan.Warnings), "was set by kubectl-client-side-apply, from which") {
				t.Fatalf("blocks %q, warnings %q", texts(op.Plan.Blocks), texts(op.Plan.Warnings))
			}
			j := &journal{}
			out, err := k.Apply(t.Context(), op, j)
			if err != nil || out.State != watcher.Updated || s.image(object, "media/web", 0) != "nginx:1.28" {
				t.Errorf("got %+v, %v, and the image %s", out, err, s.image(object, "media/web", 0))
			}
			want := "rollout:media_web health:media_web"
			if kind == "cronjob" {
				want = "rollout:media_web"
			}
			if j.taken() != want {
				t.Errorf("took %q, want %q", j.taken(), want)
			}
			if n := s.count("patch /"); n != 2 { // one of them tried
				t.Errorf("%d patches", n)
			}
		})
	}
}

func TestUpdateThatFailsReturns(t *testing.T) {
	s := newServer(t)
	s.rollOut = failing("nginx:1.28")
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	s.put(t, strings.Replace(pod("media", "web-abc-1", "ReplicaSet/web-abc", "nginx:1.28", ""), `"imageID": ""`,
		`"imageID": "", "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}, "lastState": {"terminated": {"reason": "Error", "exitCode": 3}}`, 1))
	k := newUpdater(t, s.at(t))
	op := planned(t, k, requestFor("media_deployment_web_web", "nginx:1.28"))
	j := &journal{}
	out, err := k.Apply(t.Context(), op, j)
	if err != nil || out.State != watcher.RolledBack || s.image("Deployment", "media/web", 0) != "nginx:1.27" {
		t.Fatalf("got %+v, %v", out, err)
	}
	const why = "the pod web-abc-1: CrashLoopBackOff: back-off 5m0s"
	if out.Reason.Text != why || out.Evidence == nil || out.Evidence.ExitCode != 3 || out.Evidence.Error != why {
		t.Errorf("because %+v, evidence %+v", out.Reason, out.Evidence)
	}
	if want := "rollout:media_web health:media_web rollback:media_web"; j.taken() != want {
		t.Errorf("took %q", j.taken())
	}
}

// TestEvidenceHasTheLog: the last lines of the run that failed, without the secrets of the pod, or the rule that the
// role lacks for that; of a container that never ran there is no log.
func TestEvidenceHasTheLog(t *testing.T) {
	const crashed = `"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 3}}`
	const ended = `"state": {"terminated": {"exitCode": 4}}, "lastState": {"terminated": {"exitCode": 3}}`
	const unready = `"state": {"running": {}}`
	const pulling = `"state": {"waiting": {"reason": "ImagePullBackOff", "message": "for hunter2"}}`
	const env = `"env": [{"name": "DB_PASSWORD", "value": "hunter2"}], "args": ["--token", "t0psecret"], `
	const lack = "The log could not be read: system:serviceaccount:media:dogwatch may not get pods/log in namespace media; " +
		`add to the rules of a Role in namespace media that is bound to it: {apiGroups: [""], resources: [pods/log], verbs: [get]}`
	for name, c := range map[string]struct {
		state, log, denied, want string
		request                  string // what is asked for; "" for nothing
		code                     int
	}{
		"crashed": {crashed, "starting\npassword hunter2 or t0psecret is wrong\n", "", "starting\npassword *** or *** is wrong\n",
			"?container=web&previous=true&tailLines=50", 3},
		"ended":     {ended, "bye", "", "bye", "?container=web&tailLines=50", 4},
		"not ready": {unready, "wait", "", "wait", "?container=web&tailLines=50", 0},
		"never ran": {pulling, "old", "", "", "", 0},
		"long":      {crashed, "DB_PASSWORD=" + strings.Repeat("hunter2", 10000) + "\nend", "", "end", "?container=web&previous=true&tailLines=50", 3},
		"denied":    {crashed, "", "x", lack, "?container=web&previous=true&tailLines=50", 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.rollOut, s.log = failing("nginx:1.28"), c.log
			s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
			if c.denied != "" {
				s.refuse("get", "/api/v1/pods/log", http.StatusForbidden,
					`pods "web-abc-1" is forbidden: User "system:serviceaccount:media:dogwatch" cannot get resource "pods/log"`)
			}
			text := strings.Replace(pod("media", "web-abc-1", "ReplicaSet/web-abc", "nginx:1.28", ""), `"imageID": ""`,
				`"imageID": "", `+c.state, 1)
			text = strings.Replace(text, `"image": "nginx:1.28"`, env+`"image": "nginx:1.28"`, 1)
			s.put(t, strings.Replace(text, `"status": {`, `"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "x"}], `, 1))
			k := newUpdater(t, s.at(t))
			out, err := k.Apply(t.Context(), planned(t, k, requestFor("media_deployment_web_web", "nginx:1.28")), &journal{})
			if err != nil || out.Evidence == nil || out.Evidence.Log != c.want || out.Evidence.ExitCode != c.code {
				t.Fatalf("got %+v, %v", out.Evidence, err)
			}
			if strings.Contains(out.Evidence.Error, "hunter2") {
				t.Errorf("the error has a secret: %s", out.Evidence.Error)
			}
			const path = "get /api/v1/namespaces/media/pods/web-abc-1/log"
			if got := s.count("get "); c.request == "" && got != 0 || c.request != "" && s.count(path+c.request) != 1 {
				t.Errorf("requested %q", s.requests)
			}
		})
	}
}

func TestUpdateThatNeitherWorks(t *testing.T) {
	s := newServer(t)
	s.rollOut = func(image string, o object) object {
		status := failed(image, o)
		if image == "nginx:1.27" {
			status["conditions"] = gaveUp("2026-11-01T10:10:00Z")
		}
		return status
	}
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	k := newUpdater(t, s.at(t))
	op := planned(t, k, requestFor("media_deployment_web_web", "nginx:1.28"))
	if !strings.Contains(texts(op.Plan.Warnings), "0 of 1 pods of media_web are ready") {
		t.Errorf("warns of %q", texts(op.Plan.Warnings))
	}
	out, err := k.Apply(t.Context(), op, &journal{})
	if err != nil || out.State != watcher.Broken || !strings.Contains(out.Reason.Text, "; and the old image does not run either: ") {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestOldFailureDoesNotCount: a Deployment of one pod says that it gave up until the pod of the rollout before is gone.
func TestOldFailureDoesNotCount(t *testing.T) {
	s := newServer(t)
	s.rollOut = func(image string, o object) object {
		status := failed(image, o)
		if image == "nginx:1.27" {
			status["availableReplicas"] = 1.0 // and an old pod
		}
		return status
	}
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	k := newUpdater(t, s.at(t))
	var group sync.WaitGroup
	j := &journal{ended: func(step watcher.Step) {
		if step.ID != "rollback:media_web" {
			return
		}
		begun := s.count("list /apis/apps/")
		group.Go(func() {
			s.await(t, "that it is watched", func() bool {
				n := 0
				for _, r := range s.requests {
					if strings.HasPrefix(r, "list /apis/apps/") {
						n++
					}
				}
				if n < begun+3 {
					return false
				}
				o := s.objects[paths["Deployment"]]["media/web"]
				o["status"] = ready("", o)
				return true
			})
		})
	}}
	out, err := k.Apply(t.Context(), planned(t, k, requestFor("media_deployment_web_web", "nginx:1.28")), j)
	group.Wait()
	if err != nil || out.State != watcher.RolledBack {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestUpdateThatNeverConverges(t *testing.T) {
	s := newServer(t)
	s.rollOut = func(image string, o object) object {
		status := ready(image, o)
		if image == "nginx:1.28" {
			status["observedGeneration"] = 0.0
		}
		return status
	}
	s.put(t, workload("StatefulSet", "media", "db", "", `"replicas": 1`, `"readyReplicas": 1`, "", "nginx:1.27"))
	k := newUpdater(t, s.at(t))
	req := requestFor("media_statefulset_db_db", "nginx:1.28")
	req.Rules.Health.Window = 50 * time.Millisecond
	out, err := k.Apply(t.Context(), planned(t, k, req), &journal{})
	if err != nil || out.State != watcher.RolledBack || !strings.HasPrefix(out.Reason.Text, "nothing changed for 50ms, and 0 of 1 pods of media_db run the image") {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestRolledOut(t *testing.T) {
	for name, c := range map[string]struct {
		kind, spec string
		status     object
		want       watcher.OutcomeState
	}{
		"not yet seen":       {"Deployment", `"replicas": 1`, object{"observedGeneration": 0.0}, watcher.Broken},
		"old pods":           {"Deployment", `"replicas": 1`, object{"replicas": 2.0}, watcher.Broken},
		"not available":      {"Deployment", `"replicas": 1`, object{"availableReplicas": 0.0}, watcher.Broken},
		"scaled to zero":     {"Deployment", `"replicas": 0`, object{"replicas": 0.0, "updatedReplicas": 0.0, "availableReplicas": 0.0}, watcher.Updated},
		"two of three":       {"StatefulSet", `"replicas": 3`, object{"readyReplicas": 3.0, "updatedReplicas": 2.0}, watcher.Broken},
		"another revision":   {"StatefulSet", `"replicas": 1`, object{"currentRevision": "a"}, watcher.Broken},
		"a partition":        {"StatefulSet", `"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}`, object{"readyReplicas": 3.0, "currentRevision": "a"}, watcher.Updated},
		"one of two nodes":   {"DaemonSet", `"x": 1`, object{"desiredNumberScheduled": 2.0}, watcher.Broken},
		"a node not updated": {"DaemonSet", `"x": 1`, object{"updatedNumberScheduled": 0.0}, watcher.Broken},
		"no node":            {"DaemonSet", `"x": 1`, object{"desiredNumberScheduled": 0.0, "updatedNumberScheduled": 0.0, "numberAvailable": 0.0}, watcher.Updated},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.rollOut = func(image string, o object) object {
				status := ready(image, o)
				maps.Copy(status, c.status)
				return status
			}
			s.put(t, workload(c.kind, "media", "web", "", c.spec, `"readyReplicas": 1`, "", "nginx:1.27"))
			k := newUpdater(t, s.at(t))
			k.Hasten(time.Millisecond, 20*time.Millisecond)
			out, err := k.Apply(t.Context(), planned(t, k, requestFor("media_"+strings.ToLower(c.kind)+"_web_web", "nginx:1.28")), &journal{})
			if err != nil || out.State != c.want {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
}

func TestUpdateWritesImageAsUserDid(t *testing.T) {
	for name, c := range map[string]struct{ old, reference, digest, id, want string }{
		"tag":               {"nginx:1.27", "docker.io/library/nginx:1.28", digestB, "", "nginx:1.28"},
		"host":              {"docker.io/library/nginx:1.27", "docker.io/library/nginx:1.28", digestB, "", "docker.io/library/nginx:1.28"},
		"registry":          {"ghcr.io/a/b:1", "ghcr.io/a/b:2", digestB, "", "ghcr.io/a/b:2"},
		"digest":            {"nginx:1.27@" + digestA, "nginx:1.28", digestB, "", "nginx:1.28@" + digestB},
		"digest alone":      {"nginx@" + digestA, "nginx:latest", digestB, "", "nginx@" + digestB},
		"rebuilt":           {"nginx:1.27", "docker.io/library/nginx:1.27", digestB, "", "nginx:1.27@" + digestB},
		"returned":          {"nginx:1.28", "nginx:1.27", "", digestA, "nginx:1.27"},
		"returned, rebuilt": {"nginx:1.27@" + digestB, "nginx:1.27", "", digestA, "nginx:1.27@" + digestA},
		"returned, unknown": {"nginx:1.28", "nginx:1.27", "", "nginx:1.27", "nginx:1.27"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.rollOut = ready
			s.put(t, deployment("media", "web", `"replicas": 1`, c.old))
			k := newUpdater(t, s.at(t))
			op := planned(t, k, watcher.UpdateRequest{
				ContainerID: "media_deployment_web_web", Image: watcher.TargetImage{Reference: c.reference, Digest: c.digest, ID: c.id},
			})
			out, err := k.Apply(t.Context(), op, &journal{})
			if got := s.image("Deployment", "media/web", 0); err != nil || out.State != watcher.Updated || got != c.want {
				t.Errorf("got %s, want %s: %+v, %v", got, c.want, out, err)
			}
		})
	}
}

// TestPlanKnowsWhatRuns: a user may return to what ran before, by its digest where the pods tell.
func TestPlanKnowsWhatRuns(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	k := newUpdater(t, s.at(t))
	req := requestFor("media_deployment_web_web", "nginx:1.28")
	if from := planned(t, k, req).Plan.From; from != (watcher.PlannedImage{Reference: "nginx:1.27", ID: "nginx:1.27"}) {
		t.Errorf("without pods: from %+v", from)
	}
	s.put(t, pod("media", "web-abc-1", "ReplicaSet/web-abc", "nginx:1.27", "docker.io/library/nginx@"+digestA))
	if from := planned(t, k, req).Plan.From; from != (watcher.PlannedImage{Reference: "nginx:1.27", ID: digestA}) {
		t.Errorf("with a pod: from %+v", from)
	}
}

func TestBlocks(t *testing.T) {
	const id = "media_deployment_web_web"
	for name, c := range map[string]struct{ metadata, spec, want string }{
		"Helm label":      {`"labels": {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "shop"}`, "", "workload.kept: media_web belongs to the release shop of Helm: change the image in its values"},
		"Helm annotation": {`"annotations": {"meta.helm.sh/release-name": "shop"}`, "", "workload.kept: media_web belongs to the release shop of Helm: change the image in its values"},
		"Kustomization": {`"labels": {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}`, "",
			"workload.kept: media_web belongs to the Kustomization flux-system/apps of Flux: change the image in its source"},
		"HelmRelease": {`"labels": {"helm.toolkit.fluxcd.io/name": "shop", "app.kubernetes.io/managed-by": "Helm"}`, "",
			"workload.kept: media_web belongs to the HelmRelease shop of Flux: change the image in its values"},
		"Argo CD": {`"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:media/web"}`, "",
			"workload.kept: media_web belongs to the application shop of Argo CD: change the image in its source"},
		"Argo CD by its manager": {`"labels": {"app.kubernetes.io/instance": "shop"}, ` + managed(t, "Deployment", "argocd-controller", "Apply", "web"), "",
			"workload.kept: media_web belongs to the application shop of Argo CD: change the image in its source"},
		"controller": {`"ownerReferences": [{"kind": "Website", "name": "home", "controller": true}]`, "",
			"workload.kept: media_web belongs to the Website home, which would replace it again: change the image there"},
		"another manager": {managed(t, "Deployment", "team-ci", "Apply", "web"), "",
			"workload.applied: the image of media_web is applied by team-ci (server-side apply): change it there"},
		"a file": {`"annotations": {"argocd.argoproj.io/tracking-id": "shop:a", "dogwatch/source.file.web": "apps/values.yaml",` +
			`"dogwatch/source.file": "other.yaml", "dogwatch/source.repository": "https://ana:secret@git.example.org/ana/homelab"}`, "",
			"workload.kept: media_web belongs to the application shop of Argo CD: change the image in apps/values.yaml of " +
				"https://git.example.org/ana/homelab"},
		"a file of Kustomize": {`"annotations": {"meta.helm.sh/release-name": "shop", "config.kubernetes.io/origin": "path: web.yaml\n"}`, "",
			"workload.kept: media_web belongs to the release shop of Helm: change the image in web.yaml"},
		"another manager of a file": {`"annotations": {"dogwatch/source.file": "web.yaml", "dogwatch/source.repository": "ana/homelab"}, ` +
			managed(t, "Deployment", "team-ci", "Apply", "web"), "",
			"workload.applied: the image of media_web is applied by team-ci (server-side apply): change it in web.yaml of ana/homelab"},
		"paused": {"", `"paused": true`, "workload.paused: media_web is paused, so nothing would be rolled out: resume it with kubectl rollout resume"},

		"an instance alone":     {`"labels": {"app.kubernetes.io/instance": "shop"}`, "", ""},
		"an owner":              {`"ownerReferences": [{"kind": "Website", "name": "home"}]`, "", ""},
		"another container":     {managed(t, "Deployment", "team-ci", "Apply", "other"), "", ""},
		"a manager that wrote":  {managed(t, "Deployment", "kubectl-set", "Update", "web"), "", ""},
		"Dogwatch":              {managed(t, "Deployment", "dogwatch", "Apply", "web"), "", ""},
		"managed by something":  {`"labels": {"app.kubernetes.io/managed-by": "hand"}`, "", ""},
		"fields that are wrong": {`"managedFields": [{"manager": "a", "operation": "Apply", "fieldsV1": {"f:spec": 3}}]`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.put(t, workload("Deployment", "media", "web", c.metadata, c.spec, "", "", "nginx:1.27"))
			op := planned(t, newUpdater(t, s.at(t)), requestFor(id, "nginx:1.28"))
			if got := texts(op.Plan.Blocks); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			tried := s.count("patch /")
			j := &journal{begin: func(watcher.Step) error { return watcher.ErrStop }}
			out, err := newUpdater(t, s.at(t)).Apply(t.Context(), op, j)
			if err != nil || out.State != watcher.Unchanged || c.want != "" && out.Reason != op.Plan.Blocks[0] ||
				s.count("patch /") != tried {
				t.Errorf("applied all the same: %+v, %v", out, err)
			}
		})
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	o := s.at(t)
	o.Update = false
	k := newUpdater(t, o)
	op := planned(t, k, requestFor("media_deployment_web_web", "nginx:1.28"))
	if !strings.HasPrefix(texts(op.Plan.Blocks), "engine.readonly: this watcher only reads") {
		t.Errorf("blocks %q", texts(op.Plan.Blocks))
	}
	out, err := k.Apply(t.Context(), op, &journal{})
	if err != nil || out.State != watcher.Unchanged {
		t.Errorf("got %+v, %v", out, err)
	}
	op.Steps = []watcher.StepRecord{{Step: op.Plan.Steps[0]}, {Step: watcher.Step{ID: "rollback:media_web"}}}
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.28"))
	if out, err = k.Recover(t.Context(), op, &journal{}); err != nil || out.State != watcher.Broken || s.count("patch /") > 0 {
		t.Errorf("recovered to %+v, %v, with %d patches", out, err, s.count("patch /"))
	}
}

// TestPlanKeepsToWhatIsWatched: no id leads out of the namespaces, the selector and the kinds.
func TestPlanKeepsToWhatIsWatched(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	s.put(t, deployment("other", "web", `"replicas": 1`, "nginx:1.27"))
	for id, change := range map[string]func(*kubernetes.Options){
		"other_deployment_web_web":   func(o *kubernetes.Options) { o.Namespaces = []string{"media"} },
		"media_deployment_web_web":   func(o *kubernetes.Options) { o.Exclude = []string{"media"} },
		"other_deployment_web_web ":  func(*kubernetes.Options) {},
		"media_deployment_web_other": func(*kubernetes.Options) {},
		"media_deployment_none_none": func(*kubernetes.Options) {},
		"web":                        func(*kubernetes.Options) {},
		"media_deployment_web_web_":  func(*kubernetes.Options) {},
		"other_deployment_web_web/":  func(o *kubernetes.Options) { o.Selector = "tier=web" },
	} {
		o := s.at(t)
		change(&o)
		req := requestFor(strings.TrimRight(id, "/"), "nginx:1.28")
		if _, err := newUpdater(t, o).Plan(t.Context(), req); !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("%q: got %v", id, err)
		}
	}
	k := newUpdater(t, s.at(t))
	if p := planned(t, k, requestFor("media_pod_web_web", "nginx:1.28")).Plan; len(p.Blocks) != 1 || p.Blocks[0].Code != kubernetes.BlockPod {
		t.Errorf("a pod: %+v", p)
	}
}

func TestForbiddenPatchNamesRule(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	k := newUpdater(t, s.at(t))
	req := requestFor("media_deployment_web_web", "nginx:1.28")
	op := planned(t, k, req)
	const message = `deployments.apps "web" is forbidden: User "system:serviceaccount:a:b" cannot patch resource "deployments" in API group "apps" in the namespace "media"`
	const rule = `system:serviceaccount:a:b may not patch deployments.apps in namespace media; ` +
		`add to the rules of a Role in namespace media that is bound to it: {apiGroups: ["apps"], resources: [deployments], verbs: [patch]}`
	s.refuse("patch", "/apis/apps/v1/deployments", http.StatusForbidden, message)
	if got := texts(planned(t, k, req).Plan.Blocks); got != "workload.refused: "+rule {
		t.Errorf("planned: %s", got)
	}
	out, err := k.Apply(t.Context(), op, &journal{})
	if err != nil || out.State != watcher.Unchanged || out.Reason.Text != rule {
		t.Errorf("applied: %+v, %v", out, err)
	}
	s.refuse("patch", "/apis/apps/v1/deployments", http.StatusForbidden, `admission webhook "policy.example.org" denied the request: no nginx`)
	if got := texts(planned(t, k, req).Plan.Blocks); !strings.Contains(got, `answered 403: admission webhook "policy.example.org" denied the request: no nginx`) {
		t.Errorf("a policy: %s", got)
	}
	s.refuse("patch", "/apis/apps/v1/deployments", http.StatusBadRequest, `admission webhook "old.example.org" does not support dry run`)
	if got := texts(planned(t, k, req).Plan.Blocks); got != "" {
		t.Errorf("a webhook that cannot try: %s", got)
	}
	s.refuse("patch", "/apis/apps/v1/deployments", http.StatusServiceUnavailable, "later")
	if _, err := k.Plan(t.Context(), req); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("an outage: got %v", err)
	}
	if _, err := k.Apply(t.Context(), op, &journal{}); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("an outage while it is applied: got %v", err)
	}
}

// TestChangedMeanwhile: what somebody else changes after the plan, or at the same time, is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	const id = "media_deployment_web_web"
	web := func(metadata, spec, image string) string {
		return workload("Deployment", "media", "web", metadata, spec, "", "", image)
	}
	for name, c := range map[string]struct{ now, want string }{
		"another image":   {web("", "", "nginx:1.30"), "media_web was changed to nginx:1.30 since this was planned: plan again"},
		"another manager": {web(managed(t, "Deployment", "kubectl-edit", "Update", "web"), "", "nginx:1.27"), "media_web changed since this was planned: plan again"},
		"Argo CD": {web(`"annotations": {"argocd.argoproj.io/tracking-id": "shop:a"}`, "", "nginx:1.27"),
			"media_web belongs to the application shop of Argo CD: change the image in its source"},
		"removed": {"", "deployments.apps in namespace media: there is no web any more: list again"},
		"scaled":  {web("", `"replicas": 3`, "nginx:1.27"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.put(t, web("", "", "nginx:1.27"))
			k := newUpdater(t, s.at(t))
			op := planned(t, k, requestFor(id, "nginx:1.28"))
			if c.now == "" {
				s.remove("Deployment", "media/web")
			} else {
				s.put(t, c.now)
			}
			out, err := k.Apply(t.Context(), op, &journal{begin: func(watcher.Step) error { return watcher.ErrStop }})
			want := c.want
			if want == "" {
				want = "it was cancelled before anything was changed"
			}
			if err != nil || out.State != watcher.Unchanged || out.Reason.Text != want {
				t.Errorf("got %+v, %v; want %q", out, err, want)
			}
		})
	}
	t.Run("at the same time", func(t *testing.T) {
		s := newServer(t)
		s.rollOut = ready
		s.put(t, web("", "", "nginx:1.27"))
		k := newUpdater(t, s.at(t))
		op := planned(t, k, requestFor(id, "nginx:1.28"))
		// The cluster writes to the status twice while the image is applied, and then a user to the image.
		for i, status := range []string{`"readyReplicas": 1`, `"readyReplicas": 0`} {
			s.between = func(object) object {
				s.between = nil
				return s.changed(t, workload("Deployment", "media", "web", "", "", status, "", "nginx:1.27"))
			}
			out, err := k.Apply(t.Context(), op, &journal{})
			if err != nil || out.State != watcher.Updated || s.image("Deployment", "media/web", 0) != "nginx:1.28" {
				t.Fatalf("%d: got %+v, %v", i, out, err)
			}
			s.put(t, web("", "", "nginx:1.27"))
		}
		s.between = func(object) object {
			s.between = nil
			return s.changed(t, web(managed(t, "Deployment", "kubectl-edit", "Update", "web"), "", "nginx:1.26"))
		}
		out, err := k.Apply(t.Context(), op, &journal{})
		if err != nil || out.State != watcher.Unchanged || out.Reason.Text != "media_web was changed at the same time by kubectl-edit: plan again" ||
			s.image("Deployment", "media/web", 0) != "nginx:1.26" {
			t.Errorf("got %+v, %v", out, err)
		}
	})
}

// changed puts an object while the server holds its lock.
func (s *server) changed(t *testing.T, text string) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	s.version++
	o["metadata"].(object)["resourceVersion"] = fmt.Sprint(s.version)
	s.objects[paths["Deployment"]]["media/web"] = o
	return o
}

// TestOvertaken: while Dogwatch watches, somebody gives the workload another image, or the old one.
func TestOvertaken(t *testing.T) {
	for image, want := range map[string]watcher.OutcomeState{"nginx:1.30": watcher.Broken, "nginx:1.27": watcher.RolledBack} {
		s := newServer(t)
		s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
		k := newUpdater(t, s.at(t))
		op := planned(t, k, requestFor("media_deployment_web_web", "nginx:1.28"))
		out, err := k.Apply(t.Context(), op, &journal{begin: func(step watcher.Step) error {
			if step.Code == watcher.StepHealth {
				s.put(t, workload("Deployment", "media", "web", managed(t, "Deployment", "kubectl-edit", "Update", "web"), "",
					`"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1`, "", image))
			}
			return nil
		}})
		if err != nil || out.State != want || !strings.Contains(out.Reason.Text, "kubectl-edit changed media_web to "+image) {
			t.Errorf("%s: got %+v, %v", image, out, err)
		}
		if got := s.image("Deployment", "media/web", 0); got != image {
			t.Errorf("%s: it has %s now", image, got)
		}
	}
}

// TestOtherContainersKeepTheirImage: an application that leaves out what Dogwatch set before would remove it.
func TestOtherContainersKeepTheirImage(t *testing.T) {
	s := newServer(t)
	s.rollOut = ready
	s.put(t, strings.Replace(deployment("media", "web", `"replicas": 1`, "nginx:1.27"), `"containers": [`,
		`"containers": [{"name": "log", "image": "log:1"}, {"name": "plain", "image": "plain:1"}, `, 1))
	k := newUpdater(t, s.at(t))
	for id, image := range map[string]string{"media_deployment_web_web": "nginx:1.28", "media_deployment_web_log": "log:2"} {
		out, err := k.Apply(t.Context(), planned(t, k, requestFor(id, image)), &journal{})
		if err != nil || out.State != watcher.Updated {
			t.Fatalf("%s: %+v, %v", id, out, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	managers := s.objects[paths["Deployment"]]["media/web"]["metadata"].(object)["managedFields"]
	text, _ := json.Marshal(managers)
	for name, want := range map[string]bool{"web": true, "log": true, "plain": false} {
		if has := strings.Contains(string(text), fmt.Sprintf(`{\"name\":\"%s\"}`, name)); has != want {
			t.Errorf("%s: applied %v, want %v: %s", name, has, want, text)
		}
	}
}

// TestCancelled: a user stops an update before its first step, or while it is watched.
func TestCancelled(t *testing.T) {
	for code, want := range map[string]watcher.OutcomeState{
		watcher.StepRollout: watcher.Unchanged, watcher.StepHealth: watcher.RolledBack,
	} {
		s := newServer(t)
		s.rollOut = ready
		s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
		k := newUpdater(t, s.at(t))
		op := planned(t, k, requestFor("media_deployment_web_web", "nginx:1.28"))
		out, err := k.Apply(t.Context(), op, &journal{begin: func(step watcher.Step) error {
			if step.Code == code {
				return watcher.ErrStop
			}
			return nil
		}})
		if err != nil || out.State != want || out.Reason.Code != watcher.ReasonCancelled || s.image("Deployment", "media/web", 0) != "nginx:1.27" {
			t.Errorf("%s: got %+v, %v", code, out, err)
		}
	}
}

var errKilled = errors.New("killed")

// TestRecover kills an update that fails before and after each of its steps, and has it recovered.
func TestRecover(t *testing.T) {
	for _, bad := range []bool{false, true} {
		for _, at := range []string{
			"begin rollout:media_web", "end rollout:media_web", "begin health:media_web", "end health:media_web",
			"begin rollback:media_web", "end rollback:media_web",
		} {
			if !bad && strings.Contains(at, "rollback") {
				continue
			}
			t.Run(fmt.Sprintf("%s, bad %v", at, bad), func(t *testing.T) {
				s := newServer(t)
				s.rollOut = ready
				if bad {
					s.rollOut = failing("nginx:1.28")
				}
				s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
				k := newUpdater(t, s.at(t))
				op := planned(t, k, requestFor("media_deployment_web_web", "nginx:1.28"))
				steps, err := kill(t, k, op, at)
				if err == nil {
					t.Fatal("it was not killed")
				}
				op.Steps = steps
				patches := s.count("patch /")
				out, err := k.Recover(t.Context(), op, &journal{})
				want, image := watcher.Updated, "nginx:1.28"
				switch {
				case at == "begin rollout:media_web":
					want, image = watcher.Unchanged, "nginx:1.27"
				case bad:
					want, image = watcher.RolledBack, "nginx:1.27"
				}
				if err != nil || out.State != want || s.image("Deployment", "media/web", 0) != image {
					t.Errorf("recovered to %+v, %v", out, err)
				}
				again := s.count("patch /") - patches
				if allowed := map[bool]int{true: 1}[want == watcher.RolledBack && at != "end rollback:media_web"]; again != allowed {
					t.Errorf("%d patches when it recovered, want %d", again, allowed)
				}
				if twice, err := k.Recover(t.Context(), op, &journal{}); err != nil || twice.State != out.State && at != "begin health:media_web" &&
					at != "end rollout:media_web" && at != "end health:media_web" {
					t.Errorf("recovered again to %+v, %v", twice, err)
				}
			})
		}
	}
}

// kill ends an update as kill -9 does: after a step was stored as begun, or before it is stored as ended.
func kill(
	t *testing.T, k *kubernetes.Kubernetes, op watcher.Operation, at string,
) (steps []watcher.StepRecord, err error) {
	t.Helper()
	j := &killed{at: at}
	_, err = k.Apply(t.Context(), op, j)
	return j.steps, err
}

type killed struct {
	journal
	at string
}

func (j *killed) Begin(ctx context.Context, s watcher.Step) error {
	err := j.journal.Begin(ctx, s)
	if err == nil && "begin "+s.ID == j.at {
		return errKilled
	}
	return err
}

func (j *killed) End(ctx context.Context, s watcher.Step, facts map[string]string, err error) error {
	if "end "+s.ID == j.at {
		return errKilled
	}
	return j.journal.End(ctx, s, facts, err)
}

func TestWarnings(t *testing.T) {
	s := newServer(t)
	s.put(t, workload("StatefulSet", "media", "web", `"annotations": {"config.kubernetes.io/origin": "path: apps/web.yaml\nrepo: https://user:secret@git.example.org/a\n"}`,
		`"updateStrategy": {"type": "OnDelete"}`, "", "", "nginx:1.27"))
	k := newUpdater(t, s.at(t))
	req := requestFor("media_statefulset_web_web", "nginx:1.28")
	req.Rules.Health.TCP, req.Rules.Hooks.Pre = ":80", []string{"true"}
	op := planned(t, k, req)
	var codes []string
	for _, w := range op.Plan.Warnings {
		codes = append(codes, w.Code)
	}
	want := []string{kubernetes.WarnManifest, kubernetes.WarnUnwatched, kubernetes.WarnProbe, kubernetes.WarnHooks}
	if !slices.Equal(codes, want) || !strings.Contains(texts(op.Plan.Warnings), "write the new image into apps/web.yaml, or") ||
		strings.Contains(texts(op.Plan.Warnings), "secret") || len(op.Plan.Steps) != 1 {
		t.Errorf("warns of %s", texts(op.Plan.Warnings))
	}
}
