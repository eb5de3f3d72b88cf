package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

type fake struct {
	watchers   []Watcher
	registries []Registry
	triggers   []Component
	bundles    []plugin.Status
	load       func(context.Context) error
	serving    func() (address, version string, err error)
}

func (f *fake) Load(ctx context.Context) error {
	if f.load == nil {
		return nil
	}
	return f.load(ctx)
}
func (f *fake) Watchers() []Watcher                              { return f.watchers }
func (f *fake) Registries() []Registry                           { return f.registries }
func (f *fake) Triggers() []Component                            { return f.triggers }
func (f *fake) Plugins(context.Context) ([]plugin.Status, error) { return f.bundles, nil }
func (f *fake) Serving(context.Context) (string, string, error)  { return f.serving() }
func (f *fake) RegistryOf(host string) (id, url string, known bool) {
	switch host {
	case "docker.io":
		return "registry.hub.public", "https://registry-1.docker.io/v2", true
	case "ghcr.io":
		return "registry.ghcr.private", "https://ghcr.io/v2", true
	}
	return "", "", false
}

// respond is a network that responds to every request.
type respond func(*http.Request) (*http.Response, error)

func (r respond) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

func dated(at time.Time) respond {
	return func(r *http.Request) (*http.Response, error) {
		if r.UserAgent() != "dogwatch/1.0" {
			return nil, fmt.Errorf("asked by %q", r.UserAgent())
		}
		return &http.Response{
			StatusCode: 401, Header: http.Header{"Date": {at.Format(http.TimeFormat)}}, Body: http.NoBody,
		}, nil
	}
}

// probed is a probe that succeeds.
func probed(summary string) func(context.Context) (sdk.ProbeResult, error) {
	return func(context.Context) (sdk.ProbeResult, error) { return sdk.ProbeResult{Summary: summary}, nil }
}

func container(name, host, repository string, labels map[string]string) sdk.Container {
	return sdk.Container{ID: name, Name: name, Status: "running", Labels: labels, Image: sdk.Image{
		Name: repository, Tag: sdk.Tag{Value: "1.0"}, Registry: sdk.Registry{Host: host},
		Digest: sdk.Digest{Repo: "sha256:00"}}}
}

// healthy is an installation with one of everything, and the options to examine it.
func healthy(t *testing.T) (*fake, Options) {
	t.Helper()
	web, app := container("web", "", "nginx", map[string]string{"dogwatch.trigger.include": "ntfy.phone"}),
		container("app", "ghcr.io", "me/app", nil)
	fine := func(context.Context, string, string, string) error { return nil }
	f := &fake{
		watchers: []Watcher{{Component: Component{
			ID: "watcher.docker.local", Default: true, Probe: probed("Docker/28.5.1 (linux), API 1.51"),
		}, Name: "local",
			List: func(context.Context) ([]sdk.Container, error) { return []sdk.Container{web, app}, nil },
		}},
		registries: []Registry{
			{Component: Component{ID: "registry.hub.public", Default: true}, Resolve: fine,
				Limits: func(context.Context) []registry.Limit {
					return []registry.Limit{{Host: "registry-1.docker.io", Limit: 100, Remaining: 62, Window: 6 * time.Hour}}
				}},
			{
				Component: Component{ID: "registry.ghcr.private", Probe: probed("it answers")}, Resolve: fine,
				Limits: func(context.Context) []registry.Limit { return nil },
			},
			{Component: Component{ID: "registry.quay.public", Default: true}},
		},
		triggers: []Component{{ID: "trigger.ntfy.phone"}},
		bundles:  []plugin.Status{{Name: "watcher", Builtin: true, State: plugin.Running}},
		serving:  func() (string, string, error) { return "", "", ErrNotServing },
	}
	dir := t.TempDir()
	cfg := &config.Config{Components: make([]config.Component, 2)}
	cfg.Server.Enabled, cfg.Server.Port = true, 3000
	cfg.Store.Path, cfg.Store.File, cfg.Plugins.Dir = dir, "dogwatch.db", filepath.Join(dir, "plugins")
	return f, Options{
		Config: cfg, Installation: f, Version: "1.0", Logins: []string{"basic.ana"}, Limit: 5 * time.Second,
		Now:       func() time.Time { return noon },
		Lookup:    func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil },
		Transport: dated(noon), Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
		Free: func(string) (uint64, error) { return 3 << 30, nil },
	}
}

// text writes findings one per line, without the folder of the test.
func text(found []Finding, dir string) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s %s: %s", f.Level, f.Subject, f.Detail)
		if f.Remedy != "" {
			b.WriteString(" > " + f.Remedy)
		}
		b.WriteString("\n")
	}
	return strings.ReplaceAll(b.String(), dir, "DIR")
}
