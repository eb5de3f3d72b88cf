package kubernetes_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// secret is a pull secret; config is what docker login writes.
func secret(namespace, name, kind, config string) string {
	field := map[string]string{"dockercfg": ".dockercfg"}[kind]
	if field == "" {
		field = ".dockerconfigjson"
	}
	return fmt.Sprintf(`{"kind": "Secret", "metadata": {"namespace": %q, "name": %q}, "type": "kubernetes.io/%s", "data": {%q: %q}}`,
		namespace, name, kind, field, base64.StdEncoding.EncodeToString([]byte(config)))
}

func auth(user, password string) string {
	return fmt.Sprintf(`{"auth": %q}`, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// pulling is a Deployment whose pods name secrets, or an account.
func pulling(name, image, podSpec string) string {
	return fmt.Sprintf(`{"kind": "Deployment", "metadata": {"namespace": "media", "name": %q},
		"spec": {"template": {"spec": {%s "containers": [{"name": %[1]q, "image": %[3]q}]}}}}`, name, podSpec, image)
}

func named(secrets ...string) string {
	var all []string
	for _, s := range secrets {
		all = append(all, fmt.Sprintf(`{"name": %q}`, s))
	}
	return `"imagePullSecrets": [` + strings.Join(all, ", ") + `],`
}

func id(name string) string { return "media_deployment_" + name + "_" + name }

// lent returns what a watcher lends for Deployments, by their names, as "user password host source".
func lent(t *testing.T, w plugintest.WatcherInstance, names ...string) map[string]string {
	t.Helper()
	var ids []string
	for _, name := range names {
		ids = append(ids, id(name))
	}
	found, err := w.PullCredentials(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		if c, has := found[id(name)]; has {
			all[name] = strings.Join([]string{c.Credentials.Username, c.Credentials.Password, c.Host, c.Source}, " ")
		}
	}
	return all
}

func TestPullSecretsOfWorkloads(t *testing.T) {
	s := newServer(t)
	s.put(t, secret("media", "team", "dockerconfigjson", `{"auths": {"ghcr.io": `+auth("ana", "a-pass")+`,
		"https://ghcr.io/team/secret": {"username": "bob", "password": "b:pass"}, "*.example.org": `+auth("eve", "e-pass")+`}}`))
	s.put(t, secret("media", "hub", "dockercfg", `{"https://index.docker.io/v1/": `+auth("hubuser", "h-pass")+`}`))
	s.put(t, secret("media", "broken", "dockerconfigjson", `{"auths": "hunter2"}`))
	s.put(t, `{"kind": "Secret", "metadata": {"namespace": "media", "name": "opaque"}, "type": "Opaque", "data": {}}`)
	s.put(t, secret("other", "theirs", "dockerconfigjson", `{"auths": {"ghcr.io": `+auth("mallory", "m-pass")+`}}`))
	s.put(t, `{"kind": "ServiceAccount", "metadata": {"namespace": "media", "name": "default"}, "imagePullSecrets": [{"name": "hub"}]}`)
	s.put(t, `{"kind": "ServiceAccount", "metadata": {"namespace": "media", "name": "robot"}, "imagePullSecrets": [{"name": "team"}]}`)
	for name, d := range map[string]struct{ image, spec, want string }{
		"pods":      {"ghcr.io/team/web:1", named("team"), "ana a-pass ghcr.io secret media/team"},
		"path":      {"ghcr.io/team/secret/app:1", named("team"), "bob b:pass ghcr.io secret media/team"},
		"prefix":    {"ghcr.io/team/secrets:1", named("team"), "ana a-pass ghcr.io secret media/team"},
		"pattern":   {"registry.example.org/app:1", named("team"), "eve e-pass registry.example.org secret media/team"},
		"port":      {"registry.example.org:5000/app:1", named("team"), ""},
		"deeper":    {"a.registry.example.org/app:1", named("team"), ""},
		"hub":       {"team/app:1", named("hub"), "hubuser h-pass docker.io secret media/hub"},
		"second":    {"ghcr.io/team/web:1", named("missing", "opaque", "broken", "hub", "team"), "ana a-pass ghcr.io secret media/team"},
		"account":   {"ghcr.io/team/web:1", `"serviceAccountName": "robot",`, "ana a-pass ghcr.io secret media/team"},
		"default":   {"team/app:1", "", "hubuser h-pass docker.io secret media/hub"},
		"podsfirst": {"team/app:1", named("team"), ""}, // the account adds none
		"others":    {"ghcr.io/team/web:1", named("theirs"), ""},
		"traversal": {"ghcr.io/team/web:1", named("../../other/secrets/theirs"), ""},
		"noaccount": {"ghcr.io/team/web:1", `"serviceAccountName": "gone",`, ""},
	} {
		s.put(t, pulling(name, d.image, d.spec))
		w := watching(t, s, map[string]any{"pullsecrets": true})
		if got := lent(t, w, name)[name]; got != d.want { // which lists by itself
			t.Errorf("%s: %q, want %q", name, got, d.want)
		}
	}
}

// TestPullSecretsAreReadOnceEach: for all workloads of a call, and for the next call again.
func TestPullSecretsAreReadOnceEach(t *testing.T) {
	s := newServer(t)
	config := `{"auths": {"ghcr.io": ` + auth("ana", "a-pass") + `}}`
	s.put(t, secret("media", "team", "dockerconfigjson", config))
	s.put(t, `{"kind": "ServiceAccount", "metadata": {"namespace": "media", "name": "default"}, "imagePullSecrets": [{"name": "team"}]}`)
	for _, name := range []string{"one", "two"} {
		s.put(t, pulling(name, "ghcr.io/team/"+name+":1", ""))
	}
	w := watching(t, s, map[string]any{"pullsecrets": true})
	if _, err := w.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		if got := lent(t, w, "one", "two"); len(got) != 2 {
			t.Errorf("%v", got)
		}
		if s.count("get /api/v1/namespaces/media/secrets/team") != n || s.count("get ") != 2*n {
			t.Errorf("%d requests after %d calls", s.count("get "), n)
		}
	}
	s.put(t, secret("media", "team", "dockerconfigjson", strings.ReplaceAll(config, "auths", "none")))
	if got := lent(t, w, "one"); len(got) != 0 {
		t.Errorf("a secret that has changed still lends: %v", got)
	}
}

// TestPullSecretsNeedTheOption: without it nothing is read.
func TestPullSecretsNeedTheOption(t *testing.T) {
	s := newServer(t)
	s.put(t, secret("media", "team", "dockerconfigjson", `{"auths": {"ghcr.io": `+auth("ana", "a-pass")+`}}`))
	s.put(t, pulling("web", "ghcr.io/team/web:1", named("team")))
	if got := lent(t, watching(t, s, nil), "web"); len(got) != 0 || s.count("get ") != 0 {
		t.Errorf("%v, %d requests", got, s.count("get "))
	}
}

// TestPullSecretsAreNeverSaid: not in the log, of what is broken or denied neither, which names the rule.
func TestPullSecretsAreNeverSaid(t *testing.T) {
	s := newServer(t)
	s.put(t, secret("media", "team", "dockerconfigjson", `{"auths": {"ghcr.io": `+auth("ana", "hunter2")+`}}`))
	s.put(t, secret("media", "broken", "dockerconfigjson", `{"auths": {"ghcr.io": "hunter2"}}`))
	s.put(t, pulling("web", "ghcr.io/team/web:1", named("broken", "team")))
	w := watching(t, s, map[string]any{"pullsecrets": true})
	if got := lent(t, w, "web"); len(got) != 1 {
		t.Errorf("%v", got)
	}
	s.refuse("get", "/api/v1/secrets", http.StatusForbidden, `secrets "team" is forbidden: User "system:serviceaccount:tools:dogwatch" cannot get resource "secrets"`)
	s.refuse("get", "/api/v1/serviceaccounts", http.StatusForbidden, `serviceaccounts "default" is forbidden: User "system:serviceaccount:tools:dogwatch" cannot get resource`)
	for range 2 {
		if got := lent(t, w, "web"); len(got) != 0 {
			t.Errorf("%v", got)
		}
	}
	said := w.Log.String()
	for _, want := range []string{
		"media/broken: it is no secret of the type kubernetes.io/dockerconfigjson", "system:serviceaccount:tools:dogwatch may not get secrets in namespace media",
		`{apiGroups: [\"\"], resources: [secrets], verbs: [get]}`,
	} {
		if strings.Count(said, want) != 1 {
			t.Errorf("it does not say once %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "hunter2") || strings.Contains(said, base64.StdEncoding.EncodeToString([]byte("ana:hunter2"))) {
		t.Errorf("a password is in the log:\n%s", said)
	}
	probed, err := w.Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || len(probed.Warnings) != 1 || !strings.Contains(probed.Warnings[0], `a ClusterRole that is bound to it: {apiGroups: [""], resources: [secrets, serviceaccounts], verbs: [get]}`) {
		t.Errorf("%q %v", probed.Warnings, err)
	}
}
