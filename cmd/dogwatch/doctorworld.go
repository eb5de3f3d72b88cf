package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/doctor"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// installation fits the components of a command to doctor.World.
type installation struct {
	once   *core.Once
	config *config.Config
}

func (i installation) Load(ctx context.Context) error { return i.once.Load(ctx) }

func (i installation) Plugins(ctx context.Context) ([]plugin.Status, error) {
	return i.once.Plugins(ctx)
}

func (i installation) RegistryOf(host string) (id, url string, served bool) {
	c, url, served := i.once.RegistryFor(host)
	if !served {
		return "", "", false
	}
	return c.FullID(), url, true
}

func (i installation) Serving(ctx context.Context) (address, version string, err error) {
	d, err := daemonOf(i.config.Server)
	if err != nil {
		return "", "", doctor.ErrNotServing
	}
	var app struct{ Name, Version string }
	err = d.call(ctx, http.MethodGet, "/api/app", &app)
	switch {
	case errors.Is(err, errNoDaemon):
		return "", "", doctor.ErrNotServing
	case err != nil:
		return "", "", err
	case app.Name != "dogwatch":
		return "", "", fmt.Errorf("what answers at %s is not Dogwatch", d.base)
	}
	return d.base, app.Version, nil
}

func (i installation) Watchers() []doctor.Watcher {
	var all []doctor.Watcher
	for _, c := range i.once.Components(kind.Watcher) {
		w := doctor.Watcher{Component: i.component(c), Name: c.Name, Options: c.Options, List: c.List}
		if c.Type == docker.Type().Name {
			w.About = aboutDocker(c)
		}
		all = append(all, w)
	}
	return all
}

// aboutDocker asks an engine who it is. Plugins are not asked such a thing by
// the host, and a command may connect by itself.
func aboutDocker(c *component.Component) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		o, err := option.Decode[docker.Options](c.Options)
		if err != nil {
			return "", err
		}
		d, err := docker.New(sdk.Env{Name: c.Name, Log: hclog.NewNullLogger(), UserAgent: "dogwatch/" + version, Warn: func(string) {}}, o)
		if err != nil {
			return "", err
		}
		defer d.Close()
		return d.About(ctx)
	}
}

func (i installation) Registries() []doctor.Registry {
	var all []doctor.Registry
	for _, c := range i.once.Components(kind.Registry) {
		all = append(all, doctor.Registry{
			Component: i.component(c),
			Ask: func(ctx context.Context, host, repository, tag string) error {
				_, err := c.Resolve(ctx, registry.Repository{Host: host, Name: repository, Together: []string{repository}}, tag)
				return err
			},
			Try: func(ctx context.Context) (string, error) {
				tested, err := i.once.Test(ctx, c, "")
				return tested.Response, err
			},
			Limits: func(ctx context.Context) []registry.Limit { return component.Limits(ctx, []*component.Component{c})[0] },
		})
	}
	return all
}

func (i installation) Triggers() []doctor.Component {
	var all []doctor.Component
	for _, c := range i.once.Components(kind.Trigger) {
		all = append(all, i.component(c))
	}
	return all
}

// component tells how the configuration of a component went.
func (i installation) component(c *component.Component) doctor.Component {
	state, err := c.State()
	switch state {
	case component.Pending:
		err = errors.New("its plugin has not answered")
	case component.Unsupported:
		err = nil // of which a warning tells
	}
	told := doctor.Component{ID: c.FullID(), Default: c.Default, Err: err, Warnings: slices.Clone(c.View().Warnings)}
	for _, p := range i.once.Problems() {
		of := p.Key == told.ID || strings.HasPrefix(p.Key, told.ID+".")
		if of && p.Level == config.Warning && !slices.Contains(told.Warnings, p.String()) {
			told.Warnings = append(told.Warnings, p.String())
		}
	}
	return told
}
