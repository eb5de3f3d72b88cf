package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/app/doctor"
	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// subject presents the components of a command to doctor, which examines them.
type subject struct {
	instance *oneshot.Instance
	config   *config.Config
}

func (s subject) Load(ctx context.Context) error { return s.instance.Load(ctx) }

func (s subject) Plugins(ctx context.Context) ([]plugin.Status, error) {
	return s.instance.Plugins(ctx, false)
}

func (s subject) RegistryOf(host string) (id, url string, served bool) {
	c, url, served := s.instance.RegistryFor(host)
	if !served {
		return "", "", false
	}
	return c.FullID(), url, true
}

func (s subject) Serving(ctx context.Context) (address, version string, err error) {
	c, err := newClient(s.config.Server)
	if err != nil {
		return "", "", doctor.ErrNotServing
	}
	var app struct{ Name, Version string }
	err = c.call(ctx, http.MethodGet, "/api/app", &app)
	switch {
	case errors.Is(err, errNotServing):
		return "", "", doctor.ErrNotServing
	case err != nil:
		return "", "", err
	case app.Name != "dogwatch":
		return "", "", fmt.Errorf("what answers at %s is not Dogwatch", c.base)
	}
	return c.base, app.Version, nil
}

func (s subject) Watchers() []doctor.Watcher {
	var all []doctor.Watcher
	for _, c := range s.instance.Watchers() {
		w := doctor.Watcher{
			Component: s.component(&c.Component), Name: c.Name, Options: c.Options, List: c.List,
			MixesLabels: !c.Can(kind.CapLabels),
		}
		if c.Can(kind.CapProbe) {
			w.Probe = c.Probe
		}
		w.MayUpdate, w.Updates = c.Updates()
		all = append(all, w)
	}
	return all
}

func (s subject) Registries() []doctor.Registry {
	var all []doctor.Registry
	for _, c := range s.instance.Registries() {
		examined := s.component(&c.Component)
		examined.Probe = func(ctx context.Context) (sdk.ProbeResult, error) {
			tested, err := s.instance.Test(ctx, &c.Component, "")
			return sdk.ProbeResult{Summary: tested.Response}, err
		}
		all = append(all, doctor.Registry{
			Component: examined,
			Resolve: func(ctx context.Context, host, repository, tag string) error {
				_, err := c.Resolve(ctx, registry.Repository{Host: host, Name: repository, ScopeHints: []string{repository}}, tag)
				return err
			},
			Limits: c.RateLimits,
		})
	}
	return all
}

func (s subject) Triggers() []doctor.Component {
	var all []doctor.Component
	for _, c := range s.instance.Triggers() {
		t := s.component(&c.Component)
		if c.Can(kind.CapProbe) {
			t.Probe = c.Probe
		}
		all = append(all, t)
	}
	return all
}

// component returns how the configuration of a component went.
func (s subject) component(c *component.Component) doctor.Component {
	state, err := c.State()
	if state == component.Pending {
		err = errors.New("its plugin has not answered")
	}
	examined := doctor.Component{ID: c.FullID(), Default: c.Default, Err: err, Warnings: slices.Clone(c.View().Warnings)}
	for _, p := range s.instance.Problems() {
		concerns := p.Key == examined.ID || strings.HasPrefix(p.Key, examined.ID+".")
		// An error keeps it from working, but for a reference, which keeps a part of it from that.
		if concerns && (p.Level == config.Warning || err == nil) && !slices.Contains(examined.Warnings, p.String()) {
			examined.Warnings = append(examined.Warnings, p.String())
		}
	}
	return examined
}
