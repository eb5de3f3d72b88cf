package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// list lists the containers of a server, by id.
func list(t *testing.T, s *server, options map[string]any) map[string]watcher.Container {
	t.Helper()
	all, err := watching(t, s, options).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]watcher.Container{}
	for _, c := range all {
		byID[c.ID] = c
	}
	return byID
}

func watching(t *testing.T, s *server, options map[string]any) plugintest.WatcherInstance {
	t.Helper()
	all := map[string]any{"server": s.URL}
	for name, value := range options {
		all[name] = value
	}
	return plugintest.Watcher(t, kubernetes.Type(), all)
}

func ids(all map[string]watcher.Container) (found []string) {
	for id := range all {
		found = append(found, id)
	}
	slices.Sort(found)
	return found
}

func TestListFindsWorkloads(t *testing.T) {
	s := newServer(t)
	s.put(t, `{"kind": "Node", "metadata": {"name": "one", "labels": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}}}`)
	s.put(t, deployment("media", "web", `"replicas": 1`, "ghcr.io/team/web:1.2"))
	s.put(t, pod("media", "web-7d9-x", "ReplicaSet/web-7d9", "ghcr.io/team/web:1.2", "ghcr.io/team/web@"+digestA))
	s.put(t, workload("StatefulSet", "media", "db", "", `"replicas": 3`, `"readyReplicas": 2`, "", "postgres:17"))
	s.put(t, pod("media", "db-0", "StatefulSet/db", "postgres:17", "docker-pullable://postgres@"+digestA))
	s.put(t, workload("DaemonSet", "kube", "log", "", "", `"desiredNumberScheduled": 2, "numberReady": 2`, "", "fluent/fluent-bit:4.0"))
	s.put(t, workload("CronJob", "media", "backup", "", `"suspend": true`, "", "", "restic/restic:0.18"))
	s.put(t, pod("media", "backup-29400000-z", "Job/backup-29400000", "restic/restic:0.18", digestB))
	s.put(t, workload("Deployment", "media", "off", "", `"replicas": 0`, "", "", "nginx@"+digestA))
	s.put(t, workload("Deployment", "media", "odd", "", "", `"readyReplicas": 1`, "", "not an image"))
	s.put(t, pod("media", "bare", "", "busybox", ""))

	found := list(t, s, nil)
	linux := sdk.Platform{OS: "linux", Architecture: "arm64"}
	type row struct{ name, status, image, tag, digest, id string }
	for id, want := range map[string]row{
		"media_deployment_web_web":    {"media_web", "running", "ghcr.io/team/web", "1.2", digestA, digestA},
		"media_statefulset_db_db":     {"media_db", "running 2/3", "/postgres", "17", digestA, digestA},
		"kube_daemonset_log_log":      {"kube_log", "running", "/fluent/fluent-bit", "4.0", "", ""},
		"media_cronjob_backup_backup": {"media_backup", "suspended", "/restic/restic", "0.18", "", digestB},
		"media_deployment_off_off":    {"media_off", "stopped", "/nginx", "", digestA, digestA},
		"media_deployment_odd_odd":    {"media_odd", "running", "/not an image", "", "", ""},
	} {
		c, has := found[id]
		got := row{c.Name, c.Status, c.Image.Host + "/" + c.Image.Name, c.Image.Tag, c.Image.Digest, c.Image.ID}
		if !has || got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", id, got, want)
		}
		wantPlatform := sdk.Platform{}
		if strings.Contains("web db backup", c.Name[strings.Index(c.Name, "_")+1:]) {
			wantPlatform = linux
		}
		if c.Image.Platform != wantPlatform {
			t.Errorf("%s: platform %+v, want %+v", id, c.Image.Platform, wantPlatform)
		}
	}
	if len(found) != 6 {
		t.Errorf("found %q", ids(found))
	}
	if odd := found["media_deployment_odd_odd"]; !strings.Contains(odd.Error, `the image "not an image"`) {
		t.Errorf("the error of a wrong image is %q", odd.Error)
	}
	if off := found["media_deployment_off_off"]; !off.Image.Pinned {
		t.Error("an image with a digest alone is not pinned")
	}
	if got := found["media_deployment_web_web"].Created.Time.UTC().Format("2006-01-02"); got != "2026-11-01" {
		t.Errorf("created %s", got)
	}
}

func TestListSelects(t *testing.T) {
	s := newServer(t)
	for _, namespace := range []string{"media", "web", "kube-system"} {
		s.put(t, deployment(namespace, "app", `"replicas": 1`, "nginx:1.27"))
	}
	s.put(t, workload("Deployment", "media", "front", `"labels": {"tier": "web"}`, "", "", "", "nginx:1.27"))
	s.put(t, pod("media", "bare", "", "busybox:1", "busybox@"+digestA))
	s.put(t, pod("media", "app-1-x", "ReplicaSet/app-1", "nginx:1.27", ""))
	for _, c := range []struct {
		options map[string]any
		want    []string
		paths   string
	}{
		{nil, []string{"kube-system app", "media app", "media front", "web app"}, "/apis/apps/v1/deployments?"},
		{map[string]any{"namespaces": "web,media"}, []string{"media app", "media front", "web app"}, "/apis/apps/v1/namespaces/web/deployments?"},
		{map[string]any{"exclude": "kube-system,web"}, []string{"media app", "media front"}, "/apis/apps/v1/deployments?fieldSelector=metadata.namespace%21%3Dkube-system"},
		{map[string]any{"namespaces": "web,media", "exclude": "media"}, []string{"web app"}, "/apis/apps/v1/namespaces/web/deployments?"},
		{map[string]any{"selector": "tier=web"}, []string{"media front"}, "/apis/apps/v1/deployments?labelSelector=tier%3Dweb"},
		{map[string]any{"namespaces": "media", "pods": true}, []string{"media app", "media bare", "media front"}, "/api/v1/namespaces/media/pods"},
	} {
		var got []string
		for _, found := range list(t, s, c.options) {
			parts := strings.Split(found.ID, "_")
			got = append(got, parts[0]+" "+parts[2])
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.options, got, c.want)
		}
		if s.count("list "+c.paths) == 0 {
			t.Errorf("%v: no request begins with %s: %q", c.options, c.paths, s.requests)
		}
	}
	bare := list(t, s, map[string]any{"pods": true})["media_pod_bare_bare"]
	if bare.Status != "running" || bare.Image.Digest != digestA {
		t.Errorf("the pod of its own is %+v", bare)
	}
}

// TestNamesDiffer: workloads of different kinds may have the same name.
func TestNamesDiffer(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", "", "nginx:1"))
	s.put(t, workload("StatefulSet", "media", "web", "", "", "", "", "nginx:1"))
	s.put(t, deployment("media", "alone", "", "nginx:1"))
	names := map[string]bool{}
	for _, c := range list(t, s, nil) {
		names[c.Name] = true
	}
	want := map[string]bool{"media_deployment_web_web": true, "media_statefulset_web_web": true, "media_alone": true}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("the names are %v", names)
	}
}

func TestListReadsAllPages(t *testing.T) {
	s := newServer(t)
	for i := range 1100 {
		s.put(t, deployment("media", fmt.Sprintf("app-%04d", i), "", "nginx:1"))
	}
	if found := list(t, s, nil); len(found) != 1100 {
		t.Errorf("found %d containers", len(found))
	}
	if n := s.count("list /apis/apps/v1/deployments"); n != 3 {
		t.Errorf("%d requests, want 3 of 500 objects", n)
	}
}

// TestMostPodsSayTheDigest: a tag that has moved is an update while most pods run what it was before.
func TestMostPodsSayTheDigest(t *testing.T) {
	at := func(text, created string) string {
		return strings.Replace(text, `"namespace"`, fmt.Sprintf(`"creationTimestamp": "2026-11-%sT00:00:00Z", "namespace"`, created), 1)
	}
	run := func(name, image, digest, created string) string {
		return at(pod("media", name, "ReplicaSet/web-1", image, "docker.io/library/nginx@"+digest), created)
	}
	for name, c := range map[string]struct {
		pods []string
		want string
	}{
		"most":        {[]string{run("a", "nginx:1", digestA, "03"), run("b", "nginx:1", digestB, "01"), run("c", "nginx:1", digestA, "02")}, digestA},
		"equals":      {[]string{run("a", "nginx:1", digestA, "03"), run("b", "nginx:1", digestB, "01")}, digestB},
		"another tag": {[]string{run("a", "nginx:0", digestA, "01"), run("b", "nginx:1", digestB, "02")}, digestB},
		"ended": {[]string{
			strings.Replace(run("a", "nginx:1", digestA, "01"), "Running", "Failed", 1), run("b", "nginx:1", digestB, "02"),
			strings.Replace(run("c", "nginx:1", digestA, "01"), "Running", "Failed", 1),
		}, digestB},
		"all ended, the newest": {[]string{
			strings.Replace(run("a", "nginx:1", digestA, "02"), "Running", "Succeeded", 1),
			strings.Replace(run("b", "nginx:1", digestB, "01"), "Running", "Succeeded", 1),
		}, digestA},
		"being removed": {[]string{
			strings.Replace(run("a", "nginx:1", digestA, "01"), `"name"`, `"deletionTimestamp": "2026-11-05T00:00:00Z", "name"`, 1),
		}, ""},
	} {
		s := newServer(t)
		s.put(t, deployment("media", "web", "", "nginx:1"))
		for _, p := range c.pods {
			s.put(t, p)
		}
		if got := list(t, s, nil)["media_deployment_web_web"].Image.Digest; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestAnnotationsAreLabels(t *testing.T) {
	s := newServer(t)
	s.put(t, `{"kind": "Deployment", "metadata": {"namespace": "media", "name": "web",
		"labels": {"app.kubernetes.io/name": "web", "dogwatch.watch.digest": "label"},
		"annotations": {
			"dogwatch/tag.include": "^1\\.", "dogwatch/tag.include.side": "^2\\.",
			"dogwatch/display.name.nginx": "Web", "dogwatch.link.template": "https://example.org", "dogwatch/update": "notify",
			"dogwatch/watch.digest": "annotation", "dogwatch/tag.exclude": "workload",
			"wud.watch": "a", "wud/watch": "b", "wud.getwud.io/watch": "c", "getwud.app/watch": "d",
			"getwud.app/display.icon.side": "mdi:car", "wud.getwud.io/tag.transform": "x", "diun.enable": "true", "keel.sh/policy": "minor",
			"kubectl.kubernetes.io/last-applied-configuration": "secret", "other.example.org/note": "no"}},
		"spec": {"template": {"metadata": {"annotations": {"dogwatch/tag.exclude": "template", "dogwatch/update.minage": "3d"}},
			"spec": {"containers": [{"name": "nginx", "image": "nginx:1"}, {"name": "side", "image": "b:2"}, {"name": "exclude", "image": "c:3"}],
				"initContainers": [{"name": "setup", "image": "d:4"}, {"name": "proxy", "image": "e:5", "restartPolicy": "Always"}]}}}}`)
	found := list(t, s, nil)
	shared := map[string]string{
		"app.kubernetes.io/name": "web", "dogwatch.watch.digest": "annotation", "dogwatch.tag.include": `^1\.`,
		"dogwatch.link.template": "https://example.org", "dogwatch.update": "notify", "dogwatch.tag.exclude": "workload",
		"dogwatch.update.minage": "3d", "wud.watch": "d", "wud.tag.transform": "x", "diun.enable": "true", "keel.sh/policy": "minor",
	}
	for container, own := range map[string]map[string]string{
		"nginx": {"dogwatch.display.name": "Web"},
		"side":  {"dogwatch.tag.include": `^2\.`, "wud.display.icon": "mdi:car"},
		// its name is the last word of a setting, which is meant for all
		"exclude": {}, "proxy": {},
	} {
		want := map[string]string{}
		for _, from := range []map[string]string{shared, own} {
			for name, value := range from {
				want[name] = value
			}
		}
		c, has := found["media_deployment_web_"+container]
		if !has || !reflect.DeepEqual(c.Labels, want) {
			t.Errorf("%s:\n got %v\nwant %v", container, c.Labels, want)
		}
		if c.ImageLabels != nil {
			t.Errorf("%s: %q count as labels of the image", container, c.ImageLabels)
		}
	}
	if len(found) != 4 {
		t.Errorf("found %q", ids(found))
	}
}

const forbidden = `%s is forbidden: User "system:serviceaccount:dog:dogwatch" cannot list resource "x" in API group "apps" at the cluster scope`

func TestDenialsNameTheRules(t *testing.T) {
	s := newServer(t)
	s.refuse("list", "/apis/apps/v1/deployments", 403, fmt.Sprintf(forbidden, "deployments.apps"))
	s.refuse("list", "/apis/batch/v1/cronjobs", 403, fmt.Sprintf(forbidden, "cronjobs.batch"))
	for _, c := range []struct {
		options      map[string]any
		text, remedy string
	}{
		{nil,
			"system:serviceaccount:dog:dogwatch may not list cronjobs.batch in all namespaces, deployments.apps in all namespaces",
			`add to the rules of a ClusterRole that is bound to it: {apiGroups: ["apps"], resources: [deployments], verbs: [list, watch]}, ` +
				`{apiGroups: ["batch"], resources: [cronjobs], verbs: [list, watch]}; or name in namespaces those that it may read`},
		{map[string]any{"namespaces": "media"},
			"system:serviceaccount:dog:dogwatch may not list cronjobs.batch in namespace media, deployments.apps in namespace media",
			`add to the rules of a Role in namespace media that is bound to it: {apiGroups: ["apps"], resources: [deployments], verbs: [list, watch]}, ` +
				`{apiGroups: ["batch"], resources: [cronjobs], verbs: [list, watch]}`},
	} {
		_, err := watching(t, s, c.options).List(t.Context())
		if !errors.Is(err, sdk.ErrUnauthorized) || err.Error() != c.text || sdk.Remedy(err) != c.remedy {
			t.Errorf("got %v, remedy %q; want %s, remedy %q", err, sdk.Remedy(err), c.text, c.remedy)
		}
	}
}

// TestNodesMayBeClosed: only a ClusterRole grants them.
func TestNodesMayBeClosed(t *testing.T) {
	s := newServer(t)
	s.refuse("list", "/api/v1/nodes", 403, fmt.Sprintf(forbidden, "nodes"))
	s.put(t, deployment("media", "web", "", "nginx:1"))
	s.put(t, pod("media", "web-1-x", "ReplicaSet/web-1", "nginx:1", ""))
	w := watching(t, s, nil)
	for range 3 {
		if all, err := w.List(t.Context()); err != nil || len(all) != 1 || all[0].Image.Platform != (sdk.Platform{}) {
			t.Fatalf("got %+v, %v", all, err)
		}
	}
	if n := s.count("list /api/v1/nodes"); n != 1 {
		t.Errorf("the nodes were requested %d times", n)
	}
}

func TestSelectorOfNoMeaning(t *testing.T) {
	s := newServer(t)
	s.refuse("list", "/apis/apps/v1/deployments", 400, "unable to parse requirement: found '!', expected: identifier")
	_, err := watching(t, s, map[string]any{"selector": "a=b!"}).List(t.Context())
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "selector" || !strings.Contains(err.Error(), "unable to parse") {
		t.Errorf("got %v", err)
	}
}

func TestProbe(t *testing.T) {
	s := newServer(t)
	w := watching(t, s, nil)
	got, err := w.Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || !strings.HasPrefix(got.Summary, "Kubernetes 1.34.4 at 127.0.0.1:") || len(got.Warnings) > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	s.refuse("watch", "/api/v1/pods", 403, "")
	got, err = w.Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "the account may not watch pods in all namespaces; add to") {
		t.Errorf("got %+v, %v", got, err)
	}
	s.refuse("list", "/api/v1/pods", 403, "")
	if _, err = w.Probe(t.Context(), sdk.ProbeRequest{}); !errors.Is(err, sdk.ErrUnauthorized) {
		t.Errorf("got %v", err)
	}
}

// TestTokenStaysSecret has a server that repeats what it was sent, and a kubeconfig that cannot be read.
func TestTokenStaysSecret(t *testing.T) {
	const token = "tok-abcd" // short enough for YAML to quote it whole
	folder := t.TempDir()
	server := strings.Replace(plugintest.Responding(t, 500), "http://", "https://", 1) // a server without TLS
	config := filepath.Join(folder, "config")
	for name, text := range map[string]string{
		"answer": kubeconfig(server, "token: "+token),
		"user":   kubeconfig(server, "username: ana\n    password: "+token),
		"yaml":   kubeconfig(server, "token: ["+token),
		"type":   kubeconfig(server, "exec: "+token),
		"server": kubeconfig("https://ana:"+token+"@10.0.0.1", "token: "+token),
	} {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := kubernetes.Type().New(sdk.Env{Warn: func(string) {}}, map[string]any{"kubeconfig": config})
		if err == nil {
			_, err = w.List(context.Background())
		}
		if err == nil || strings.Contains(err.Error()+sdk.Remedy(err), token) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func kubeconfig(server, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: home
contexts:
- name: home
  context: {cluster: home, user: ana}
clusters:
- name: home
  cluster:
    server: %s
users:
- name: ana
  user:
    %s
`, server, user)
}
