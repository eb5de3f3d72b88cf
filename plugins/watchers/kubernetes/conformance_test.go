package kubernetes_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watchertest"
)

func responding(status int) func(t *testing.T) string {
	return func(t *testing.T) string { return plugintest.Responding(t, status) }
}

func TestConformance(t *testing.T) {
	failing := func(name string, kind error, server func(t *testing.T) string) watchertest.Failure {
		return watchertest.Failure{Name: name, Kind: kind, Options: func(t *testing.T) map[string]any {
			return map[string]any{"server": server(t)}
		}}
	}
	watchertest.Run(t, kubernetes.Type(), watchertest.Case{
		Working: func(t *testing.T) watchertest.Engine {
			s := newServer(t)
			s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27.0"))
			s.put(t, deployment("media", "two", `"replicas": 1`, "nginx:1.27.0"))
			s.put(t, pod("media", "web-abc-1", "ReplicaSet/web-abc", "nginx:1.27.0", ""))
			return watchertest.Engine{
				Options: map[string]any{"server": s.URL}, Containers: 2,
				Change: func() {
					s.awaitStreams(t, 5)
					s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.28.0"))
				},
			}
		},
		Hanging: func(t *testing.T, reached func()) map[string]any {
			return map[string]any{"server": plugintest.Hanging(t, reached)}
		},
		Failing: []watchertest.Failure{
			failing("unreachable", sdk.ErrUnavailable, func(t *testing.T) string { return plugintest.Unreachable(t) }),
			failing("forbidden", sdk.ErrUnauthorized, responding(http.StatusForbidden)),
			failing("no login", sdk.ErrUnauthorized, responding(http.StatusUnauthorized)),
			failing("failing", sdk.ErrUnavailable, responding(http.StatusInternalServerError)),
			failing("no Kubernetes", sdk.ErrNotFound, responding(http.StatusNotFound)),
			failing("no list", sdk.ErrUnavailable, responding(http.StatusOK)),
		},
		Invalid: []watchertest.Invalid{
			{Field: "namespaces", Set: map[string]any{"namespaces": "media,Web"}},
			{Field: "exclude", Set: map[string]any{"exclude": "a/b"}},
			{Field: "exclude", Set: map[string]any{"namespaces": "media", "exclude": "media"}},
			{Field: "kubeconfig", Set: map[string]any{"kubeconfig": "config"}},
			{Field: "kubeconfig", Set: map[string]any{"kubeconfig": filepath.Join(t.TempDir(), "none")}},
			{Field: "kubeconfig", Set: map[string]any{"server": "https://10.0.0.1", "account": t.TempDir()}},
			{Field: "context", Set: map[string]any{"context": "home"}},
			{Field: "server", Set: map[string]any{"server": "http://user:password@10.0.0.1"}},
		},
	})
}
