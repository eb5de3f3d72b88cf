package nomad_test

import (
	"net/http"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/nomad"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/nomadtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watchertest"
)

const token = "4d1bf8c6-secret-3a2e-b2d1-1c9d6f6a9a11"

func options(url string) map[string]any { return map[string]any{"url": url, "token": token} }

func TestConformance(t *testing.T) {
	failing := func(name string, kind error, server func(t *testing.T) string) watchertest.Failure {
		return watchertest.Failure{Name: name, Kind: kind, Options: func(t *testing.T) map[string]any {
			return options(server(t))
		}}
	}
	responding := func(status int) func(t *testing.T) string {
		return func(t *testing.T) string { return plugintest.Responding(t, status) }
	}
	watchertest.Run(t, nomad.Type(), watchertest.Case{
		Working: func(t *testing.T) watchertest.Engine {
			s := nomadtest.New(t)
			s.Put(t, job("default", "web", "nginx:1.27.0"))
			s.Put(t, job("default", "two", "nginx:1.27.0"))
			return watchertest.Engine{Options: options(s.URL), Containers: 2, Change: func() {
				s.AwaitStreams(t, 1)
				s.Put(t, job("default", "web", "nginx:1.28.0"))
			}}
		},
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: []watchertest.Failure{
			failing("unreachable", sdk.ErrUnavailable, func(t *testing.T) string { return plugintest.Unreachable(t) }),
			failing("forbidden", sdk.ErrUnauthorized, responding(http.StatusForbidden)),
			failing("failing", sdk.ErrUnavailable, responding(http.StatusInternalServerError)),
			failing("no Nomad", sdk.ErrNotFound, responding(http.StatusNotFound)),
			failing("no list", sdk.ErrUnavailable, responding(http.StatusOK)),
			failing("token that repeats", sdk.ErrUnauthorized, func(t *testing.T) string {
				s := nomadtest.New(t)
				s.Deny("/v1/jobs", "the token "+token+" is denied")
				return s.URL
			}),
		},
		Invalid: []watchertest.Invalid{
			{Field: "namespaces", Set: map[string]any{"namespaces": "media,a/b"}},
			{Field: "namespaces", Set: map[string]any{"namespaces": "media,*"}},
			{Field: "url", Set: map[string]any{"url": "ftp://10.0.0.1"}},
			{Field: "url", Set: map[string]any{"url": "http://user:password@10.0.0.1"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "/none"}},
		},
	})
}
