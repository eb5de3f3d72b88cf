package docker_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watchertest"
)

func TestConformance(t *testing.T) {
	watchertest.Run(t, docker.Type(), watchertest.Case{
		Working: func(t *testing.T) watchertest.Engine {
			e := enginesim.New(enginesim.Config{})
			if err := e.Populate(3, func(i int) string { return fmt.Sprintf("ghcr.io/a/b:1.%d", i) }); err != nil {
				t.Fatal(err)
			}
			return watchertest.Engine{
				Options:    map[string]any{"socket": listen(t, e), "logs": true},
				Containers: 3,
				Change: func() {
					if e.AwaitStreams(t.Context(), 1) != nil {
						return
					}
					if err := e.Rename("c0000", "renamed"); err != nil {
						t.Error(err)
					}
				},
			}
		},
		Hanging: func(t *testing.T, reached func()) map[string]any {
			return map[string]any{"host": plugintest.Hanging(t, reached)}
		},
		Failing: []watchertest.Failure{
			{Name: "unreachable", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return map[string]any{"host": plugintest.Unreachable(t)}
			}},
			{Name: "no socket", Kind: sdk.ErrUnavailable, Options: func(*testing.T) map[string]any {
				return map[string]any{"socket": "/none/docker.sock"}
			}},
			{Name: "forbidden", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				return map[string]any{"host": plugintest.Responding(t, http.StatusForbidden)}
			}},
			{Name: "failing", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				e := enginesim.New(enginesim.Config{})
				e.Fail(enginesim.ListContainers, enginesim.Fault{Status: http.StatusInternalServerError})
				return map[string]any{"socket": listen(t, e)}
			}},
		},
		Invalid: []watchertest.Invalid{
			{Field: "socket", Set: map[string]any{"socket": "ssh://engine"}},
			{Field: "host", Set: map[string]any{"host": "https://user:password@engine"}},
			{Field: "port", Set: map[string]any{"host": "engine", "port": 70000}},
			{Field: "cafile", Set: map[string]any{"host": "engine", "cafile": "/none/ca.pem"}},
			{Field: "keyfile", Set: map[string]any{"host": "engine", "certfile": "/none/cert.pem"}},
		},
	})
}

// listen serves an engine on a socket whose path is short enough.
func listen(t *testing.T, e *enginesim.Engine) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return s.Address
}
